#include "groth16/setup.h"

#include <nlohmann/json.hpp>

#include "field/text.h"
#include "hash/blake2.h"
#include "msm/fixed_base.h"
#include "r1cs/bitmap.h"

namespace cuzk::groth16 {
namespace {

constexpr size_t kPiece = size_t{1} << 18;  // points made and written at a time: 25 MB in G1
constexpr size_t kGrain = 4096;             // field elements a task

struct NamedSecret {
  const char* name;
  Fr Toxic::*member;
};
constexpr NamedSecret kSecrets[] = {{"alpha", &Toxic::alpha},
                                    {"beta", &Toxic::beta},
                                    {"gamma", &Toxic::gamma},
                                    {"delta", &Toxic::delta},
                                    {"tau", &Toxic::tau}};

Fr power_of_two_power(Fr x, unsigned log2_exponent) {
  for (unsigned i = 0; i < log2_exponent; i++) x = x.square();
  return x;
}

Status check_tau(const Fr& tau, unsigned log2_size) {
  if (power_of_two_power(tau, log2_size) != Fr::one()) return {};
  return fail(Code::kInvalidInput, "tau is a point of the domain: take another seed");
}

// The inverses of all elements, none zero (Montgomery's trick).
void invert_all(std::span<Fr> x) {
  std::vector<Fr> prefix(x.size());
  Fr product = Fr::one();
  for (size_t i = 0; i < x.size(); i++) prefix[i] = product, product *= x[i];
  Fr inverse = product.inverse();
  for (size_t i = x.size(); i-- > 0;) {
    Fr value = inverse * prefix[i];
    inverse *= x[i];
    x[i] = value;
  }
}

// L_q(tau) = w^q (tau^m - 1) / (m (tau - w^q)) for the first `rows` points of the domain.
std::vector<Fr> lagrange_at(const Fr& tau, unsigned log2_size, size_t rows, exec::Pool& pool) {
  const Fr root = fr_root_of_unity(log2_size);
  const Fr scale = (power_of_two_power(tau, log2_size) - Fr::one()) * Fr::from_u64(uint64_t{1} << log2_size).inverse();
  std::vector<Fr> values(rows);
  pool.for_each_chunk(rows, kGrain, [&](size_t begin, size_t end) {
    std::vector<Fr> powers(end - begin);
    Fr power = root.pow(begin);
    for (size_t q = begin; q < end; q++, power *= root) {
      powers[q - begin] = power;
      values[q] = tau - power;
    }
    invert_all(std::span(values).subspan(begin, end - begin));
    for (size_t q = begin; q < end; q++) values[q] *= powers[q - begin] * scale;
  });
  return values;
}

// Leaves of `values` (inputs, then auxiliary variables) those that occur.
void keep_occurring(std::vector<Fr>& values, const r1cs::Circuit& circuit, std::span<const uint64_t> inputs,
                    std::span<const uint64_t> aux) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); i++) {
    bool occurs = i < circuit.num_inputs ? r1cs::test_bit(inputs, i) : r1cs::test_bit(aux, i - circuit.num_inputs);
    if (occurs) values[kept++] = values[i];
  }
  values.resize(kept);
}

// Makes and writes one section after another.
class SectionMaker {
 public:
  SectionMaker(ParamsWriter& writer, exec::Pool& pool, const Progress& progress, uint64_t total)
      : writer_(writer), pool_(pool), progress_(progress), total_(total) {}

  // Writes `count` points scalar(i) * base; fill(begin, scalars) computes a run of scalars, none of which may be zero.
  template <class F, class Fill>
  Status section(std::string_view name, const msm::FixedBase<F>& base, uint64_t count, Fill&& fill) {
    CUZK_TRY(writer_.begin_section(count));
    std::vector<Fr> scalars;
    std::vector<Affine<F>> points;
    for (uint64_t begin = 0; begin < count; begin += kPiece) {
      size_t n = static_cast<size_t>(std::min<uint64_t>(kPiece, count - begin));
      scalars.resize(n);
      points.resize(n);
      pool_.for_each_chunk(n, kGrain,
                           [&](size_t b, size_t e) { fill(begin + b, std::span(scalars).subspan(b, e - b)); });
      for (size_t i = 0; i < n; i++) {
        if (scalars[i].is_zero())
          return fail(Code::kInvalidInput, "{}[{}] would be infinity: its variable is in no row", name, begin + i);
      }
      base.mul(scalars, points, pool_);
      CUZK_TRY(writer_.points(std::span<const Affine<F>>(points), pool_));
      done_ += n;
      if (progress_) progress_(done_, total_);
    }
    return {};
  }
  template <class F>
  Status section(std::string_view name, const msm::FixedBase<F>& base, std::span<const Fr> scalars) {
    return section(name, base, scalars.size(), [&](uint64_t begin, std::span<Fr> out) {
      std::copy_n(scalars.begin() + static_cast<ptrdiff_t>(begin), out.size(), out.begin());
    });
  }

 private:
  ParamsWriter& writer_;
  exec::Pool& pool_;
  const Progress& progress_;
  uint64_t total_, done_ = 0;
};

VerifyingKey make_vk(const r1cs::Circuit& circuit, const QapValues& qap, const Toxic& toxic,
                     const msm::FixedBase<Fp>& g1, const msm::FixedBase<Fp2>& g2, exec::Pool& pool) {
  const Fr gamma_inverse = toxic.gamma.inverse();
  std::vector<Fr> scalars = {toxic.alpha, toxic.beta, toxic.delta};
  for (size_t i = 0; i < circuit.num_inputs; i++) {
    scalars.push_back((toxic.beta * qap.a[i] + toxic.alpha * qap.b[i] + qap.c[i]) * gamma_inverse);
  }
  std::vector<G1Affine> p(scalars.size());
  g1.mul(scalars, p, pool);
  std::array<G2Affine, 3> q;
  g2.mul(std::array{toxic.beta, toxic.gamma, toxic.delta}, q, pool);
  return vk_of(p, q);
}

}  // namespace

VerifyingKey vk_of(std::span<const G1Affine> p, std::span<const G2Affine, 3> q) {
  return {.alpha_g1 = p[0],
          .beta_g1 = p[1],
          .beta_g2 = q[0],
          .gamma_g2 = q[1],
          .delta_g1 = p[2],
          .delta_g2 = q[2],
          .ic = {p.begin() + 3, p.end()}};
}

Toxic toxic_from_seed(uint64_t seed) {
  Toxic toxic;
  for (const NamedSecret& secret : kSecrets) {
    const std::string label = fmt::format("refgen/{}/{}", secret.name, seed);
    const hash::Bytes64 digest = hash::sha512(as_bytes(label));
    std::array<uint64_t, 8> wide;
    for (size_t i = 0; i < wide.size(); i++) wide[i] = load_le<uint64_t>(digest.data() + 8 * i);
    toxic.*secret.member = Fr::from_wide(wide);
  }
  return toxic;
}

Status check_secrets(const Toxic& toxic, unsigned log2_size) {
  for (const NamedSecret& secret : kSecrets) {
    if ((toxic.*secret.member).is_zero()) return fail(Code::kInvalidInput, "secret '{}' is zero", secret.name);
  }
  return check_tau(toxic.tau, log2_size);
}

Result<Toxic> toxic_from_json(std::string_view text) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("toxic")) json = nlohmann::json(json["toxic"]);
  if (!json.is_object()) return fail(Code::kInvalidInput, "the secrets are not a JSON object");
  Toxic toxic;
  for (const NamedSecret& secret : kSecrets) {
    auto value = json.find(secret.name);
    if (value == json.end() || !value->is_string())
      return fail(Code::kInvalidInput, "secret '{}' is missing or no string", secret.name);
    auto element = fr_from_hex(value->get<std::string>());
    if (!element) return tl::unexpected(std::move(element).error().within(fmt::format("secret '{}'", secret.name)));
    toxic.*secret.member = *element;
  }
  return toxic;
}

Result<QapValues> qap_at(const r1cs::Circuit& circuit, const Fr& tau, exec::Pool& pool) {
  const unsigned log2_size = r1cs::log2_domain(circuit);
  const uint64_t rows = uint64_t{circuit.num_constraints} + circuit.num_inputs,
                 variables = uint64_t{circuit.num_inputs} + circuit.num_aux;
  CUZK_TRY(check_tau(tau, log2_size));
  std::vector<Fr> lagrange = lagrange_at(tau, log2_size, rows, pool);

  QapValues out{std::vector<Fr>(variables), std::vector<Fr>(variables), std::vector<Fr>(variables)};
  auto add = [&](std::vector<Fr>& sums, const std::vector<r1cs::Term>& terms, const Fr& l) {
    for (const r1cs::Term& term : terms) {
      sums[term.var.is_aux() ? circuit.num_inputs + term.var.index() : term.var.index()] += term.coefficient * l;
    }
  };
  circuit.for_each_row(0, circuit.num_constraints, [&](uint32_t q, const r1cs::Row& row) {
    add(out.a, row.a, lagrange[q]);
    add(out.b, row.b, lagrange[q]);
    add(out.c, row.c, lagrange[q]);
  });
  // The appended rows (input i) * (0) = (0).
  for (size_t i = 0; i < circuit.num_inputs; i++) out.a[i] += lagrange[circuit.num_constraints + i];
  return out;
}

Result<VerifyingKey> setup(const r1cs::Circuit& circuit, const Toxic& toxic, const std::filesystem::path& params,
                           exec::Pool& pool, const Progress& progress) {
  CUZK_TRY(check_secrets(toxic, r1cs::log2_domain(circuit)));
  CUZK_TRY_ASSIGN(QapValues qap, qap_at(circuit, toxic.tau, pool));
  const Lengths lengths = lengths_of(circuit);
  const msm::FixedBase<Fp> g1(G1::from_affine(g1_generator()),
                              msm::fixed_base_window_bits(lengths.h + lengths.l + lengths.a + lengths.b_g1), pool);
  const msm::FixedBase<Fp2> g2(G2::from_affine(g2_generator()), msm::fixed_base_window_bits(lengths.b_g2), pool);
  const Fr delta_inverse = toxic.delta.inverse();

  CUZK_TRY_ASSIGN(ParamsWriter writer, ParamsWriter::create(params));
  VerifyingKey vk = make_vk(circuit, qap, toxic, g1, g2, pool);
  CUZK_TRY(writer.vk(vk));
  SectionMaker maker(writer, pool, progress, lengths.h + lengths.l + lengths.a + lengths.b_g1 + lengths.b_g2);

  // h[k] = tau^k (tau^m - 1) / delta
  const Fr vanishing = power_of_two_power(toxic.tau, r1cs::log2_domain(circuit)) - Fr::one();
  CUZK_TRY(maker.section("h", g1, lengths.h, [&](uint64_t begin, std::span<Fr> out) {
    Fr value = toxic.tau.pow(begin) * vanishing * delta_inverse;
    for (Fr& scalar : out) scalar = value, value *= toxic.tau;
  }));
  // l[j] = (beta A_j + alpha B_j + C_j) / delta
  CUZK_TRY(maker.section("l", g1, lengths.l, [&](uint64_t begin, std::span<Fr> out) {
    size_t i = circuit.num_inputs + begin;
    for (Fr& scalar : out) scalar = (toxic.beta * qap.a[i] + toxic.alpha * qap.b[i] + qap.c[i]) * delta_inverse, i++;
  }));
  qap.c = {};
  const std::vector<uint64_t> all_inputs((circuit.num_inputs + 63) / 64, ~uint64_t{0});  // by the appended rows
  keep_occurring(qap.a, circuit, all_inputs, circuit.density.a_aux);
  CUZK_TRY(maker.section("a", g1, qap.a));
  keep_occurring(qap.b, circuit, circuit.density.b_inputs, circuit.density.b_aux);
  CUZK_TRY(maker.section("b_g1", g1, qap.b));
  CUZK_TRY(maker.section("b_g2", g2, qap.b));
  CUZK_TRY(writer.commit());
  return vk;
}

}  // namespace cuzk::groth16
