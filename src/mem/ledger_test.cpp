#include "mem/ledger.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/testing.h"

namespace cuzk::mem {
namespace {

TEST(Ledger, CountsLiveObjects) {
  Ledger ledger({{"witness"}, {"params", false}});
  EXPECT_TRUE(ledger.idle());
  auto params = ledger.add(1, 1000);
  EXPECT_TRUE(ledger.idle());  // parameters stay when no job is there
  {
    auto a = ledger.add(0, 10);
    auto b = ledger.add(0, 20);
    b.resize(5);
    Ledger::Entry moved = std::move(a);
    EXPECT_EQ(moved.bytes(), 10u);
    const auto lines = ledger.lines();
    EXPECT_EQ(lines[0].name, "witness");
    EXPECT_EQ(lines[0].bytes, 15u);
    EXPECT_EQ(lines[0].objects, 2u);
    EXPECT_EQ(lines[0].high_water_bytes, 30u);
    moved = Ledger::Entry();
    EXPECT_EQ(ledger.lines()[0].bytes, 5u);
    EXPECT_FALSE(ledger.idle());
    b.resize(0);
    EXPECT_FALSE(ledger.idle());  // an empty object is still one
  }
  EXPECT_TRUE(ledger.idle());
  EXPECT_EQ(ledger.lines()[0].high_water_objects, 2u);
  EXPECT_EQ(ledger.lines()[1].bytes, 1000u);
}

TEST(Ledger, AgreesWithASumOverLiveEntries) {
  auto random = testing::rng(2);
  Ledger ledger({{"a"}, {"b"}});
  std::vector<std::pair<size_t, Ledger::Entry>> live;
  uint64_t high_water = 0;
  for (int step = 0; step < 3000; step++) {
    const size_t pick = live.empty() ? 0 : random() % live.size();
    if (live.empty() || random() % 3 == 0) {
      const size_t index = random() % 2;
      live.emplace_back(index, ledger.add(index, random() % 100));
    } else if (random() % 2 == 0) {
      live[pick].second.resize(random() % 100);
    } else {
      std::swap(live[pick], live.back());
      live.pop_back();
    }
    uint64_t bytes[2] = {}, objects[2] = {};
    for (const auto& [index, entry] : live) {
      bytes[index] += entry.bytes();
      objects[index]++;
    }
    high_water = std::max(high_water, bytes[0]);
    const auto lines = ledger.lines();
    for (size_t i = 0; i < 2; i++) {
      ASSERT_EQ(lines[i].bytes, bytes[i]);
      ASSERT_EQ(lines[i].objects, objects[i]);
    }
    ASSERT_EQ(lines[0].high_water_bytes, high_water);
  }
}

TEST(Ledger, CountsFromManyThreads) {
  Ledger ledger({{"a"}});
  {
    std::vector<std::jthread> threads;
    for (int id = 0; id < 4; id++) {
      threads.emplace_back([&] {
        for (uint64_t i = 0; i < 2000; i++) ledger.add(0, i).resize(i / 2);
      });
    }
  }
  const auto line = ledger.lines()[0];
  EXPECT_TRUE(ledger.idle());
  EXPECT_GE(line.high_water_bytes, 1999u);
  EXPECT_LE(line.high_water_objects, 4u);
}

}  // namespace
}  // namespace cuzk::mem
