#include "mem/budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "base/testing.h"

namespace cuzk::mem {
namespace {

using Held = Result<std::vector<Reservation>>;

uint64_t reserved(const Budget& budget, size_t pool = 0) { return budget.usage()[pool].reserved_bytes; }

TEST(Reservation, AbsorbsAnother) {
  Budget budget({{"host", 100}, {"gpu", 100}});
  Reservation a, b = *budget.reserve({0, 10}), c = *budget.reserve({0, 20}), gpu = *budget.reserve({1, 5});
  ASSERT_TRUE(a.absorb(std::move(b)));
  ASSERT_TRUE(a.absorb(std::move(c)));
  ASSERT_TRUE(a.absorb({}));
  EXPECT_EQ(a.bytes(), 30u);
  EXPECT_EQ(c.bytes(), 0u);
  EXPECT_EQ(reserved(budget), 30u);
  EXPECT_EQ(a.absorb(std::move(gpu)).error().code, Code::kInternal);
  EXPECT_EQ(a.bytes(), 30u);
  EXPECT_EQ(reserved(budget, 1), 0u) << "it was given away";
  a.shrink_to(0);
  EXPECT_EQ(reserved(budget), 0u);
}

// Returns once so many requests are in the queue of the pool.
void until_waiting(const Budget& budget, size_t count, size_t pool = 0) {
  while (budget.usage()[pool].waiting != count) std::this_thread::yield();
}

std::future<Held> reserve_in_thread(Budget& budget, std::vector<Budget::Need> needs, std::stop_token stop = {}) {
  return std::async(std::launch::async, [&budget, needs = std::move(needs), stop = std::move(stop)] {
    return budget.reserve(needs, stop);
  });
}

TEST(Budget, CountsWhatIsHeld) {
  Budget budget({{"host", 100}});
  auto a = budget.reserve({0, 60});
  ASSERT_TRUE(a);
  auto b = budget.reserve({0, 40});
  ASSERT_TRUE(b);
  EXPECT_EQ(reserved(budget), 100u);
  EXPECT_EQ(budget.try_reserve({0, 1}).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(budget.try_reserve({0, 0}));

  auto part = a->split(20);
  ASSERT_TRUE(part);
  EXPECT_EQ(a->bytes(), 40u);
  EXPECT_EQ(part->bytes(), 20u);
  EXPECT_EQ(reserved(budget), 100u);
  EXPECT_EQ(a->split(41).error().code, Code::kInternal);

  part->shrink_to(30);  // it holds less
  EXPECT_EQ(part->bytes(), 20u);
  part->shrink_to(5);
  EXPECT_EQ(reserved(budget), 85u);
  Reservation moved = std::move(*a);
  EXPECT_EQ(a->bytes(), 0u);
  moved = Reservation();
  EXPECT_EQ(reserved(budget), 45u);
  moved = std::move(*b);
  EXPECT_EQ(reserved(budget), 45u);
  moved.shrink_to(0);
  part = Reservation();
  EXPECT_EQ(reserved(budget), 0u);
  EXPECT_EQ(budget.usage()[0].high_water_bytes, 100u);
}

TEST(Budget, RefusesAtOnceWhatCanNeverFit) {
  Budget budget({{"host", 100}, {"gpu0", 10}});
  const auto all = budget.reserve({0, 100});
  ASSERT_TRUE(all);
  const auto refused = budget.reserve({0, 101});  // does not wait, though the pool is full
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kTooLarge);
  EXPECT_NE(refused.error().message.find("host"), std::string::npos);
  const Budget::Need sum[] = {{1, 5}, {1, 6}}, wraps[] = {{1, 5}, {1, UINT64_MAX}};
  EXPECT_EQ(budget.reserve(sum).error().code, Code::kTooLarge);
  EXPECT_EQ(budget.reserve(wraps).error().code, Code::kTooLarge);
  EXPECT_EQ(budget.reserve({2, 1}).error().code, Code::kInternal);
  EXPECT_EQ(reserved(budget, 1), 0u);
}

TEST(Budget, ServesInOrderOfArrival) {
  Budget budget({{"host", 100}});
  auto all = budget.reserve({0, 100});
  ASSERT_TRUE(all);
  std::mutex mutex;
  std::vector<size_t> order;
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < 8; i++) {
    threads.emplace_back([&, i] {
      const auto mine = budget.reserve({0, 51 + i});  // two never fit together
      std::lock_guard lock(mutex);
      order.push_back(i);
    });
    until_waiting(budget, i + 1);
  }
  all->shrink_to(0);
  threads.clear();
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(reserved(budget), 0u);
}

TEST(Budget, SmallDoesNotOvertakeLarge) {
  Budget budget({{"host", 100}});
  auto held = budget.reserve({0, 60});
  std::stop_source stop;
  auto large = reserve_in_thread(budget, {{0, 50}}, stop.get_token());
  until_waiting(budget, 1);
  EXPECT_EQ(budget.try_reserve({0, 10}).error().code, Code::kResourceExhausted);
  auto small = reserve_in_thread(budget, {{0, 10}});
  until_waiting(budget, 2);
  EXPECT_EQ(reserved(budget), 60u);
  stop.request_stop();  // the one in front leaves the queue, the one behind is served
  EXPECT_EQ(large.get().error().code, Code::kCancelled);
  ASSERT_TRUE(small.get());
  EXPECT_EQ(budget.usage()[0].waiting, 0u);
}

TEST(Budget, TakesAllPoolsOrNone) {
  Budget budget({{"host", 100}, {"gpu0", 100}, {"gpu1", 100}});
  auto device = budget.reserve({1, 80});
  auto both = reserve_in_thread(budget, {{0, 50}, {1, 50}, {0, 25}});
  until_waiting(budget, 1, 1);
  EXPECT_EQ(reserved(budget, 0), 0u);  // it holds nothing of the pool that has room
  EXPECT_EQ(budget.try_reserve({0, 1}).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(budget.try_reserve({2, 100}));  // a pool that it does not wait for
  device->shrink_to(50);
  auto parts = both.get();
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 3u);
  EXPECT_EQ((*parts)[0].bytes(), 50u);
  EXPECT_EQ((*parts)[2].bytes(), 25u);
  EXPECT_EQ(reserved(budget, 0), 75u);
  EXPECT_EQ(reserved(budget, 1), 100u);
}

TEST(Budget, ReservationOutlivesItsBudget) {
  Reservation survivor;
  {
    Budget budget({{"host", 10}});
    survivor = std::move(*budget.reserve({0, 10}));
  }
  EXPECT_EQ(survivor.bytes(), 10u);
}

// The budget against a plain list of who holds what and who waits: after each step both must agree on every number.
TEST(Budget, AgreesWithAModel) {
  constexpr size_t kPools = 3;
  constexpr uint64_t kLimit = 16;
  struct Request {
    std::vector<Budget::Need> needs;
    std::stop_source stop;
    std::future<Held> result;
  };
  auto random = testing::rng(1);
  Budget budget({{"a", kLimit}, {"b", kLimit}, {"c", kLimit}});
  std::deque<Request> waiting;
  std::vector<Reservation> held;
  std::vector<size_t> held_pool;
  uint64_t used[kPools] = {}, high_water[kPools] = {};

  const auto names = [](const Request& request, size_t pool) {
    return std::any_of(request.needs.begin(), request.needs.end(),
                       [&](auto& need) { return need.pool == pool && need.bytes; });
  };
  const auto fits = [&](size_t index) {
    uint64_t sum[kPools] = {};
    for (const Budget::Need& need : waiting[index].needs) sum[need.pool] += need.bytes;
    for (size_t pool = 0; pool < kPools; pool++) {
      if (sum[pool] == 0) continue;
      if (used[pool] + sum[pool] > kLimit) return false;
      for (size_t before = 0; before < index; before++) {
        if (names(waiting[before], pool)) return false;
      }
    }
    return true;
  };
  const auto serve = [&] {
    for (size_t index = 0; index < waiting.size();) {
      if (!fits(index)) {
        index++;
        continue;
      }
      auto granted = waiting[index].result.get();
      ASSERT_TRUE(granted);
      for (size_t i = 0; i < granted->size(); i++) {
        const Budget::Need need = waiting[index].needs[i];
        ASSERT_EQ((*granted)[i].bytes(), need.bytes);
        used[need.pool] += need.bytes;
        high_water[need.pool] = std::max(high_water[need.pool], used[need.pool]);
        held.push_back(std::move((*granted)[i]));
        held_pool.push_back(need.pool);
      }
      waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(index));
    }
  };

  for (int step = 0; step < 600; step++) {
    const size_t pick = held.empty() ? 0 : random() % held.size();
    switch (random() % 5) {
      case 0:
      case 1: {  // ask, for one to three needs
        if (waiting.size() == 6) break;
        Request request;
        for (size_t i = random() % 3 + 1; i > 0; i--) request.needs.push_back({random() % kPools, random() % 6});
        request.result = reserve_in_thread(budget, request.needs, request.stop.get_token());
        waiting.push_back(std::move(request));
        if (fits(waiting.size() - 1)) break;
        for (size_t pool = 0; pool < kPools; pool++) {
          if (!names(waiting.back(), pool)) continue;
          const auto before =
              std::count_if(waiting.begin(), waiting.end(), [&](auto& each) { return names(each, pool); });
          until_waiting(budget, static_cast<size_t>(before), pool);
        }
        break;
      }
      case 2:  // give back all of one
        if (held.empty()) break;
        used[held_pool[pick]] -= held[pick].bytes();
        held.erase(held.begin() + static_cast<ptrdiff_t>(pick));
        held_pool.erase(held_pool.begin() + static_cast<ptrdiff_t>(pick));
        break;
      case 3: {  // split one, then give back a part of the rest
        if (held.empty() || held[pick].bytes() == 0) break;
        held.push_back(std::move(*held[pick].split(random() % held[pick].bytes())));
        held_pool.push_back(held_pool[pick]);
        const uint64_t kept = random() % (held[pick].bytes() + 1);
        used[held_pool[pick]] -= held[pick].bytes() - kept;
        held[pick].shrink_to(kept);
        break;
      }
      case 4: {  // somebody loses patience
        if (waiting.empty()) break;
        const auto leaver = waiting.begin() + static_cast<ptrdiff_t>(random() % waiting.size());
        leaver->stop.request_stop();
        ASSERT_EQ(leaver->result.get().error().code, Code::kCancelled);
        waiting.erase(leaver);
        break;
      }
    }
    serve();
    const auto usage = budget.usage();
    for (size_t pool = 0; pool < kPools; pool++) {
      ASSERT_EQ(usage[pool].reserved_bytes, used[pool]) << "step " << step;
      ASSERT_EQ(usage[pool].high_water_bytes, high_water[pool]) << "step " << step;
      ASSERT_EQ(usage[pool].waiting, static_cast<size_t>(std::count_if(waiting.begin(), waiting.end(),
                                                                       [&](auto& each) { return names(each, pool); })))
          << "step " << step;
    }
  }
  for (Request& request : waiting) request.stop.request_stop();
}

TEST(Budget, HoldsItsLimitUnderManyThreads) {
  constexpr uint64_t kLimit = 100;
  Budget budget({{"a", kLimit}, {"b", kLimit}});
  std::atomic<uint64_t> held[2] = {0, 0};
  std::atomic<size_t> breaches = 0;
  {
    std::vector<std::jthread> threads;
    for (uint64_t id = 0; id < 6; id++) {
      threads.emplace_back([&, id] {
        auto random = testing::rng(100 + id);
        for (int i = 0; i < 500; i++) {
          const Budget::Need needs[] = {{0, random() % 60}, {1, random() % 60}};
          auto mine = budget.reserve(needs);
          for (size_t pool = 0; pool < 2; pool++) {
            if (held[pool] += needs[pool].bytes; held[pool] > kLimit) breaches++;
          }
          for (size_t pool = 0; pool < 2; pool++) held[pool] -= needs[pool].bytes;
        }
      });
    }
  }
  EXPECT_EQ(breaches, 0u);
  EXPECT_EQ(reserved(budget, 0), 0u);
  EXPECT_EQ(reserved(budget, 1), 0u);
  EXPECT_LE(budget.usage()[0].high_water_bytes, kLimit);
}

}  // namespace
}  // namespace cuzk::mem
