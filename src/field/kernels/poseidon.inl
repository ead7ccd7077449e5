// Poseidon's permutation (FrPoseidon of field/kernels.h) over vectors of states, which generic.inl includes. An
// implementation defines beside its vectors
//
//   using FrVector = Vector<Fr>; struct Factor; Factor factor_of(const Fr&)
//   FrVector filled(const Fr&)            the same in every lane
//   struct Dot                            a sum of products, zero at first
//     void accumulate(value, factor)      of at most 12 of them
//     FrVector canonical()
//     FrVector plus(value)                this sum, of one product of a canonical value, plus a value. Good for
//                                         accumulate() alone, and after five of them in a row only once made canonical:
//     static FrVector canonical(value)
//
// Source: filecoin-spec B.7, B.8.

inline void fr_factors_of(uint64_t* out, const Fr* values, size_t count) {
  for (size_t i = 0; i < count; i++) reinterpret_cast<Factor*>(out)[i] = factor_of(values[i]);
}

// As fr_poseidon, for at most kWidth preimages.
inline void permute(const FrPoseidon& plan, const Fr& tag, const Fr* const* preimages, Fr* const* variables,
                    Fr* digests, size_t count) {
  constexpr size_t kWidth = FrVector::kWidth;
  constexpr unsigned kHalf = FrPoseidon::kFullRounds / 2;
  const size_t width = plan.width, rounds = FrPoseidon::kFullRounds + plan.partial_rounds;
  const auto* const mds = reinterpret_cast<const Factor*>(plan.mds);
  const auto* const pre_sparse = reinterpret_cast<const Factor*>(plan.pre_sparse);
  const auto* sparse = reinterpret_cast<const Factor*>(plan.sparse);
  const Fr* constant = plan.constants;

  size_t next_variable = 0;
  const auto put = [&](const FrVector& value) CUZK_INLINE {
    if (variables == nullptr) return;
    Fr elements[kWidth];
    value.store(elements, kWidth);
    for (size_t i = 0; i < count; i++) variables[i][next_variable] = elements[i];
    next_variable++;
  };

  FrVector state[FrPoseidon::kMaxWidth], next[FrPoseidon::kMaxWidth];
  state[0] = filled(tag);
  for (size_t j = 1; j < width; j++) {
    Fr elements[kWidth];
    for (size_t i = 0; i < kWidth; i++) elements[i] = preimages[i < count ? i : 0][j - 1];
    state[j] = FrVector::load(elements, kWidth) + filled(plan.first_constants[j - 1]);
  }
  for (size_t round = 0; round < rounds; round++) {
    const bool full = round < kHalf || round >= kHalf + plan.partial_rounds;
    for (size_t j = round == 0 ? 1 : 0; j < (full ? width : 1); j++) {  // S-boxes
      const FrVector square = state[j].square(), fourth = square.square();
      if (round > 0) put(state[j]);
      put(square);
      put(fourth);
      state[j] = state[j] * fourth + filled(*constant++);
      put(state[j]);
    }
    if (full) {
      const Factor* const matrix = round + 1 == kHalf ? pre_sparse : mds;
      for (size_t j = 0; j < width; j++) {
        Dot dot;
        for (size_t i = 0; i < width; i++) dot.accumulate(state[i], matrix[i * width + j]);
        next[j] = dot.canonical();
      }
      for (size_t j = 0; j < width; j++) state[j] = next[j];
      continue;
    }
    Dot dot;
    for (size_t i = 0; i < width; i++) dot.accumulate(state[i], *sparse++);
    const bool settle = (round - kHalf) % 5 == 4 || round + 1 == kHalf + plan.partial_rounds;
    for (size_t j = 1; j < width; j++) {
      Dot product;
      product.accumulate(state[0], *sparse++);
      state[j] = product.plus(state[j]);
      if (settle) state[j] = Dot::canonical(state[j]);
    }
    state[0] = dot.canonical();
  }
  put(state[1]);
  Fr elements[kWidth];
  state[1].store(elements, kWidth);
  std::copy_n(elements, count, digests);
}

inline void fr_poseidon(const FrPoseidon& plan, const Fr& tag, const Fr* const* preimages, Fr* const* variables,
                        Fr* digests, size_t count) {
  for_each<FrVector::kWidth>(count, [&](size_t i, size_t n) {
    permute(plan, tag, preimages + i, variables ? variables + i : nullptr, digests + i, n);
  });
}
