// interop_export FOLDER: proves the small reference circuits with fresh randomness and writes each as snarkjs reads it.
#include "groth16/export.h"

#include <iostream>

#include "groth16/prove.h"
#include "groth16/testing.h"

namespace {

using namespace cuzk;

Status export_one(const std::string& name, const std::filesystem::path& folder, exec::Pool& pool) {
  const groth16::testing::Tiny tiny = groth16::testing::load_tiny(name);
  CUZK_TRY_ASSIGN(auto loaded, groth16::load_params(tiny.folder / "circuit.params", groth16::lengths_of(tiny.circuit),
                                                    {.remember = false}, pool));
  CUZK_TRY_ASSIGN(const groth16::Blinding blinding, groth16::random_blinding());
  CUZK_TRY_ASSIGN(const groth16::Proof proof,
                  groth16::testing::prove(tiny.circuit, loaded.parameters, tiny.witness, blinding.r, blinding.s, pool));
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* file, std::string_view text) {
    groth16::testing::write_file(folder / file, as_bytes(text));
  };
  write("verification_key.json", groth16::snarkjs_vk(loaded.parameters.vk));
  write("proof.json", groth16::snarkjs_proof(proof));
  write("public.json", groth16::snarkjs_public(std::span(tiny.witness.inputs).subspan(1)));
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: interop_export FOLDER\n";
    return 2;
  }
  exec::Pool pool;
  for (const std::string name : {"inputs", "odd"}) {
    if (const Status done = export_one(name, std::filesystem::path(arguments[1]) / name, pool); !done) {
      std::cerr << name << ": " << done.error().message << "\n";
      return 1;
    }
  }
}
