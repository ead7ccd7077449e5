#include <gtest/gtest.h>

#include "base/testing.h"
#include "field/cuda/montgomery.cuh"
#include "field/tower.h"
#include "gpu/launch.cuh"
#include "gpu/testing.h"

namespace cuzk {
namespace {

// out[5 i ..] = a + b, a - b, a b, a^2, -a
template <class F>
__global__ void operations(const F* a, const F* b, F* out, size_t count) {
  size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  F* to = out + 5 * i;
  to[0] = a[i] + b[i], to[1] = a[i] - b[i], to[2] = a[i] * b[i], to[3] = a[i].square(), to[4] = -a[i];
}

template <class Host>
std::vector<Host> with_edges(std::mt19937_64& random, size_t count) {
  std::vector<Host> values = {Host::zero(), Host::one(), -Host::one(), Host::one() + Host::one(),
                              -(Host::one() + Host::one())};
  // Representations that carry far: all ones below the top limb, and the modulus less a power of two.
  for (unsigned bit = 0; bit < 64 * Host::kLimbs - 4; bit++) {
    typename Host::Limbs limbs{};
    limbs[bit / 64] = uint64_t{1} << (bit % 64);
    values.push_back(Host::from_raw(limbs));
    values.push_back(-Host::from_raw(limbs));
    values.push_back(Host::from_raw(limbs) - Host::from_raw({1}));
  }
  while (values.size() < count) {
    typename Host::Limbs wide;
    for (uint64_t& limb : wide) limb = random();
    values.push_back(Host::from_wide(wide));
    // Half of the 32-bit words all zeros or ones: sums that random words meet once in 2^32 are met often.
    for (uint64_t& limb : wide) {
      for (const uint64_t word : {uint64_t{0xffffffff}, uint64_t{0xffffffff} << 32}) {
        const uint64_t kind = random() % 4;
        if (kind == 0) limb |= word;
        if (kind == 1) limb &= ~word;
      }
    }
    wide.back() %= Host::kModulus.back();
    values.push_back(Host::from_raw(wide));
  }
  return values;
}

template <class Device, class Host>
void check_operations() {
  CUZK_SKIP_WITHOUT_DEVICE();
  std::mt19937_64 random(testing::seed());
  std::vector<Host> a = with_edges<Host>(random, 100000), b = a;
  std::shuffle(b.begin(), b.end(), random);
  for (size_t i = 0; i < 100; i++) b[i] = a[i];     // equal
  for (size_t i = 100; i < 200; i++) b[i] = -a[i];  // opposite
  static_assert(sizeof(Device) == sizeof(Host));
  auto bytes = [](const std::vector<Host>& v) {
    return std::span(reinterpret_cast<const Device*>(v.data()), v.size());
  };
  gpu::TestArray<Device> in_a(bytes(a)), in_b(bytes(b)), out(5 * a.size());
  auto stream = gpu::Stream::make(0).value();
  ASSERT_TRUE(gpu::launch(stream, operations<Device>, gpu::blocks_for(a.size(), 128), 128, 0, in_a.span().data,
                          in_b.span().data, out.span().data, a.size()));
  ASSERT_TRUE(stream.synchronize());
  std::vector<Device> got = out.values();
  for (size_t i = 0; i < a.size(); i++) {
    const Host want[5] = {a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i].square(), -a[i]};
    for (size_t k = 0; k < 5; k++)
      ASSERT_EQ(got[5 * i + k].to_host(), want[k]) << "operation " << k << " of pair " << i;
  }
}

// out[5 i ..] = a b by the general product; a by factors whose 4 and 8 pieces are b[i], b[i + 1] ...; a + 2b and a - 2b
// by way of values that are not below r.
__global__ void fr_operations(const device::Fr* a, const device::Fr* b, device::Fr* out, size_t count) {
  size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i >= count) return;
  device::Fr* to = out + 5 * i;
  const auto piece = [&](unsigned k) { return b[(i + k) % count]; };
  to[0] = a[i].multiply(b[i]);
  to[1] = device::fr::mul_prepared<4>(a[i], piece);
  to[2] = device::fr::mul_prepared<8>(a[i], piece);
  to[3] = device::fr::add_lazy(device::fr::add_lazy(a[i], b[i]), b[i]);
  to[4] = device::fr::sub_lazy(device::fr::sub_lazy(a[i], b[i]), b[i]);
  for (unsigned k = 1; k < 5; k++) to[k].subtract_modulus();
}

template <class F>
__global__ void inverses(const F* a, F* out, size_t count) {
  size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = a[i].inverse();
}

template <class Device, class Host>
void check_inverses() {
  CUZK_SKIP_WITHOUT_DEVICE();
  std::mt19937_64 random(testing::seed());
  std::vector<Host> a = with_edges<Host>(random, 4000);
  gpu::TestArray<Device> in(std::span(reinterpret_cast<const Device*>(a.data()), a.size())), out(a.size());
  auto stream = gpu::Stream::make(0).value();
  ASSERT_TRUE(gpu::launch(stream, inverses<Device>, gpu::blocks_for(a.size(), 64), 64, 0, in.span().data,
                          out.span().data, a.size()));
  ASSERT_TRUE(stream.synchronize());
  std::vector<Device> got = out.values();
  for (size_t i = 0; i < a.size(); i++) ASSERT_EQ(got[i].to_host(), a[i].inverse()) << i;
}

TEST(DeviceField, FrOperations) {
  CUZK_SKIP_WITHOUT_DEVICE();
  std::mt19937_64 random(testing::seed());
  const size_t count = 100000;
  std::vector<Fr> a = with_edges<Fr>(random, count), b = a;
  std::shuffle(b.begin(), b.end(), random);
  const gpu::TestArray<Fr> in_a{std::span(a)}, in_b{std::span(b)}, out(5 * a.size());
  const auto at = [](const gpu::TestArray<Fr>& array) { return array.span().as<device::Fr>().data; };
  auto stream = gpu::Stream::make(0).value();
  ASSERT_TRUE(gpu::launch(stream, fr_operations, gpu::blocks_for(a.size(), 128), 128, 0, at(in_a), at(in_b), at(out),
                          a.size()));
  ASSERT_TRUE(stream.synchronize());
  const std::vector<Fr> got = out.values();
  // sum over the pieces x_k of the representation of x, of x_k b[i + k] / R
  const auto by_pieces = [&](size_t i, unsigned pieces) {
    const auto raw = a[i].raw();
    Fr sum;
    for (unsigned k = 0; k < pieces; k++) {
      const uint64_t piece = pieces == 4 ? raw[k] : raw[k / 2] >> (32 * (k % 2)) & 0xffffffff;
      sum += Fr::from_u64(piece) * b[(i + k) % b.size()];
    }
    return sum * Fr::from_u64(2).pow(pieces == 4 ? 96 : 64).inverse();
  };
  for (size_t i = 0; i < a.size(); i++) {
    const Fr want[5] = {a[i] * b[i], by_pieces(i, 4), by_pieces(i, 8), a[i] + b[i] + b[i], a[i] - b[i] - b[i]};
    for (size_t k = 0; k < 5; k++) ASSERT_EQ(got[5 * i + k], want[k]) << "operation " << k << " of pair " << i;
  }
}

TEST(DeviceField, FrInverses) { check_inverses<device::Fr, Fr>(); }
TEST(DeviceField, FpInverses) { check_inverses<device::Fp, Fp>(); }
TEST(DeviceField, FrEqualsHost) { check_operations<device::Fr, Fr>(); }
TEST(DeviceField, FpEqualsHost) { check_operations<device::Fp, Fp>(); }

}  // namespace
}  // namespace cuzk
