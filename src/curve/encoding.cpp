#include "curve/encoding.h"

#include <algorithm>
#include <array>
#include <vector>

#include "curve/endomorphism.h"
#include "field/kernels.h"
#include "field/sqrt.h"

namespace cuzk {
namespace {

constexpr uint8_t kCompressed = 0x80, kInfinity = 0x40, kSign = 0x20, kFlags = kCompressed | kInfinity | kSign;

template <class F>
constexpr size_t kFieldBytes = 0;
template <>
constexpr size_t kFieldBytes<Fp> = 48;
template <>
constexpr size_t kFieldBytes<Fp2> = 96;

template <class F>
constexpr const char* kGroup = "G1";
template <>
constexpr const char* kGroup<Fp2> = "G2";

void write(const Fp& value, std::span<uint8_t, 48> bytes) { value.to_bytes_be(bytes); }
void write(const Fp2& value, std::span<uint8_t, 96> bytes) {
  value.c1.to_bytes_be(bytes.first<48>());
  value.c0.to_bytes_be(bytes.last<48>());
}
template <class F>
std::optional<F> read(std::span<const uint8_t, kFieldBytes<F>> bytes) {
  if constexpr (std::is_same_v<F, Fp>) {
    return Fp::from_bytes_be(bytes);
  } else {
    auto c1 = Fp::from_bytes_be(bytes.template first<48>()), c0 = Fp::from_bytes_be(bytes.template last<48>());
    if (!c1 || !c0) return std::nullopt;
    return Fp2{*c0, *c1};
  }
}

// y is the larger of the two roots y, -y; in Fp2 by c1 first.
bool is_larger_root(const Fp& y) { return (-y).less_than(y); }
bool is_larger_root(const Fp2& y) { return is_larger_root(y.c1.is_zero() ? y.c0 : y.c1); }

template <class F>
F curve_rhs(const F& x) {
  return x.square() * x + kCurveB<F>;
}
template <class F>
bool curve_holds(const Affine<F>& p) {
  return p.is_infinity() || p.y.square() == curve_rhs(p.x);
}

template <class F>
void write_uncompressed(const Affine<F>& point, std::span<uint8_t, 2 * kFieldBytes<F>> bytes) {
  write(point.x, bytes.template first<kFieldBytes<F>>());
  write(point.y, bytes.template last<kFieldBytes<F>>());
  if (point.is_infinity()) bytes[0] = kInfinity;
}
template <class F>
void write_compressed(const Affine<F>& point, std::span<uint8_t, kFieldBytes<F>> bytes) {
  write(point.x, bytes);
  bytes[0] |= kCompressed;
  if (point.is_infinity()) {
    bytes[0] |= kInfinity;
  } else if (is_larger_root(point.y)) {
    bytes[0] |= kSign;
  }
}

enum class Fault { kForm, kInfinityBits, kSignFlag, kX, kY, kCurve };

// What is wrong with the bytes of an uncompressed (compressed) point, in words.
template <class F>
tl::unexpected<Error> malformed(Fault fault, bool compressed) {
  const char* form = compressed ? "compressed" : "uncompressed";
  auto text = [&]() -> std::string {
    switch (fault) {
      case Fault::kForm:
        return fmt::format("the compression flag says {}, but the {} form is expected here",
                           compressed ? "uncompressed" : "compressed", form);
      case Fault::kInfinityBits: return "the infinity flag is set, but other bits are not zero";
      case Fault::kSignFlag: return "the sign flag is set, which only the compressed form may do";
      case Fault::kX: return "x is not below the field prime";
      case Fault::kY: return "y is not below the field prime";
      case Fault::kCurve: return compressed ? "no point of the curve has this x" : "the point is not on the curve";
    }
    return {};
  }();
  return fail(Code::kInvalidInput, "{} point in {} form: {}; the bytes are damaged or not a point", kGroup<F>, form,
              text);
}

bool zero_but_flags(std::span<const uint8_t> bytes) {
  return (bytes[0] & 0x1f) == 0 && std::all_of(bytes.begin() + 1, bytes.end(), [](uint8_t b) { return b == 0; });
}

// Flags and coordinates of an uncompressed point.
template <class F>
tl::expected<Affine<F>, Fault> decode(std::span<const uint8_t, 2 * kFieldBytes<F>> bytes) {
  if (const uint8_t flags = bytes[0] & kFlags) {
    if (flags & kCompressed) return tl::unexpected(Fault::kForm);
    if (flags & kInfinity) {
      if ((flags & kSign) || !zero_but_flags(bytes)) return tl::unexpected(Fault::kInfinityBits);
      return Affine<F>::infinity();
    }
    return tl::unexpected(Fault::kSignFlag);
  }
  auto x = read<F>(bytes.template first<kFieldBytes<F>>()), y = read<F>(bytes.template last<kFieldBytes<F>>());
  if (!x) return tl::unexpected(Fault::kX);
  if (!y) return tl::unexpected(Fault::kY);
  // (0, 0) is how infinity is held, but its encoding carries the flag; without it these bytes are a point off the
  // curve.
  if (Affine<F>{*x, *y}.is_infinity()) return tl::unexpected(Fault::kCurve);
  return Affine<F>{*x, *y};
}

template <class F>
Result<Affine<F>> read_uncompressed(std::span<const uint8_t, 2 * kFieldBytes<F>> bytes) {
  auto point = decode<F>(bytes);
  if (!point) return malformed<F>(point.error(), false);
  if (!curve_holds(*point)) return malformed<F>(Fault::kCurve, false);
  return *point;
}

template <class F>
Result<Affine<F>> read_compressed(std::span<const uint8_t, kFieldBytes<F>> bytes) {
  const uint8_t flags = bytes[0] & kFlags;
  if (!(flags & kCompressed)) return malformed<F>(Fault::kForm, true);
  if (flags & kInfinity) {
    if ((flags & kSign) || !zero_but_flags(bytes)) return malformed<F>(Fault::kInfinityBits, true);
    return Affine<F>::infinity();
  }
  std::array<uint8_t, kFieldBytes<F>> plain;
  std::copy(bytes.begin(), bytes.end(), plain.begin());
  plain[0] &= static_cast<uint8_t>(~kFlags);
  auto x = read<F>(plain);
  if (!x) return malformed<F>(Fault::kX, true);
  auto y = sqrt(curve_rhs(*x));
  if (!y) return malformed<F>(Fault::kCurve, true);
  return Affine<F>{*x, is_larger_root(*y) == ((flags & kSign) != 0) ? *y : -*y};
}

template <class F>
std::optional<Affine<F>> decode_unchecked(std::span<const uint8_t, 2 * kFieldBytes<F>> bytes) {
  auto point = decode<F>(bytes);
  if (!point) return std::nullopt;
  return *point;
}

constexpr size_t kBlock = 128;                    // points of a bulk operation: 24 KB of coordinates in G2
constexpr size_t kBlockCoordinates = 4 * kBlock;  // in Fp; half as many in G1

// Coordinates of points, in memory order, as canonical values that still lack the Montgomery factor. The number of
// points up to the first that is not well formed: flags make a coordinate p or more, zeros would be infinity.
template <class F>
size_t read_coordinates(const uint8_t* bytes, std::span<Affine<F>> out) {
  constexpr size_t kParts = kFieldBytes<F> / 48;  // Fp2 is written c1 first
  Fp* coordinates = reinterpret_cast<Fp*>(out.data());
  for (size_t i = 0; i < out.size(); i++) {
    bool canonical = true, zero = true;
    for (size_t k = 0; k < 2 * kParts; k++, bytes += 48) {
      Fp::Limbs value;
      for (size_t limb = 0; limb < Fp::kLimbs; limb++) value[limb] = limbs::load<true>(bytes + 8 * (5 - limb));
      canonical &= limbs::less(value, Fp::kModulus);
      zero &= value == Fp::Limbs{};
      coordinates[2 * kParts * i + (k ^ (kParts - 1))] = Fp::from_raw(value);
    }
    if (!canonical || zero) return i;
  }
  return out.size();
}

void multiply(Fp* out, const Fp* a, const Fp* b, size_t count) { kernels().fp_mul(out, a, b, count); }
void multiply(Fp2* out, const Fp2* a, const Fp2* b, size_t count) { kernels().fp2_mul(out, a, b, count); }
void square(Fp* out, const Fp* a, size_t count) { kernels().fp_sqr(out, a, count); }
void square(Fp2* out, const Fp2* a, size_t count) { kernels().fp2_sqr(out, a, count); }

// The number of points up to the first that is off the curve.
template <class F>
size_t count_on_curve(std::span<const Affine<F>> points) {
  std::array<F, 2 * kBlock> squares;
  std::array<F, kBlock> x, cubes;
  square(squares.data(), &points.data()->x, 2 * points.size());
  for (size_t i = 0; i < points.size(); i++) x[i] = points[i].x, cubes[i] = squares[2 * i];
  multiply(cubes.data(), cubes.data(), x.data(), points.size());
  for (size_t i = 0; i < points.size(); i++) {
    if (squares[2 * i + 1] != cubes[i] + kCurveB<F>) return i;
  }
  return points.size();
}

template <class F>
Xyzz<F> mul_by_abs_z(const Xyzz<F>& p) {
  return scalar_mul(p, std::span(&kAbsZ, 1));
}

}  // namespace

void to_uncompressed(const G1Affine& point, std::span<uint8_t, kG1UncompressedBytes> bytes) {
  write_uncompressed<Fp>(point, bytes);
}
void to_uncompressed(const G2Affine& point, std::span<uint8_t, kG2UncompressedBytes> bytes) {
  write_uncompressed<Fp2>(point, bytes);
}
void to_compressed(const G1Affine& point, std::span<uint8_t, kG1CompressedBytes> bytes) {
  write_compressed<Fp>(point, bytes);
}
void to_compressed(const G2Affine& point, std::span<uint8_t, kG2CompressedBytes> bytes) {
  write_compressed<Fp2>(point, bytes);
}

Result<G1Affine> g1_from_uncompressed(std::span<const uint8_t, kG1UncompressedBytes> bytes) {
  return read_uncompressed<Fp>(bytes);
}
Result<G2Affine> g2_from_uncompressed(std::span<const uint8_t, kG2UncompressedBytes> bytes) {
  return read_uncompressed<Fp2>(bytes);
}
Result<G1Affine> g1_from_compressed(std::span<const uint8_t, kG1CompressedBytes> bytes) {
  return read_compressed<Fp>(bytes);
}
Result<G2Affine> g2_from_compressed(std::span<const uint8_t, kG2CompressedBytes> bytes) {
  return read_compressed<Fp2>(bytes);
}

std::optional<G1Affine> g1_decode_unchecked(std::span<const uint8_t, kG1UncompressedBytes> bytes) {
  return decode_unchecked<Fp>(bytes);
}
std::optional<G2Affine> g2_decode_unchecked(std::span<const uint8_t, kG2UncompressedBytes> bytes) {
  return decode_unchecked<Fp2>(bytes);
}

template <class F>
size_t decode_points(std::span<const uint8_t> bytes, std::span<Affine<F>> out, bool check_curve) {
  static const std::vector<Fp> kFactors(kBlockCoordinates, Fp::from_raw(Fp::kR2));
  for (size_t begin = 0; begin < out.size(); begin += kBlock) {
    const auto block = out.subspan(begin, std::min(kBlock, out.size() - begin));
    const size_t formed = read_coordinates<F>(bytes.data() + begin * 2 * kFieldBytes<F>, block);
    Fp* coordinates = reinterpret_cast<Fp*>(block.data());
    kernels().fp_mul(coordinates, coordinates, kFactors.data(), formed * sizeof(Affine<F>) / sizeof(Fp));
    const size_t good = check_curve ? count_on_curve<F>(block.first(formed)) : formed;
    if (good < block.size()) return begin + good;
  }
  return out.size();
}
template size_t decode_points<Fp>(std::span<const uint8_t>, std::span<G1Affine>, bool);
template size_t decode_points<Fp2>(std::span<const uint8_t>, std::span<G2Affine>, bool);

bool on_curve(const G1Affine& point) { return curve_holds(point); }
bool on_curve(const G2Affine& point) { return curve_holds(point); }

bool in_subgroup(const G1Affine& point) {  // phi(P) = -z^2 P
  G1 multiple = mul_by_abs_z(mul_by_abs_z(G1::from_affine(point)));
  return -multiple == G1::from_affine({point.x * kBeta, point.y});
}
bool in_subgroup(const G2Affine& point) {  // psi(P) = z P
  G2 multiple = mul_by_abs_z(G2::from_affine(point));
  return -multiple == G2::from_affine({point.x.conjugate() * kPsiX, point.y.conjugate() * kPsiY});
}

}  // namespace cuzk
