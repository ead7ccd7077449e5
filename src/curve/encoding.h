#pragma once
// Points as bytes ("zcash" format) and the checks that make bytes from outside trustworthy: canonical form, curve,
// subgroup.
//
// Format (filecoin-spec F.1): coordinates big-endian, Fp2 as c1 then c0; the top three bits of the first byte are
// flags: 0x80 compressed, 0x40 infinity (all other bits zero), 0x20 y is the larger root (compressed form only).

#include <optional>
#include <span>

#include "base/result.h"
#include "curve/bls12_381.h"

namespace cuzk {

inline constexpr size_t kG1CompressedBytes = 48, kG1UncompressedBytes = 96;
inline constexpr size_t kG2CompressedBytes = 96, kG2UncompressedBytes = 192;

void to_uncompressed(const G1Affine& point, std::span<uint8_t, kG1UncompressedBytes> bytes);
void to_uncompressed(const G2Affine& point, std::span<uint8_t, kG2UncompressedBytes> bytes);
void to_compressed(const G1Affine& point, std::span<uint8_t, kG1CompressedBytes> bytes);
void to_compressed(const G2Affine& point, std::span<uint8_t, kG2CompressedBytes> bytes);

// The point on the curve with this encoding, infinity allowed. kInvalidInput where flags do not fit the form, infinity
// has other bits set, a coordinate is not below p, or the point is not on the curve. The subgroup is not checked: see
// below.
Result<G1Affine> g1_from_uncompressed(std::span<const uint8_t, kG1UncompressedBytes> bytes);
Result<G2Affine> g2_from_uncompressed(std::span<const uint8_t, kG2UncompressedBytes> bytes);
Result<G1Affine> g1_from_compressed(std::span<const uint8_t, kG1CompressedBytes> bytes);
Result<G2Affine> g2_from_compressed(std::span<const uint8_t, kG2CompressedBytes> bytes);

// Uncompressed bytes that were checked before, such as a parameter file with a known digest: flags and canonical form
// are still checked, the curve equation is not. Nothing where they are malformed.
std::optional<G1Affine> g1_decode_unchecked(std::span<const uint8_t, kG1UncompressedBytes> bytes);
std::optional<G2Affine> g2_decode_unchecked(std::span<const uint8_t, kG2UncompressedBytes> bytes);

// Many uncompressed points at once, by bulk arithmetic; `bytes` holds exactly out.size() of them. The index of the
// first that is malformed, infinity or, with `check_curve`, off the curve; out.size() where there is none. Points
// before that index are in `out`. Instantiated for Fp and Fp2.
template <class F>
size_t decode_points(std::span<const uint8_t> bytes, std::span<Affine<F>> out, bool check_curve);

// Infinity is on the curve and in the subgroup.
bool on_curve(const G1Affine& point);
bool on_curve(const G2Affine& point);

// True where a point of the curve has order r (or is infinity). Precondition: on_curve(point).
// Scott 2021, "A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves".
bool in_subgroup(const G1Affine& point);
bool in_subgroup(const G2Affine& point);

}  // namespace cuzk
