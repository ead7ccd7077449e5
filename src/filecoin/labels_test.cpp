#include "filecoin/labels.h"

#include <gtest/gtest.h>

namespace cuzk::filecoin {
namespace {

TEST(Labels, PublishedLastLabels) {  // filecoin-spec H.5, pinned by the reference's own tests
  struct Case {
    uint64_t nodes;
    uint8_t porep_id;
    ApiVersion api;
    std::array<uint64_t, 4> label;
  };
  const std::array<uint64_t, 4> label64 = {0xabb3f38bb70defcf, 0x777a2e4d7769119f, 0x3448959d495490bc,
                                           0x06021188c7a71cb5};
  const std::array<uint64_t, 4> label128 = {0x22ab81cf68c4676d, 0x7a77a82fc7c9c189, 0xc6c03d32c1e42d23,
                                            0x0f777c18cc2c55bd};
  const Case cases[] = {
      {64, 0, ApiVersion::kV1_0, {0xd3faa96b9a0fba04, 0xea81a283d106485e, 0xe3d51b9afa5ac2b3, 0x0462f4f4f1a68d37}},
      {128, 0, ApiVersion::kV1_0, {0x7e191e52c4a8da86, 0x5ae8a1c9e6fac148, 0xce239f3b88a894b8, 0x234c00d1dc1d53be}},
      {64, 0x7b, ApiVersion::kV1_1, label64},
      {64, 0x7b, ApiVersion::kV1_2, label64},
      {128, 0x7b, ApiVersion::kV1_1, label128},
      {128, 0x7b, ApiVersion::kV1_2, label128},
  };
  Bytes32 replica_id;
  replica_id.fill(9);
  for (const Case& c : cases) {
    Bytes32 porep_id;
    porep_id.fill(c.porep_id);
    const auto labels = label_sector(Graph(c.nodes, c.api, porep_id), 11, replica_id);
    Bytes32 expected;
    for (size_t i = 0; i < 4; i++) store_le(expected.data() + 8 * i, c.label[i]);
    EXPECT_EQ(to_hex(labels[10][c.nodes - 1]), to_hex(expected));
  }
}

}  // namespace
}  // namespace cuzk::filecoin
