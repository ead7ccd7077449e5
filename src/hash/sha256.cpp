#include "hash/sha256.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace cuzk::hash {
namespace {

void compress_portable(Sha256State& state, const uint8_t* blocks, size_t count) {
  for (; count > 0; count--, blocks += 64) {
    std::array<uint32_t, 64> w;
    for (size_t t = 0; t < 16; t++) w[t] = load_be<uint32_t>(blocks + 4 * t);
    for (size_t t = 16; t < 64; t++) {
      const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
      const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t t = 0; t < 64; t++) {
      const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256Round[t] + w[t];
      const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const Sha256State out = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++) state[i] += out[i];
  }
}

#if defined(__x86_64__)
namespace sha_ni {

// The instructions keep the state as (a,b,e,f) and (c,d,g,h), highest lane first, and do two rounds each.
// Source: Intel 64 manual volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2.
__attribute__((target("sha,sse4.1"))) void compress(Sha256State& state, const uint8_t* blocks, size_t count) {
  const __m128i byte_swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* words = reinterpret_cast<__m128i*>(state.data());
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count > 0; count--, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];  // the last 16 words of the schedule, group t in w[t % 4]
    for (size_t t = 0; t < 4; t++) {
      w[t] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + t), byte_swap);
    }
#pragma GCC unroll 16
    for (size_t t = 0; t < 16; t++) {
      const __m128i k = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSha256Round.data()) + t);
      const __m128i wk = _mm_add_epi32(w[t % 4], k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
      if (t < 12) {
        const __m128i w_minus_7 = _mm_alignr_epi8(w[(t + 3) % 4], w[(t + 2) % 4], 4);
        const __m128i partial = _mm_add_epi32(_mm_sha256msg1_epu32(w[t % 4], w[(t + 1) % 4]), w_minus_7);
        w[t % 4] = _mm_sha256msg2_epu32(partial, w[(t + 3) % 4]);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

bool available() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1);
  const bool sse41 = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 19 & 1);
  return sha && sse41;
}

}  // namespace sha_ni
#endif

Bytes32 digest_of(const Sha256State& state) {
  Bytes32 out;
  for (size_t i = 0; i < 8; i++) store_be(out.data() + 4 * i, state[i]);
  return out;
}

Bytes32 truncated(Bytes32 digest) {
  digest[31] &= 0x3f;
  return digest;
}

}  // namespace

std::span<const Sha256Kernel> sha256_kernels() {
#if defined(__x86_64__)
  static constexpr Sha256Kernel kernels[] = {{"sha_ni", sha_ni::compress}, {"portable", compress_portable}};
  static const std::span<const Sha256Kernel> usable = std::span(kernels).subspan(sha_ni::available() ? 0 : 1);
#else
  static constexpr Sha256Kernel usable[] = {{"portable", compress_portable}};
#endif
  return usable;
}

void sha256_compress(Sha256State& state, const uint8_t* blocks, size_t count) {
  static const auto compress = [] {
    const char* forced = std::getenv("CUZK_KERNELS");
    const bool portable = forced && std::string_view(forced) == "portable";
    return portable ? compress_portable : sha256_kernels().front().compress;
  }();
  compress(state, blocks, count);
}

void Sha256::update(ByteSpan bytes) {
  if (const size_t waiting = length_ % 64; waiting > 0) {
    const size_t taken = std::min(64 - waiting, bytes.size());
    std::copy_n(bytes.begin(), taken, block_.begin() + waiting);
    length_ += taken;
    bytes = bytes.subspan(taken);
    if (waiting + taken < 64) return;
    sha256_compress(state_, block_.data());
  }
  sha256_compress(state_, bytes.data(), bytes.size() / 64);
  const ByteSpan rest = bytes.subspan(bytes.size() / 64 * 64);
  std::ranges::copy(rest, block_.begin());
  length_ += bytes.size();
}

Bytes32 Sha256::finish() {
  // 0x80, zeros up to 8 bytes before a block's end, the length in bits.
  std::array<uint8_t, 72> padding{0x80};
  const uint64_t bits = 8 * length_;
  const size_t zeros_end = 64 - (length_ + 8) % 64;
  store_be(padding.data() + zeros_end, bits);
  update({padding.data(), zeros_end + 8});
  return digest_of(state_);
}

Bytes32 sha256(ByteSpan message) {
  Sha256 hash;
  hash.update(message);
  return hash.finish();
}

Bytes32 sha256_fr(ByteSpan message) { return truncated(sha256(message)); }

Bytes32 sha256_node(const Bytes32& left, const Bytes32& right) {
  // One block of data and the constant padding block of a 512-bit message.
  std::array<uint8_t, 128> blocks{};
  std::ranges::copy(left, blocks.begin());
  std::ranges::copy(right, blocks.begin() + 32);
  blocks[64] = 0x80;
  blocks[126] = 2;  // 512, big-endian
  Sha256State state = kSha256Initial;
  sha256_compress(state, blocks.data(), 2);
  return truncated(digest_of(state));
}

}  // namespace cuzk::hash
