#pragma once
// Bincode 1.x as the vanilla proofs of PoSt and updates are written in it: little-endian, fixed width, u64 lengths, a
// node value as its 32 bytes (spec G.1, G.2).

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "filecoin/vanilla.h"

namespace cuzk::filecoin::bincode {

// Reads one value after another. The first fault stays and every read after it gives zero, so it is enough to ask
// finish() at the end. No length in the text is believed: callers say what a count must be, and loop over that.
class Reader {
 public:
  explicit Reader(ByteSpan bytes) : rest_(bytes) {}

  uint32_t u32(std::string_view name) { return integer<uint32_t>(name); }
  uint64_t u64(std::string_view name) { return integer<uint64_t>(name); }
  // A canonical field element: below r as a little-endian number.
  Bytes32 element(std::string_view name);
  // `count` elements with their length in front.
  std::vector<Bytes32> elements(std::string_view name, size_t count);
  // The length of a vector, which can only be `count`.
  void length(std::string_view name, size_t count);

  // body() with "name." or "name[index]." in front of the names of what it reads.
  template <class Body>
  void within(std::string_view name, Body&& body) {
    places_.push_back({name, std::nullopt});
    body();
    places_.pop_back();
  }
  template <class Body>
  void each(std::string_view name, size_t count, Body&& body) {
    for (size_t i = 0; i < count; i++) {
      places_.push_back({name, i});
      body(i);
      places_.pop_back();
    }
  }

  // Notes a fault of the value just read, "name <what>", unless there is one already.
  void reject(std::string_view name, std::string_view what);
  // kInvalidInput with the first fault. Bytes left over are none: the reference ignores them.
  Status status() const;

 private:
  struct Place {
    std::string_view name;
    std::optional<size_t> index;
  };

  // The next bytes, or nothing after a fault.
  ByteSpan take(std::string_view name, size_t count);
  template <class T>
  T integer(std::string_view name) {
    ByteSpan bytes = take(name, sizeof(T));
    return bytes.empty() ? T{0} : load_le<T>(bytes.data());
  }

  ByteSpan rest_;
  std::vector<Place> places_;
  std::optional<std::string> fault_;
};

class Writer {
 public:
  void u32(uint32_t value) { integer(value); }
  void u64(uint64_t value) { integer(value); }
  void element(const Bytes32& value) { append(value); }
  void elements(std::span<const Bytes32> values) {
    u64(values.size());
    for (const Bytes32& value : values) element(value);
  }
  Bytes finish() && { return std::move(out_); }

 private:
  void append(ByteSpan bytes);
  template <class T>
  void integer(T value) {
    std::array<uint8_t, sizeof(T)> bytes;
    store_le(bytes.data(), value);
    append(bytes);
  }
  Bytes out_;
};

// What fixes the form of a MerkleProof: the arity of each level, leaf level first, and how many of them, at the end,
// are written as paths of their own (0 = Single, 1 = Sub, 2 = Top).
struct PathForm {
  std::vector<unsigned> arities;
  unsigned joined = 0;
};
// Of a Poseidon tree with that many leaves, and of the binary tree.
PathForm tree_form(uint64_t nodes, const TreeShape& tree);
PathForm binary_form(uint64_t nodes);

size_t merkle_proof_bytes(const PathForm& form);
MerkleProof read_merkle_proof(Reader& reader, std::string_view name, const PathForm& form);
void write_merkle_proof(Writer& writer, const MerkleProof& proof, const PathForm& form);

}  // namespace cuzk::filecoin::bincode
