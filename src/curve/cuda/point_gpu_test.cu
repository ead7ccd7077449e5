#include "curve/cuda/block_inverse.cuh"
#include "curve/cuda/point.cuh"
#include "curve/testing.h"
#include "gpu/launch.cuh"
#include "gpu/testing.h"

namespace cuzk {
namespace {

template <class F>
G1Affine to_affine(const device::Jacobian<F>& p) {
  if (p.is_infinity()) return G1Affine::infinity();
  const F inverse = p.z.inverse(), square = inverse.square();
  return {p.x * square, p.y * square * inverse};
}

// Jacobian against Xyzz, on the host: every pair of some points in several representations.
TEST(Jacobian, EqualsXyzz) {
  auto random = testing::rng(1);
  std::vector<G1Affine> points = {G1Affine::infinity(),
                                  g1_generator(),
                                  -g1_generator(),
                                  {Fp::zero(), Fp::from_u64(2)},  // of order 3
                                  {Fp::zero(), -Fp::from_u64(2)}};
  for (int i = 0; i < 3; i++) points.push_back(testing::random_curve_point<Fp>(random));
  points.push_back((G1::from_affine(points.back()) + points[5]).to_affine());
  using Point = device::Jacobian<Fp>;
  const auto scaled = [&](const G1Affine& p) {
    Point out = Point::from(p);
    const Fp s = testing::random_field<Fp>(random), square = s.square();
    return Point{out.x * square, out.y * square * s, out.z * s};
  };
  for (const G1Affine& a : points) {
    EXPECT_EQ(to_affine(scaled(a).dbl()), G1::from_affine(a).dbl().to_affine());
    for (const G1Affine& b : points) {
      const G1Affine sum = (G1::from_affine(a) + b).to_affine();
      EXPECT_EQ(to_affine(scaled(a) + scaled(b)), sum);
      EXPECT_EQ(to_affine(scaled(a) + b), sum);
      EXPECT_EQ(scaled(a).equals(b), a == b);
    }
  }
}

template <unsigned kThreads, class F>
__global__ void invert(const F* in, F* out) {
  __shared__ F heap[2 * kThreads];
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  device::store(out + i, device::block_inverse<kThreads>(device::load(in + i), heap));
}

template <unsigned kThreads, class F>
void check_block_inverse() {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = testing::rng(kThreads);
  std::vector<F> values = {F::one(), -F::one()};
  while (values.size() < 3 * kThreads) values.push_back(testing::random_element<F>(random));
  const gpu::TestArray<F> in{std::span<const F>(values)}, out(values.size());
  const auto stream = gpu::Stream::make(0).value();
  using DeviceField = device::TwinOf<F>;
  void (*const kernel)(const DeviceField*, DeviceField*) = invert<kThreads, DeviceField>;
  ASSERT_TRUE(gpu::launch(stream, kernel, 3, kThreads, 0, in.span().template as<DeviceField>().data,
                          out.span().template as<DeviceField>().data));
  ASSERT_TRUE(stream.synchronize());
  const std::vector<F> got = out.values();
  for (size_t i = 0; i < values.size(); i++) ASSERT_EQ(got[i], values[i].inverse()) << i;
}

TEST(BlockInverse, Fp) {
  check_block_inverse<128, Fp>();
  check_block_inverse<32, Fp>();
}
TEST(BlockInverse, Fp2) { check_block_inverse<64, Fp2>(); }

}  // namespace
}  // namespace cuzk
