#include "filecoin/bincode.h"

#include <algorithm>

#include "field/fields.h"

namespace cuzk::filecoin::bincode {

ByteSpan Reader::take(std::string_view name, size_t count) {
  if (!fault_ && count > rest_.size()) reject(name, fmt::format("is cut short: {} bytes of {}", rest_.size(), count));
  if (fault_) return {};
  ByteSpan out = rest_.first(count);
  rest_ = rest_.subspan(count);
  return out;
}

Bytes32 Reader::element(std::string_view name) {
  Bytes32 out{};
  ByteSpan bytes = take(name, out.size());
  if (bytes.empty()) return out;
  std::ranges::copy(bytes, out.begin());
  if (!Fr::from_bytes_le(out)) reject(name, fmt::format("is {}, not below the field order", to_hex(out)));
  return out;
}

std::vector<Bytes32> Reader::elements(std::string_view name, size_t count) {
  std::vector<Bytes32> out;
  length(name, count);
  each(name, count, [&](size_t) { out.push_back(element("")); });
  return out;
}

void Reader::length(std::string_view name, size_t count) {
  const uint64_t found = u64(name);
  if (found != count) reject(name, fmt::format("has {} entries, not {}", found, count));
}

void Reader::reject(std::string_view name, std::string_view what) {
  if (fault_) return;
  std::string place;
  for (const Place& outer : places_) {
    place += place.empty() ? "" : ".";
    place += outer.index ? fmt::format("{}[{}]", outer.name, *outer.index) : std::string(outer.name);
  }
  if (!name.empty()) place += fmt::format("{}{}", place.empty() ? "" : ".", name);
  fault_ = fmt::format("{} {}", place, what);
}

Status Reader::status() const { return fault_ ? Status(fail(Code::kInvalidInput, "{}", *fault_)) : Status(); }

void Writer::append(ByteSpan bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

PathForm tree_form(uint64_t nodes, const TreeShape& tree) {
  return {path_arities(nodes, tree), static_cast<unsigned>(tree.sub > 0) + static_cast<unsigned>(tree.top > 0)};
}

PathForm binary_form(uint64_t nodes) { return tree_form(nodes, {2, 0, 0}); }

size_t merkle_proof_bytes(const PathForm& form) {
  size_t bytes = 4 + 2 * sizeof(Bytes32) + 8 * (1 + form.joined);
  for (unsigned arity : form.arities) bytes += 8 + (arity - 1) * sizeof(Bytes32) + 8;
  return bytes;
}

namespace {

// The paths that a proof is written in: levels [begin, end) each.
struct Part {
  std::string_view name;
  size_t begin, end;
};
std::vector<Part> parts(const PathForm& form) {
  const size_t levels = form.arities.size(), base = levels - form.joined;
  if (form.joined == 0) return {{"path", 0, levels}};
  std::vector<Part> out = {{"base_proof", 0, base}, {"sub_proof", base, base + 1}};
  if (form.joined == 2) out.push_back({"top_proof", base + 1, levels});
  return out;
}

}  // namespace

MerkleProof read_merkle_proof(Reader& reader, std::string_view name, const PathForm& form) {
  MerkleProof proof;
  auto ends = [&] {
    proof.root = reader.element("root");
    proof.leaf = reader.element("leaf");
  };
  reader.within(name, [&] {
    const uint32_t variant = reader.u32("variant");
    if (variant != form.joined) reader.reject("variant", fmt::format("is {}, not {}", variant, form.joined));
    if (form.joined == 0) ends();
    for (const Part& part : parts(form)) {
      reader.length(part.name, part.end - part.begin);
      reader.each(part.name, part.end - part.begin, [&](size_t i) {
        const unsigned arity = form.arities[part.begin + i];
        PathElement& element = proof.path.emplace_back();
        element.hashes = reader.elements("hashes", arity - 1);
        element.index = reader.u64("index");
        if (element.index >= arity) reader.reject("index", fmt::format("is {}, not below {}", element.index, arity));
      });
    }
    if (form.joined > 0) ends();
  });
  return proof;
}

void write_merkle_proof(Writer& writer, const MerkleProof& proof, const PathForm& form) {
  auto ends = [&] {
    writer.element(proof.root);
    writer.element(proof.leaf);
  };
  writer.u32(form.joined);
  if (form.joined == 0) ends();
  for (const Part& part : parts(form)) {
    writer.u64(part.end - part.begin);
    for (size_t level = part.begin; level < part.end; level++) {
      writer.elements(proof.path[level].hashes);
      writer.u64(proof.path[level].index);
    }
  }
  if (form.joined > 0) ends();
}

}  // namespace cuzk::filecoin::bincode
