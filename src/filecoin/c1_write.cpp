#include <array>
#include <string>

#include "filecoin/c1.h"
#include "filecoin/shapes.h"

namespace cuzk::filecoin {
namespace {

using Sink = std::function<Status(std::string_view)>;

// Text gathered and handed on in pieces, as base64 between begin_base64 and end_base64. The first error of the sink
// stays.
class Output {
 public:
  explicit Output(const Sink& sink) : sink_(sink) {}

  void write(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kPiece) flush(buffer_.size() - buffer_.size() % 3);
  }
  void begin_base64() {
    flush(buffer_.size());
    base64_ = true;
  }
  void end_base64() {
    flush(buffer_.size());
    base64_ = false;
  }
  Status finish() {
    flush(buffer_.size());
    return status_;
  }

 private:
  static constexpr size_t kPiece = 16384;

  // Only the last piece of a base64 text may have a length that is no multiple of 3.
  void flush(size_t bytes) {
    if (status_ && bytes > 0) {
      std::string_view piece(buffer_.data(), bytes);
      status_ = base64_ ? sink_(to_base64(as_bytes(piece))) : sink_(piece);
    }
    buffer_.erase(0, bytes);
  }

  const Sink& sink_;
  std::string buffer_;
  bool base64_ = false;
  Status status_;
};

const std::array<std::string, 256> kByteText = [] {
  std::array<std::string, 256> text;
  for (size_t i = 0; i < text.size(); i++) text[i] = std::to_string(i);
  return text;
}();

class Writer {
 public:
  Writer(const PorepShape& shape, Output& output) : shape_(shape), output_(output) {}

  // `variant` is the V1 name of the size, whatever the api version (spec G.4).
  void commit(const SealCommit& commit, std::string_view variant) {
    text("{\"registered_proof\":\"", commit.registered_proof, "\",\"vanilla_proofs\":{\"", variant, "\":");
    list(commit.partitions,
         [&](const auto& partition) { list(partition, [&](const auto& proof) { challenge(proof); }); });
    text("},\"comm_r\":");
    bytes(commit.comm_r);
    text(",\"comm_d\":");
    bytes(commit.comm_d);
    text(",\"replica_id\":");
    bytes(commit.replica_id);
    text(",\"seed\":");
    bytes(commit.seed);
    text(",\"ticket\":");
    bytes(commit.ticket);
    text("}");
  }

 private:
  template <class... Text>
  void text(const Text&... pieces) {
    (output_.write(pieces), ...);
  }
  template <class T, class Write>
  void list(const T& values, Write write) {
    std::string_view separator = "[";
    for (const auto& value : values) {
      text(separator);
      write(value);
      separator = ",";
    }
    text(values.empty() ? "[]" : "]");
  }
  void bytes(const Bytes32& value) {
    list(value, [&](uint8_t byte) { text(kByteText[byte]); });
  }
  void hashes(const std::vector<Bytes32>& values) {
    list(values, [&](const Bytes32& value) { bytes(value); });
  }

  void challenge(const ChallengeProof& proof) {
    text("{\"comm_d_proofs\":");
    merkle(proof.comm_d, {2, 0, 0});
    text(",\"comm_r_last_proof\":");
    merkle(proof.comm_r_last, shape_.tree);
    text(",\"replica_column_proofs\":{\"c_x\":");
    column(proof.c_x);
    text(",\"drg_parents\":");
    list(proof.drg_parents, [&](const ColumnProof& parent) { column(parent); });
    text(",\"exp_parents\":");
    list(proof.exp_parents, [&](const ColumnProof& parent) { column(parent); });
    text("},\"labeling_proofs\":");
    list(proof.labeling, [&](const LabelingProof& layer) { labeling(layer); });
    text(",\"encoding_proof\":");
    labeling(proof.encoding);
    text("}");
  }

  void merkle(const MerkleProof& proof, const TreeShape& tree) {
    const std::span<const PathElement> path = proof.path;
    if (!tree.sub) {
      text("{\"data\":{\"Single\":{");
      ends(proof);
      text(",\"path\":");
      inclusion(path);
      text("}}}");
      return;
    }
    const size_t base = path.size() - (tree.top ? 2 : 1);
    text(tree.top ? "{\"data\":{\"Top\":{\"base_proof\":" : "{\"data\":{\"Sub\":{\"base_proof\":");
    inclusion(path.first(base));
    text(",\"sub_proof\":");
    inclusion(path.subspan(base, 1));
    if (tree.top) {
      text(",\"top_proof\":");
      inclusion(path.subspan(base + 1, 1));
    }
    text(",");
    ends(proof);
    text("}}}");
  }
  void ends(const MerkleProof& proof) {
    text("\"root\":");
    bytes(proof.root);
    text(",\"leaf\":");
    bytes(proof.leaf);
  }
  void inclusion(std::span<const PathElement> path) {
    text("{\"path\":");
    list(path, [&](const PathElement& element) {
      text("{\"hashes\":");
      hashes(element.hashes);
      text(",\"index\":", std::to_string(element.index), "}");
    });
    text("}");
  }
  // The reference's reader insists on the "_h" of a type that holds nothing.
  void column(const ColumnProof& proof) {
    text("{\"column\":{\"index\":", std::to_string(proof.column.index), ",\"rows\":");
    hashes(proof.column.rows);
    text(",\"_h\":null},\"inclusion_proof\":");
    merkle(proof.inclusion, shape_.tree);
    text("}");
  }
  void labeling(const LabelingProof& proof) {
    text("{\"parents\":");
    hashes(proof.parents);
    text(",\"layer_index\":", std::to_string(proof.layer), ",\"node\":", std::to_string(proof.node), "}");
  }

  const PorepShape& shape_;
  Output& output_;
};

}  // namespace

Status write_c1(const SealCommit& commit, C1Form form, const Sink& sink) {
  CUZK_TRY_ASSIGN(const RegisteredProof proof, seal_proof(commit.registered_proof));
  CUZK_TRY_ASSIGN(const PorepShape shape, porep_shape(proof.sector_bytes));
  const std::string variant = fmt::format("StackedDrg{}V1", format_size(proof.sector_bytes));
  Output output(sink);
  Writer writer(shape, output);
  if (form == C1Form::kBare) {
    writer.commit(commit, variant);
    return output.finish();
  }
  if (!commit.sector_number) return fail(Code::kInvalidInput, "a wrapped C1 output needs the sector number");
  output.write(fmt::format("{{\"SectorNum\":{},\"Phase1Out\":\"", *commit.sector_number));
  output.begin_base64();
  writer.commit(commit, variant);
  output.end_base64();
  output.write(fmt::format("\",\"SectorSize\":{}}}", proof.sector_bytes));
  return output.finish();
}

}  // namespace cuzk::filecoin
