#pragma once
// What the tests of this folder share: the tiny reference circuits, and small circuits of their own.

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/files.h"
#include "base/testing.h"
#include "field/text.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "r1cs/bitmap.h"
#include "r1cs/recorder.h"
#include "r1cs/testing.h"

namespace cuzk::groth16::testing {

inline Bytes read_file(const std::filesystem::path& path) { return cuzk::read_file(path).value(); }
inline void write_file(const std::filesystem::path& path, ByteSpan bytes) {
  if (Status written = cuzk::write_file(path, bytes); !written) throw std::runtime_error(written.error().message);
}
inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}
inline Fr fr_from_hex(const std::string& digits) { return cuzk::fr_from_hex(digits).value(); }
inline std::vector<Fr> frs_from_json(const nlohmann::json& list) {
  std::vector<Fr> out;
  for (const auto& value : list) out.push_back(fr_from_hex(value));
  return out;
}

inline std::filesystem::path data() { return CUZK_SOURCE_DIR "/tests/data/groth16"; }

// A folder of its own for one test, removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "cuzk-groth16-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// A witness from the values of all auxiliary variables.
inline r1cs::Witness pack(const r1cs::Circuit& circuit, const std::vector<Fr>& inputs, const std::vector<Fr>& aux) {
  r1cs::Witness out = r1cs::testing::make_witness(circuit);
  std::ranges::copy(inputs, out.inputs.begin());
  size_t field = 0;
  for (size_t j = 0; j < aux.size(); j++) {
    if (r1cs::test_bit(circuit.aux_is_field, j)) {
      out.fields[field++] = aux[j];
    } else if (aux[j] == Fr::one()) {
      r1cs::set_bit(out.bits, j);
    }
  }
  return out;
}

inline Result<Proof> prove(const r1cs::Circuit& circuit, const Parameters& parameters, const r1cs::Assignment& witness,
                           const Fr& r, const Fr& s, exec::Pool& pool, ProveTimes* times = nullptr) {
  auto memory = mem::unbudgeted(start_bytes(circuit, pool.threads()));
  return prove(circuit, parameters, witness, r, s, std::move(memory), pool, times);
}

// One of the tiny reference vectors: mimc, chain, odd, inputs.
struct Tiny {
  std::filesystem::path folder;
  nlohmann::json info;
  r1cs::Circuit circuit;
  r1cs::Witness witness;
};

// The small ones are in the repository. Empty where the vector is not available.
inline std::filesystem::path tiny_folder(const std::string& name) {
  if (std::filesystem::exists(data() / name)) return data() / name;
  return cuzk::testing::vectors().empty() ? std::filesystem::path() : cuzk::testing::vectors() / "tiny" / name;
}

inline Tiny load_tiny(const std::string& name) {
  Tiny out;
  out.folder = tiny_folder(name);
  out.info = read_json(out.folder / "info.json");
  const uint32_t inputs = out.info["r1cs"]["num_inputs"], aux = out.info["r1cs"]["num_aux"];

  r1cs::Recorder recorder;
  for (uint32_t i = 1; i < inputs; i++) recorder.alloc_input({});
  for (uint32_t j = 0; j < aux; j++) recorder.alloc({});
  const Bytes stream = read_file(out.folder / "r1cs.bin");
  const uint8_t* at = stream.data();
  auto combination = [&](r1cs::Combination& target) {
    uint32_t terms = load_le<uint32_t>(at);
    at += 4;
    for (uint32_t i = 0; i < terms; i++, at += 36) {
      target.add(r1cs::Var{load_le<uint32_t>(at)}, Fr::from_bytes_le(std::span<const uint8_t, 32>(at + 4, 32)).value());
    }
  };
  while (at < stream.data() + stream.size()) {
    recorder.enforce([&](r1cs::RowBuilder& row) { combination(row.a), combination(row.b), combination(row.c); });
  }
  out.circuit = std::move(recorder).finish(name);

  const Bytes values = read_file(out.folder / "witness.bin");
  std::vector<Fr> all;
  for (size_t i = 0; i < values.size(); i += 32)
    all.push_back(Fr::from_bytes_le(std::span<const uint8_t, 32>(values.data() + i, 32)).value());
  out.witness = pack(out.circuit, {all.begin(), all.begin() + inputs}, {all.begin() + inputs, all.end()});
  return out;
}

// A satisfied circuit of `bits` booleans and as many field elements, in alternation; input 1 is the sum of all:
//   (ONE - b) * (b) = (0)      (previous x + b) * (2 x) = (next x)      (sum) * (ONE) = (input)
// With `packed` false the booleans are declared field elements, which changes nothing but the packing.
struct Mixed {
  r1cs::Circuit circuit;
  r1cs::Witness witness;
};

inline Mixed make_mixed(uint32_t bits, bool packed, uint64_t stream) {
  auto random = cuzk::testing::rng(stream);
  r1cs::Recorder recorder;
  const r1cs::Var input = recorder.alloc_input({});
  r1cs::Var previous = recorder.alloc({});
  std::vector<Fr> aux = {cuzk::testing::random_field<Fr>(random)};
  for (uint32_t i = 0; i < bits; i++) {
    const Fr bit = random() % 2 ? Fr::one() : Fr::zero();
    const r1cs::Var b = packed ? recorder.alloc_bit({}) : recorder.alloc({}), x = recorder.alloc({});
    recorder.enforce([&](r1cs::RowBuilder& row) {
      row.a.add(r1cs::Var::one(), Fr::one());
      row.a.add(b, -Fr::one());
      row.b.add(b, Fr::one());
    });
    recorder.enforce([&](r1cs::RowBuilder& row) {
      row.a.add(previous, Fr::one());
      row.a.add(b, Fr::one());
      row.b.add(previous, Fr::from_u64(2));
      row.c.add(x, Fr::one());
    });
    Fr next = (aux.back() + bit) * aux.back().dbl();
    aux.push_back(bit);
    aux.push_back(next);
    previous = x;
  }
  Fr sum;
  recorder.enforce([&](r1cs::RowBuilder& row) {
    for (uint32_t j = 0; j < aux.size(); j++) row.a.add(r1cs::Var::aux(j), Fr::one()), sum += aux[j];
    row.b.add(r1cs::Var::one(), Fr::one());
    row.c.add(input, Fr::one());
  });
  Mixed out{std::move(recorder).finish("mixed"), {}};
  out.witness = pack(out.circuit, {Fr::one(), sum}, aux);
  return out;
}

}  // namespace cuzk::groth16::testing
