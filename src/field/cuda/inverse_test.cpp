// The device's text, run on the host.
#include <gtest/gtest.h>

#include "base/testing.h"
#include "field/cuda/montgomery.cuh"

namespace cuzk {
namespace {

template <class Host>
class DeviceInverse : public ::testing::Test {};
using Fields = ::testing::Types<Fr, Fp>;
TYPED_TEST_SUITE(DeviceInverse, Fields);

TYPED_TEST(DeviceInverse, EqualsHost) {
  using Host = TypeParam;
  std::mt19937_64 random = testing::rng();
  std::vector<Host> values = {Host::zero(), Host::one(), -Host::one()};
  for (unsigned bit = 0; bit < 64 * Host::kLimbs - 4; bit++) {
    typename Host::Limbs limbs{};
    limbs[bit / 64] = uint64_t{1} << (bit % 64);
    values.push_back(Host::from_raw(limbs));
    values.push_back(-Host::from_raw(limbs));
  }
  for (int i = 0; i < 20000; i++) values.push_back(testing::random_field<Host>(random));
  for (const Host& value : values) {
    ASSERT_EQ(device::Element<Host>::from_host(value).inverse().to_host(), value.inverse()) << value.raw()[0];
  }
}

}  // namespace
}  // namespace cuzk
