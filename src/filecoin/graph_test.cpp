#include "filecoin/graph.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cuzk::filecoin {
namespace {

Bytes32 porep_id(uint8_t number) {
  Bytes32 out{};
  out[0] = number;
  return out;
}

TEST(Graph, PublishedParents) {  // filecoin-spec C.9
  struct Case {
    uint8_t proof;
    unsigned log2_nodes;
    ApiVersion api;
    uint64_t node;
    std::array<uint64_t, 6> drg;
    std::array<uint64_t, 8> expander;
  };
  const auto v0 = ApiVersion::kV1_0, v1 = ApiVersion::kV1_1;
  const Case cases[] = {
      {5, 6, v1, 2, {1, 1, 1, 0, 1, 0}, {30, 28, 55, 63, 63, 36, 37, 36}},
      {5, 6, v1, 63, {62, 15, 42, 62, 61, 62}, {0, 15, 30, 30, 28, 42, 49, 38}},
      {0, 6, v0, 63, {62, 61, 56, 62, 37, 62}, {49, 37, 35, 41, 52, 50, 54, 5}},
      {8,
       30,
       v1,
       1000,
       {999, 999, 993, 999, 987, 994},
       {610880257, 52958456, 114467229, 442886740, 935021104, 986163808, 486080124, 611062435}},
      {8,
       30,
       v1,
       1073741823,
       {1073741822, 1073258530, 440642413, 663190843, 1073741654, 1073741786},
       {307718517, 715446084, 558280128, 265147410, 110937796, 626719228, 201839602, 653041812}},
      {3,
       30,
       v0,
       123456789,
       {41130102, 123453260, 122832029, 14654775, 123356737, 123456788},
       {20305614, 169978765, 305554723, 252811519, 482886680, 302671174, 307841414, 121507768}},
      {9,
       31,
       v1,
       2000000000,
       {1999999999, 1999999993, 1962647136, 1999999788, 1999999886, 1997861841},
       {1730961925, 2119997413, 1977501823, 1992944041, 1633349287, 1587301929, 987065099, 1150277945}},
      {4,
       31,
       v0,
       2000000000,
       {1035129811, 1999996689, 1999999508, 1999999877, 1999999999, 1999999999},
       {37118198, 22298185, 424640828, 414216723, 407927105, 293095999, 195376189, 514770858}},
  };
  for (const Case& c : cases) {
    const Graph graph(uint64_t{1} << c.log2_nodes, c.api, porep_id(c.proof));
    EXPECT_EQ(graph.drg_parents(c.node), c.drg) << "proof " << int{c.proof} << " node " << c.node;
    EXPECT_EQ(graph.expander_parents(c.node), c.expander) << "proof " << int{c.proof} << " node " << c.node;
  }
}

// Eight edges leave every node, because the expander is a permutation of 8 copies of the nodes. 2^7 nodes make the
// network's domain, 4^5, exactly; 2^6 makes it walk cycles.
TEST(Graph, ExpanderIsRegular) {
  for (unsigned log2_nodes : {1u, 6u, 7u, 11u}) {
    const Graph graph(uint64_t{1} << log2_nodes, ApiVersion::kV1_1, porep_id(5));
    std::vector<unsigned> children(graph.nodes());
    for (uint64_t node = 0; node < graph.nodes(); node++) {
      for (uint64_t parent : graph.expander_parents(node)) children.at(parent)++;
    }
    EXPECT_EQ(std::ranges::count(children, kExpanderDegree), static_cast<long>(graph.nodes()));
  }
}

TEST(Graph, DrgParentsComeBefore) {
  for (ApiVersion api : {ApiVersion::kV1_0, ApiVersion::kV1_1, ApiVersion::kV1_2}) {
    const Graph graph(2048, api, porep_id(9));
    EXPECT_EQ(graph.drg_parents(0), (std::array<uint64_t, 6>{}));
    EXPECT_EQ(graph.drg_parents(1), (std::array<uint64_t, 6>{}));
    for (uint64_t node = 2; node < graph.nodes(); node++) {
      const auto parents = graph.drg_parents(node);
      EXPECT_LT(*std::ranges::max_element(parents), node);
      EXPECT_EQ(api == ApiVersion::kV1_0 ? parents.back() : parents.front(), node - 1);
    }
  }
}

}  // namespace
}  // namespace cuzk::filecoin
