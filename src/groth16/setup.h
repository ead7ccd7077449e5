#pragma once
// Development parameters from known secrets (Groth 2016, section 3.2, Setup). Whoever knows the secrets can prove
// anything, so such parameters are never for production.

#include <filesystem>
#include <string_view>

#include "exec/pool.h"
#include "groth16/files.h"
#include "groth16/keys.h"

namespace cuzk::groth16 {

// The secrets that a setup ought to forget.
struct Toxic {
  Fr alpha, beta, gamma, delta, tau;

  bool operator==(const Toxic&) const = default;
};

// SHA-512 of "refgen/alpha/SEED" (beta, gamma, delta, tau likewise) as a little-endian number mod r: the rule of the
// reference vectors.
Toxic toxic_from_seed(uint64_t seed);
// kInvalidInput where a secret is zero or tau is a point of a domain of 2^log2_size.
Status check_secrets(const Toxic& toxic, unsigned log2_size);
// A JSON object with the five names and big-endian hex values below r, or one that has such an object under "toxic".
Result<Toxic> toxic_from_json(std::string_view text);

// The verifying key of the points alpha, beta, delta, then ic, in G1, and beta, gamma, delta in G2.
VerifyingKey vk_of(std::span<const G1Affine> g1, std::span<const G2Affine, 3> g2);

// Values of the QAP polynomials A_i, B_i, C_i of every variable at tau, inputs first, then auxiliary variables.
struct QapValues {
  std::vector<Fr> a, b, c;
};
// kInvalidInput where tau is in the domain. Working memory: one more element a domain point.
Result<QapValues> qap_at(const r1cs::Circuit& circuit, const Fr& tau, exec::Pool& pool);

// Writes the parameter file and returns its verifying key. Beyond the QAP values, memory is constant: points are
// written as they are made. Progress counts points. kInvalidInput where a secret is zero or a variable is in no row.
Result<VerifyingKey> setup(const r1cs::Circuit& circuit, const Toxic& toxic, const std::filesystem::path& params,
                           exec::Pool& pool, const Progress& progress = {});

}  // namespace cuzk::groth16
