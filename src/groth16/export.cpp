#include "groth16/export.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cuzk::groth16 {
namespace {

using nlohmann::json;

template <class Field>
std::string decimal(const Field& value) {
  constexpr uint64_t kChunk = 10'000'000'000'000'000'000u;  // 19 digits at a time
  auto limbs = value.canonical();
  std::string out;
  while (std::any_of(limbs.begin(), limbs.end(), [](uint64_t limb) { return limb != 0; })) {
    uint128_t remainder = 0;
    for (size_t i = limbs.size(); i-- > 0;) {
      uint128_t part = remainder << 64 | limbs[i];
      limbs[i] = static_cast<uint64_t>(part / kChunk);
      remainder = part % kChunk;
    }
    out.insert(0, fmt::format("{:019}", static_cast<uint64_t>(remainder)));
  }
  size_t first = out.find_first_not_of('0');
  return first == std::string::npos ? "0" : out.substr(first);
}

json point(const G1Affine& p) { return json::array({decimal(p.x), decimal(p.y), "1"}); }
json pair(const Fp2& x) { return json::array({decimal(x.c0), decimal(x.c1)}); }
json point(const G2Affine& p) { return json::array({pair(p.x), pair(p.y), json::array({"1", "0"})}); }

}  // namespace

std::string snarkjs_vk(const VerifyingKey& vk) {
  json ic = json::array();
  for (const G1Affine& p : vk.ic) ic.push_back(point(p));
  return json{{"protocol", "groth16"},
              {"curve", "bls12381"},
              {"nPublic", vk.ic.size() - 1},
              {"vk_alpha_1", point(vk.alpha_g1)},
              {"vk_beta_2", point(vk.beta_g2)},
              {"vk_gamma_2", point(vk.gamma_g2)},
              {"vk_delta_2", point(vk.delta_g2)},
              {"IC", ic}}
      .dump(1);
}

std::string snarkjs_proof(const Proof& proof) {
  return json{{"protocol", "groth16"},
              {"curve", "bls12381"},
              {"pi_a", point(proof.a)},
              {"pi_b", point(proof.b)},
              {"pi_c", point(proof.c)}}
      .dump(1);
}

std::string snarkjs_public(std::span<const Fr> public_inputs) {
  json out = json::array();
  for (const Fr& input : public_inputs) out.push_back(decimal(input));
  return out.dump(1);
}

}  // namespace cuzk::groth16
