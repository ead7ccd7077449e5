#include "exec/pool.h"

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "base/testing.h"
#include "exec/meter.h"

namespace cuzk::exec {
namespace {

class PoolOf : public ::testing::TestWithParam<size_t> {
 protected:
  Pool pool_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Threads, PoolOf, ::testing::Values(1, 2, 3, 8));

TEST_P(PoolOf, HasThatManyThreads) {
  EXPECT_EQ(pool_.threads(), GetParam());
  EXPECT_GE(Pool().threads(), 1u);
}

TEST_P(PoolOf, CoversEveryIndexOnceInPiecesOfTheGrain) {
  for (const size_t count : {0, 1, 2, 3, 7, 8, 9, 1000, 1023, 1024, 1025}) {
    for (const size_t grain : {0, 1, 2, 7, 8, 64, 1000, 5000}) {
      std::vector<std::atomic<int>> visits(count);
      std::atomic<size_t> pieces = 0, faults = 0;
      pool_.for_each_chunk(count, grain, [&](size_t begin, size_t end) {
        pieces++;
        if (begin >= end || end > count || end - begin > std::max<size_t>(grain, 1)) faults++;
        for (size_t i = begin; i < end; i++) visits[i]++;
      });
      EXPECT_EQ(faults, 0u);
      for (const auto& each : visits) EXPECT_EQ(each, 1);
      const size_t piece = std::max<size_t>(grain, 1);
      EXPECT_EQ(pieces, (count + piece - 1) / piece);
    }
  }
}

// Writes of the body are visible to the caller afterwards, without atomics: ThreadSanitizer watches this one.
TEST_P(PoolOf, ResultsAreVisibleWhenTheLoopReturns) {
  auto random = testing::rng(1);
  std::vector<uint64_t> in(10007), out(in.size());
  for (uint64_t& value : in) value = random();
  for (int round = 0; round < 20; round++) {
    pool_.for_each_chunk(in.size(), 100, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; i++) out[i] = out[i] + in[i] * in[i];
    });
  }
  for (size_t i = 0; i < in.size(); i++) ASSERT_EQ(out[i], 20 * in[i] * in[i]);
}

TEST_P(PoolOf, LoopsNest) {
  std::vector<uint64_t> sums(20);
  pool_.for_each(sums.size(), [&](size_t i) {
    std::vector<uint64_t> row(100);
    pool_.for_each_chunk(row.size(), 3, [&](size_t begin, size_t end) {
      for (size_t j = begin; j < end; j++) {
        std::atomic<uint64_t> inner = 0;
        pool_.for_each(5, [&](size_t k) { inner += i * j * k; });
        row[j] = inner;
      }
    });
    sums[i] = std::accumulate(row.begin(), row.end(), uint64_t{0});
  });
  for (uint64_t i = 0; i < sums.size(); i++) EXPECT_EQ(sums[i], i * (99 * 100 / 2) * 10);
}

TEST_P(PoolOf, SeveralThreadsShareIt) {
  std::vector<std::atomic<uint64_t>> sums(4);
  {
    std::vector<std::jthread> callers;
    for (size_t caller = 0; caller < sums.size(); caller++) {
      callers.emplace_back([&, caller] {
        for (int round = 0; round < 50; round++) {
          pool_.for_each_chunk(1000, 10, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; i++) sums[caller] += i;
          });
        }
      });
    }
  }
  for (const auto& sum : sums) EXPECT_EQ(sum, 50u * 999 * 1000 / 2);
}

// From whichever thread it comes; the pool is as good as before.
TEST_P(PoolOf, WhatABodyThrowsReachesTheCaller) {
  for (size_t bad = 0; bad < 100; bad++) {
    std::atomic<size_t> begun = 0, left = 0;
    auto body = [&](size_t i) {
      begun++;
      if (i == bad) throw std::out_of_range(std::to_string(i));
      left++;
    };
    try {
      pool_.for_each(100, body);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::out_of_range& thrown) {
      EXPECT_EQ(thrown.what(), std::to_string(bad));
    }
    EXPECT_EQ(left, begun - 1) << "no piece is in progress";
  }
  std::atomic<size_t> sum = 0;
  pool_.for_each(100, [&](size_t i) { sum += i; });
  EXPECT_EQ(sum, 4950u);
}

// As many pieces as threads, each waiting for all the others: it ends only if they run at the same time.
TEST_P(PoolOf, UsesAllItsThreads) {
  std::latch all(static_cast<ptrdiff_t>(pool_.threads()));
  std::mutex mutex;
  std::set<std::thread::id> threads;
  pool_.for_each(pool_.threads(), [&](size_t) {
    all.arrive_and_wait();
    std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), pool_.threads());
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

// Loops of no urgency run in the background; each of their threads may have begun one more piece before it saw that it
// has to wait.
TEST_P(PoolOf, StandsStillForWhatIsUrgent) {
  std::atomic<bool> going = true;
  std::atomic<size_t> pieces = 0;
  std::jthread background([&] {
    while (going) {
      pool_.for_each(64, [&](size_t) {
        pieces++;
        pieces.notify_all();
      });
    }
  });
  pieces.wait(0);
  for (const unsigned level : {1u, Pool::kMostUrgent}) {
    size_t before = 0;
    {
      const Pool::Urgency urgency(pool_, level);
      before = pieces;
      for (int round = 0; round < 100; round++) {
        std::vector<std::atomic<int>> visits(100);
        pool_.for_each(visits.size(), [&](size_t i) {
          pool_.for_each(3, [&](size_t) { visits[i]++; });  // of the same level, on any thread
        });
        for (const auto& each : visits) ASSERT_EQ(each, 3);
      }
      EXPECT_LE(pieces, before + pool_.threads() + 1);
    }
    before = pieces;
    pieces.wait(before);  // it goes on
  }
  going = false;
}

TEST_P(PoolOf, UrgenciesNest) {
  std::atomic<size_t> done = 0;
  const Pool::Urgency outer(pool_, 1);
  {
    const Pool::Urgency inner(pool_, 2);
    pool_.for_each(100, [&](size_t) { done++; });
  }
  std::jthread other([&] {
    const Pool::Urgency urgency(pool_, 1);
    pool_.for_each(100, [&](size_t) { done++; });
  });
  pool_.for_each(100, [&](size_t) { done++; });
  other.join();
  EXPECT_EQ(done, 300u);
}

TEST(Pool, StartsAndStopsManyTimes) {
  std::atomic<size_t> total = 0;
  for (size_t i = 0; i < 100; i++) {
    Pool pool(1 + i % 4);
    if (i % 2 == 0) pool.for_each(i, [&](size_t) { total++; });
  }
  EXPECT_EQ(total, 50u * 49);
}

// Of a thread or of the process.
std::chrono::nanoseconds time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}
void burn(std::chrono::nanoseconds wanted) {
  for (const auto begin = time_of(CLOCK_THREAD_CPUTIME_ID); time_of(CLOCK_THREAD_CPUTIME_ID) - begin < wanted;) {
  }
}

// Beside loops of another thread, which are not counted.
TEST_P(PoolOf, AMeterCountsWhatAllThreadsDoForItsThread) {
  using namespace std::chrono_literals;
  const auto before = time_of(CLOCK_PROCESS_CPUTIME_ID);
  std::atomic<bool> going = true;
  std::atomic<size_t> others = 0;
  std::jthread background([&] {
    while (going) pool_.for_each(4, [&](size_t) { burn(1ms), others++; });
  });
  std::chrono::nanoseconds outer, inner;
  {
    const Meter meter;
    pool_.for_each(8, [&](size_t) { pool_.for_each(2, [&](size_t) { burn(1ms); }); });
    {
      const Meter nested;
      pool_.for_each(4, [&](size_t) { burn(1ms); });
      inner = nested.spent();
    }
    outer = meter.spent();
  }
  going = false;
  background.join();
  EXPECT_GE(inner, 4ms);
  EXPECT_GE(outer, 16ms + inner);
  EXPECT_LE(outer + others.load() * 1ms, time_of(CLOCK_PROCESS_CPUTIME_ID) - before);
}

}  // namespace
}  // namespace cuzk::exec
