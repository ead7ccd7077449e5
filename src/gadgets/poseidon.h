#pragma once
// Poseidon as rows, in the form the published parameters were made for (neptune's first circuit, not its optimal one).
// Source: filecoin-spec B.8; the optimised schedule of B.7.

#include "base/bytes.h"
#include "gadgets/boolean.h"
#include "hash/poseidon.h"

namespace cuzk::gadgets {

// A linear combination that is carried along without rows: terms where rows are recorded, a value where they are not.
template <class CS>
class Linear {
 public:
  void add(const Num<CS>& num, const Fr& factor = Fr::one()) {
    if constexpr (CS::kRecords) {
      gadgets::add(terms_, num, factor);
    } else {
      value_ += num.value * factor;
    }
  }
  void add(const Linear& other, const Fr& factor) {
    if constexpr (CS::kRecords) {
      terms_.add(other.terms_, factor);
    } else {
      value_ += other.value_ * factor;
    }
  }
  void add_constant(const Fr& constant) {
    if constexpr (CS::kRecords) {
      add_one(terms_, constant);
    } else {
      value_ += constant;
    }
  }
  // Merges repeated variables; keeps a combination from growing as it is added to others.
  void normalise() {
    if constexpr (CS::kRecords) terms_.normalise();
  }
  // A variable of this value: row (terms) * (ONE) = (v).
  Num<CS> allocate(CS& cs) const {
    Num<CS> v = alloc_num(cs, value_);
    cs.enforce([&](auto& row) {
      row.a = terms_;
      add_one(row.b);
      gadgets::add(row.c, v);
    });
    return v;
  }

 private:
  r1cs::Combination terms_;  // empty where values are computed
  typename CS::Value value_{};
};

// The rows of one hash. Their variables' values come from hash::Poseidon, in the same order.
class PoseidonRows {
  using CS = r1cs::Recorder;

 public:
  PoseidonRows(CS& cs, std::span<const Num<CS>> preimage, const Fr& tag)
      : cs_(cs), c_(hash::poseidon_constants(static_cast<unsigned>(preimage.size()))), entries_(c_.width) {
    // First round: the tag folds to a constant, the preimage enters with its round constants added.
    const std::vector<Fr>& k = c_.compressed_round_constants;
    const Fr first = tag + k[0];
    entries_[0].linear.add_constant(first.square().square() * first + k[c_.width]);
    for (unsigned i = 1; i < c_.width; i++) entries_[i] = allocated(sbox_rows(preimage[i - 1], k[i], k[c_.width + i]));
    next_constant_ = 2 * c_.width;
  }

  Num<CS> run() {
    multiply(c_.mds);
    for (unsigned round = 1; round < 4; round++) {
      full_sbox();
      multiply(round < 3 ? c_.mds : c_.pre_sparse);
    }
    for (unsigned round = 0; round < c_.partial_rounds; round++) {
      entries_[0] = allocated(sbox(ensure(entries_[0]), c_.compressed_round_constants[next_constant_++]));
      multiply_sparse(c_.sparse[round]);
    }
    for (unsigned round = 4; round < 7; round++) {
      full_sbox();
      multiply(c_.mds);
    }
    for (Entry& entry : entries_) entry = allocated(sbox(ensure(entry), Fr::zero()));
    multiply(c_.mds);
    return ensure(entries_[1]);
  }

 private:
  // Either a variable, or a combination that has none yet.
  struct Entry {
    bool is_allocated = false;
    Num<CS> num;
    Linear<CS> linear;
  };

  static Entry allocated(const Num<CS>& num) {
    Entry entry;
    entry.is_allocated = true;
    entry.num = num;
    entry.linear.add(num);
    return entry;
  }
  Num<CS> ensure(const Entry& entry) { return entry.is_allocated ? entry.num : entry.linear.allocate(cs_); }

  // (x + pre)^5 + post in three rows: square, square again, and times x.
  Num<CS> sbox_rows(const Num<CS>& x, const Fr& pre, const Fr& post) {
    auto operand = [&](auto& combination) {
      add(combination, x);
      add_one(combination, pre);
    };
    Num<CS> square = alloc_num(cs_, {});
    cs_.enforce([&](auto& row) {
      operand(row.a);
      operand(row.b);
      add(row.c, square);
    });
    Num<CS> fourth = mul(cs_, square, square);
    Num<CS> fifth = alloc_num(cs_, {});
    cs_.enforce([&](auto& row) {
      operand(row.a);
      add(row.b, fourth);
      add(row.c, fifth);
      add_one(row.c, -post);
    });
    return fifth;
  }
  Num<CS> sbox(const Num<CS>& x, const Fr& post) { return sbox_rows(x, Fr::zero(), post); }

  void full_sbox() {
    for (Entry& entry : entries_)
      entry = allocated(sbox(ensure(entry), c_.compressed_round_constants[next_constant_++]));
  }
  // new[j] = sum_i entry[i] * matrix[i][j]
  void multiply(const std::vector<Fr>& matrix) {
    std::vector<Entry> next(c_.width);
    for (unsigned j = 0; j < c_.width; j++) {
      for (unsigned i = 0; i < c_.width; i++) next[j].linear.add(entries_[i].linear, matrix[i * c_.width + j]);
      next[j].linear.normalise();
    }
    entries_ = std::move(next);
  }
  void multiply_sparse(const hash::SparseMatrix& matrix) {
    Entry first;
    for (unsigned i = 0; i < c_.width; i++) first.linear.add(entries_[i].linear, matrix.w_hat[i]);
    first.linear.normalise();
    for (unsigned j = 1; j < c_.width; j++) entries_[j].linear.add(entries_[0].linear, matrix.v_rest[j - 1]);
    entries_[0] = std::move(first);
    for (Entry& entry : entries_) entry.is_allocated = false;
  }

  CS& cs_;
  const hash::PoseidonConstants& c_;
  std::vector<Entry> entries_;
  unsigned next_constant_ = 0;
};

// Digest of 2, 4, 8 or 11 numbers under a domain tag.
template <class CS>
Num<CS> poseidon(CS& cs, const std::vector<Num<CS>>& preimage, const Fr& tag) {
  if constexpr (CS::kRecords) {
    Bytes tag_bytes(Fr::kBytes);
    tag.to_bytes_le(std::span<uint8_t, Fr::kBytes>(tag_bytes));  // the tag is part of the rows
    return cs.region(
        fmt::format("poseidon-{}-{}", preimage.size(), to_hex(tag_bytes)),
        [&](CS& inner, const std::vector<Num<CS>>& inputs) { return PoseidonRows(inner, inputs, tag).run(); },
        preimage);
  } else {
    std::array<Fr, hash::kPoseidonMaxWidth> values;
    for (size_t i = 0; i < preimage.size(); i++) values[i] = preimage[i].value;
    const hash::Poseidon& hasher = hash::poseidon_hasher(static_cast<unsigned>(preimage.size()));
    const Fr* const start = values.data();
    Fr* const variables = cs.alloc_fields(hasher.variables()).data();
    Num<CS> digest;
    hasher.hash(tag, {&start, 1}, {&variables, 1}, {&digest.value, 1});
    return digest;
  }
}

// With the tag of Merkle nodes, columns and comm_r.
template <class CS>
Num<CS> poseidon(CS& cs, const std::vector<Num<CS>>& preimage) {
  return poseidon(cs, preimage, hash::merkle_tag(static_cast<unsigned>(preimage.size())));
}

}  // namespace cuzk::gadgets
