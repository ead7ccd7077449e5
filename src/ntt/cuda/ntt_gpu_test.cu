#include <gtest/gtest.h>

#include "base/testing.h"
#include "gpu/testing.h"
#include "ntt/cuda/ntt.h"

namespace cuzk::ntt {
namespace {

std::vector<Fr> random_vector(size_t size, uint64_t stream) {
  auto random = testing::rng(stream);
  std::vector<Fr> out(size);
  for (Fr& value : out) value = Fr::from_raw({random(), random(), random(), random() >> 2});
  return out;
}

// coefficients[reverse of i] *= shift^i
void scale_by_powers(std::vector<Fr>& coefficients, const Fr& shift, exec::Pool& pool) {
  bit_reverse(coefficients, pool);
  Fr power = Fr::one();
  for (Fr& value : coefficients) value *= power, power *= shift;
  bit_reverse(coefficients, pool);
}

// The polynomial with these coefficients in bit-reversed order at x: even coefficients are the first half.
Fr value_at(std::span<const Fr> coefficients, const Fr& x) {
  if (coefficients.size() == 1) return coefficients[0];
  const size_t half = coefficients.size() / 2;
  const Fr square = x.square();
  return value_at(coefficients.first(half), square) + x * value_at(coefficients.subspan(half), square);
}

// A domain and a vector on the device.
class Transforms {
 public:
  explicit Transforms(unsigned log2_size)
      : tables_(gpu::test_memory(DeviceDomain::bytes(log2_size))),
        domain_(DeviceDomain::make(log2_size, tables_.bytes(), stream_).value()) {}

  std::vector<Fr> evaluate(Points points, const std::vector<Fr>& values) const {
    return run(values, [&](auto span) { return domain_.evaluate(points, span, stream_); });
  }
  std::vector<Fr> interpolate(Points points, const std::vector<Fr>& values) const {
    return run(values, [&](auto span) { return domain_.interpolate(points, span, stream_); });
  }
  std::vector<Fr> interpolate_around(Points points, const std::vector<Fr>& source, const std::vector<Fr>& factor,
                                     const std::vector<Fr>& minuend, const Fr& scale) const {
    const gpu::TestArray<Fr> a{std::span(source)}, b{std::span(factor)}, c{std::span(minuend)};
    const auto in = [](const gpu::TestArray<Fr>& array) { return array.span().as<device::Fr>().as_const(); };
    return run(std::vector<Fr>(source.size()), [&](auto span) {
      return domain_.interpolate(points, span, stream_, {in(a), in(b), in(c), scale});
    });
  }

 private:
  template <class F>
  std::vector<Fr> run(const std::vector<Fr>& values, const F& transform) const {
    const gpu::TestArray<Fr> array{std::span(values)};
    EXPECT_TRUE(transform(array.span().as<device::Fr>()));
    EXPECT_TRUE(stream_.synchronize());
    return array.values();
  }

  gpu::Stream stream_ = gpu::Stream::make(0).value();
  gpu::DeviceMemory tables_;
  DeviceDomain domain_;
};

void expect_equal(const std::vector<Fr>& got, const std::vector<Fr>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); i++) ASSERT_EQ(got[i], want[i]) << "index " << i;
}

class NttGpu : public ::testing::TestWithParam<unsigned> {};

// Against the CPU's transforms of the subgroup; the coset is a scaling of the coefficients.
TEST_P(NttGpu, EqualsCpu) {
  CUZK_SKIP_WITHOUT_DEVICE();
  const unsigned log2_size = GetParam();
  exec::Pool pool(2);
  const Domain cpu(log2_size, pool);
  const Transforms gpu(log2_size);
  const size_t size = cpu.size();
  const Fr shift = fr_root_of_unity(log2_size + 1), minus_one = -Fr::one();

  std::vector<std::vector<Fr>> inputs = {random_vector(size, log2_size)};
  if (log2_size <= 16) {
    std::vector<Fr> mixed = random_vector(size, log2_size + 100), last(size);
    for (size_t i = 0; i < size; i += 3) mixed[i] = i % 2 ? minus_one : Fr::zero();
    last.back() = Fr::one();
    inputs.insert(inputs.end(), {mixed, last, std::vector<Fr>(size), std::vector<Fr>(size, Fr::one()),
                                 std::vector<Fr>(size, minus_one)});
  }

  for (const auto& input : inputs) {
    auto want = input;
    cpu.evaluate(Points::kSubgroup, want, pool);
    expect_equal(gpu.evaluate(Points::kSubgroup, input), want);
    expect_equal(gpu.interpolate(Points::kSubgroup, want), input);

    want = input;
    scale_by_powers(want, shift, pool);
    cpu.evaluate(Points::kSubgroup, want, pool);
    expect_equal(gpu.evaluate(Points::kCoset, input), want);
    expect_equal(gpu.interpolate(Points::kCoset, want), input);

    want = input;
    cpu.interpolate(Points::kSubgroup, want, pool);
    expect_equal(gpu.interpolate(Points::kSubgroup, input), want);
    scale_by_powers(want, shift.inverse(), pool);
    expect_equal(gpu.interpolate(Points::kCoset, input), want);
  }
}

TEST_P(NttGpu, InterpolatesAround) {
  CUZK_SKIP_WITHOUT_DEVICE();
  const unsigned log2_size = GetParam();
  exec::Pool pool(2);
  const Domain cpu(log2_size, pool);
  const Transforms gpu(log2_size);
  const Fr shift = fr_root_of_unity(log2_size + 1), scale = Fr::from_u64(12345).inverse();
  const auto source = random_vector(cpu.size(), 1), factor = random_vector(cpu.size(), 2),
             minuend = random_vector(cpu.size(), 3);
  for (const Points points : {Points::kSubgroup, Points::kCoset}) {
    auto want = source;
    for (size_t i = 0; i < want.size(); i++) want[i] *= factor[i];
    cpu.interpolate(Points::kSubgroup, want, pool);
    if (points == Points::kCoset) scale_by_powers(want, shift.inverse(), pool);
    for (size_t i = 0; i < want.size(); i++) want[i] = minuend[i] - scale * want[i];
    expect_equal(gpu.interpolate_around(points, source, factor, minuend, scale), want);
  }
}

// All tile shapes, one and two passes; 19 and 20 have three, and computed twiddles.
INSTANTIATE_TEST_SUITE_P(Sizes, NttGpu, ::testing::Range(0u, 17u));
INSTANTIATE_TEST_SUITE_P(Large, NttGpu, ::testing::Values(18u, 19u, 20u));

// Single values at sizes where the CPU takes long.
TEST(NttGpuLarge, Values) {
  CUZK_SKIP_WITHOUT_DEVICE();
  auto random = testing::rng(5);
  for (const unsigned log2_size : {22u, 23u}) {
    const Transforms gpu(log2_size);
    const auto coefficients = random_vector(size_t{1} << log2_size, log2_size);
    const Fr root = fr_root_of_unity(log2_size), shift = fr_root_of_unity(log2_size + 1);
    for (const Points points : {Points::kSubgroup, Points::kCoset}) {
      const auto values = gpu.evaluate(points, coefficients);
      for (const size_t i : {size_t{0}, size_t{1}, values.size() - 1, random() % values.size()}) {
        const Fr x = root.pow(i) * (points == Points::kCoset ? shift : Fr::one());
        ASSERT_EQ(values[i], value_at(coefficients, x)) << "2^" << log2_size << " index " << i;
      }
      expect_equal(gpu.interpolate(points, values), coefficients);
    }
  }
}

TEST(NttGpuErrors, AreReturned) {
  EXPECT_LT(DeviceDomain::bytes(27), 36u << 20);
  gpu::DeviceSpan<std::byte> none;
  const gpu::Stream stream;
  EXPECT_EQ(DeviceDomain::make(31, none, stream).error().code, Code::kInvalidInput);
  EXPECT_EQ(DeviceDomain::make(10, none, stream).error().code, Code::kInvalidInput);
  CUZK_SKIP_WITHOUT_DEVICE();
  const gpu::Stream real = gpu::Stream::make(0).value();
  const auto memory = gpu::test_memory(DeviceDomain::bytes(4));
  const auto domain = DeviceDomain::make(4, memory.bytes(), real).value();
  EXPECT_FALSE(domain.evaluate(Points::kSubgroup, memory.bytes().as<device::Fr>().first(8), real));
  EXPECT_FALSE(domain.interpolate(Points::kSubgroup, memory.bytes().as<device::Fr>().first(8), real));
}

}  // namespace
}  // namespace cuzk::ntt
