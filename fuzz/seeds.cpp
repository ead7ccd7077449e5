// fuzz_seeds TEST_DATA CORPUS: inputs for the fuzzers to start from.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/bytes.h"
#include "filecoin/c1.h"
#include "filecoin/post_synthetic.h"
#include "filecoin/synthetic.h"
#include "filecoin/update_synthetic.h"
#include "r1cs/file.h"
#include "r1cs/recorder.h"

namespace {

using namespace cuzk;
namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

// A made-up sector of 2 KiB, bare and wrapped.
Status c1(const fs::path& folder) {
  exec::Pool pool(1);
  CUZK_TRY_ASSIGN(filecoin::SealCommit commit, filecoin::synthetic_porep(2048, 1, pool));
  commit.sector_number = 7;
  for (const auto form : {filecoin::C1Form::kBare, filecoin::C1Form::kWrapped}) {
    std::string text;
    CUZK_TRY(filecoin::write_c1(commit, form, [&](std::string_view piece) -> Status {
      text += piece;
      return {};
    }));
    write(folder / (form == filecoin::C1Form::kBare ? "bare" : "wrapped"), text);
  }
  return {};
}

// A made-up sector of each kind and size that post_fuzz.cpp knows, behind the byte that chooses it.
Status post(const fs::path& folder) {
  using filecoin::PostKind;
  exec::Pool pool(1);
  for (uint8_t choice = 0; choice < 4; choice++) {
    const PostKind kind = choice & 1 ? PostKind::kWinning : PostKind::kWindow;
    const uint64_t sector_bytes = choice & 2 ? 32768 : 2048;
    CUZK_TRY_ASSIGN(const filecoin::PostShape shape, filecoin::post_shape(kind, sector_bytes));
    CUZK_TRY_ASSIGN(const auto proof, filecoin::post_proof(kind, sector_bytes, filecoin::ApiVersion::kV1_0));
    CUZK_TRY_ASSIGN(const filecoin::PostInput input, filecoin::synthetic_post(proof, 1, 1, pool));
    Bytes bytes = filecoin::write_post_proof(input.sectors[0], shape);
    bytes.insert(bytes.begin(), choice);
    write(folder / fmt::format("{}", choice), as_text(bytes));
  }
  return {};
}

// The same for update_fuzz.cpp.
Status update(const fs::path& folder) {
  exec::Pool pool(1);
  for (uint8_t choice = 0; choice < 2; choice++) {
    CUZK_TRY_ASSIGN(const filecoin::UpdateShape shape, filecoin::update_shape(choice ? 32768 : 2048));
    Bytes bytes = filecoin::write_update_proof(shape, *filecoin::synthetic_update(shape, 1, pool).partitions[0]);
    bytes.insert(bytes.begin(), choice);
    write(folder / fmt::format("{}", choice), as_text(bytes));
  }
  return {};
}

struct Signal {
  r1cs::Var var;
};
void visit_signals(Signal& signal, const r1cs::SignalVisitor& visit) { visit(0, &signal.var); }

// Products x (3 y + 1) = z, twice as a region and once as a loose row.
void circuit(const fs::path& folder) {
  r1cs::Recorder recorder;
  const Signal input{recorder.alloc_input({})}, bit{recorder.alloc_bit({})};
  const auto product = [](r1cs::Recorder& in, Signal x, Signal y) {
    const Signal z{in.alloc({})};
    in.enforce([&](r1cs::RowBuilder& row) {
      row.a.add(x.var, Fr::one());
      row.b.add(y.var, Fr::from_u64(3));
      row.b.add(r1cs::Var::one(), Fr::one());
      row.c.add(z.var, Fr::one());
    });
    return z;
  };
  const Signal first = recorder.region("product", product, bit, input);
  recorder.region("product", product, first, input);
  product(recorder, bit, first);
  const Bytes bytes = r1cs::serialise(std::move(recorder).finish("seed"));
  write(folder / "products", as_text(bytes));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: fuzz_seeds TEST_DATA CORPUS\n";
    return 2;
  }
  const fs::path data = arguments[1], corpus = arguments[2];
  for (const Status& made : {c1(corpus / "c1"), post(corpus / "post"), update(corpus / "update")}) {
    if (made) continue;
    std::cerr << made.error().message << "\n";
    return 1;
  }
  circuit(corpus / "circuit");
  const std::pair<std::string, std::string> files[] = {
      {"circuit.params", "params"}, {"circuit.vk", "vk"}, {"proof.bin", "proof"}};
  for (const std::string name : {"inputs", "odd"}) {
    for (const auto& [file, kind] : files) {
      fs::create_directories(corpus / kind);
      fs::copy_file(data / "groth16" / name / file, corpus / kind / name, fs::copy_options::overwrite_existing);
    }
  }
}
