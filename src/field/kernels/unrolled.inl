// Included inside the namespace of an implementation, which supplies CUZK_INLINE.

// body(0), ..., body(N - 1) with the index known to the compiler, so that arrays become registers.
template <size_t N, class Body>
CUZK_INLINE inline void unrolled(Body body) {
  [&]<size_t... I>(std::index_sequence<I...>) CUZK_INLINE { (body(std::integral_constant<size_t, I>{}), ...); }
  (std::make_index_sequence<N>{});
}
