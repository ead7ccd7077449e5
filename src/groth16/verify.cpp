#include "groth16/verify.h"

#include "curve/encoding.h"
#include "groth16/query.h"
#include "groth16/random.h"

namespace cuzk::groth16 {
namespace {

template <class Point>
Status require(const Result<Point>& point, std::string_view name) {
  if (!point) return fail(Code::kInvalidInput, "{}: {}", name, point.error().message);
  if (point->is_infinity()) return fail(Code::kInvalidInput, "{} is infinity", name);
  if (!in_subgroup(*point)) return fail(Code::kInvalidInput, "{} is outside the subgroup", name);
  return {};
}

Result<Proof> decode_points(std::span<const uint8_t, kProofBytes> bytes) {
  auto a = g1_from_compressed(bytes.subspan<0, 48>());
  auto b = g2_from_compressed(bytes.subspan<48, 96>());
  auto c = g1_from_compressed(bytes.subspan<144, 48>());
  CUZK_TRY(require(a, "A"));
  CUZK_TRY(require(b, "B"));
  CUZK_TRY(require(c, "C"));
  return Proof{*a, *b, *c};
}

Status expect_inputs(const PreparedVerifyingKey& key, size_t given) {
  if (given + 1 == key.vk.ic.size()) return {};
  return fail(Code::kInvalidInput, "{} public inputs given, the verifying key takes {}", given, key.vk.ic.size() - 1);
}

Result<Fr> random_128_bits() {
  std::array<uint64_t, 2> limbs;
  CUZK_TRY(random_bytes({reinterpret_cast<uint8_t*>(limbs.data()), sizeof(limbs)}));
  return Fr::from_wide(limbs);
}

}  // namespace

std::array<uint8_t, kProofBytes> encode_proof(const Proof& proof) {
  std::array<uint8_t, kProofBytes> out;
  std::span<uint8_t, kProofBytes> bytes(out);
  to_compressed(proof.a, bytes.subspan<0, 48>());
  to_compressed(proof.b, bytes.subspan<48, 96>());
  to_compressed(proof.c, bytes.subspan<144, 48>());
  return out;
}

Result<Proof> decode_proof(ByteSpan bytes) {
  if (bytes.size() != kProofBytes)
    return fail(Code::kInvalidInput, "a proof is {} bytes, not {}", kProofBytes, bytes.size());
  return decode_points(bytes.first<kProofBytes>());
}

Result<std::vector<Proof>> decode_proofs(ByteSpan bytes) {
  if (bytes.empty() || bytes.size() % kProofBytes != 0) {
    return fail(Code::kInvalidInput, "proofs are a multiple of {} bytes, not {}", kProofBytes, bytes.size());
  }
  std::vector<Proof> out(bytes.size() / kProofBytes);
  for (size_t i = 0; i < out.size(); i++) {
    auto proof = decode_points(bytes.subspan(i * kProofBytes).first<kProofBytes>());
    if (!proof) return tl::unexpected(std::move(proof.error()).within(fmt::format("proof {}", i)));
    out[i] = *proof;
  }
  return out;
}

PreparedVerifyingKey prepare(VerifyingKey vk) {
  Fp12 alpha_beta = pairing(vk.alpha_g1, vk.beta_g2);
  return {std::move(vk), alpha_beta};
}

uint64_t verify_bytes(size_t public_inputs, size_t threads) { return parts_workspace_bytes(public_inputs, 1, threads); }

Result<bool> verify(const PreparedVerifyingKey& key, std::span<const Fr> public_inputs, const Proof& proof,
                    exec::Pool& pool) {
  std::vector<std::byte> workspace(verify_bytes(public_inputs.size(), pool.threads()));
  return verify(key, public_inputs, proof, workspace, pool);
}

Result<bool> verify(const PreparedVerifyingKey& key, std::span<const Fr> public_inputs, const Proof& proof,
                    std::span<std::byte> workspace, exec::Pool& pool) {
  CUZK_TRY(expect_inputs(key, public_inputs.size()));
  CUZK_TRY_ASSIGN(G1 inputs, sum_in_parts(public_inputs, std::span(key.vk.ic).subspan(1), 1, workspace, pool));
  inputs += key.vk.ic[0];
  std::array<std::pair<G1Affine, G2Affine>, 3> pairs = {
      {{proof.a, proof.b}, {(-inputs).to_affine(), key.vk.gamma_g2}, {-proof.c, key.vk.delta_g2}}};
  return final_exponentiation(miller_loop(pairs)) == key.alpha_beta;
}

// prod e(z_j A_j, -B_j) * e(sum z_j C_j, delta) * e((sum z_j) ic_0 + sum_i (sum_j z_j x_ji) ic_i, gamma)
//   * e((sum z_j) alpha, beta) = 1
Result<bool> verify_batch(const PreparedVerifyingKey& key, std::span<const std::vector<Fr>> public_inputs,
                          std::span<const Proof> proofs, exec::Pool& pool) {
  if (proofs.empty() || public_inputs.size() != proofs.size()) {
    return fail(Code::kInvalidInput, "{} proofs with inputs for {}", proofs.size(), public_inputs.size());
  }
  std::vector<Fr> input_weights(key.vk.ic.size());
  G1 c = G1::infinity();
  std::vector<std::pair<G1Affine, G2Affine>> pairs;
  for (size_t j = 0; j < proofs.size(); j++) {
    CUZK_TRY(expect_inputs(key, public_inputs[j].size()));
    CUZK_TRY_ASSIGN(const Fr z, random_128_bits());
    const Fr::Limbs canonical = z.canonical();
    const std::span<const uint64_t> limbs = std::span(canonical).first(2);
    input_weights[0] += z;
    for (size_t i = 0; i < public_inputs[j].size(); i++) input_weights[i + 1] += z * public_inputs[j][i];
    c += scalar_mul(G1::from_affine(proofs[j].c), limbs);
    pairs.emplace_back(scalar_mul(G1::from_affine(proofs[j].a), limbs).to_affine(), -proofs[j].b);
  }
  G1 alpha = scalar_mul(G1::from_affine(key.vk.alpha_g1), input_weights[0].canonical());
  std::vector<std::byte> workspace(verify_bytes(input_weights.size(), pool.threads()));
  CUZK_TRY_ASSIGN(G1 inputs, sum_in_parts(input_weights, key.vk.ic, 1, workspace, pool));
  pairs.emplace_back(c.to_affine(), key.vk.delta_g2);
  pairs.emplace_back(inputs.to_affine(), key.vk.gamma_g2);
  pairs.emplace_back(alpha.to_affine(), key.vk.beta_g2);
  return pairing_product_is_one(pairs);
}

}  // namespace cuzk::groth16
