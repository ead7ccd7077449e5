#include "mem/budget.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>

#include "base/bytes.h"

namespace cuzk::mem {

struct Budget::State {
  struct Account {
    Pool pool;
    uint64_t reserved = 0, high_water = 0;
    bool blocked = false;  // serve()
  };
  // A request in the queue; on the stack of the thread that waits.
  struct Ticket {
    std::vector<uint64_t> bytes;  // by pool
    bool granted = false;
  };

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::vector<Account> accounts;
  std::list<Ticket*> queue;  // in order of arrival

  // Grants, in order, what has room and no earlier request waiting for the same pool. Under the mutex. Takes no memory,
  // as it is called to give some back.
  void serve() {
    for (Account& account : accounts) account.blocked = false;
    bool any = false;
    for (auto next = queue.begin(); next != queue.end();) {
      Ticket& ticket = **next;
      bool fits = true;
      for (size_t i = 0; i < accounts.size(); i++) {
        const uint64_t room = accounts[i].pool.limit_bytes - accounts[i].reserved;
        if (ticket.bytes[i] > 0 && (accounts[i].blocked || ticket.bytes[i] > room)) fits = false;
      }
      for (size_t i = 0; i < accounts.size(); i++) {
        if (!fits) {
          accounts[i].blocked |= ticket.bytes[i] > 0;
          continue;
        }
        accounts[i].reserved += ticket.bytes[i];
        accounts[i].high_water = std::max(accounts[i].high_water, accounts[i].reserved);
      }
      if (fits) ticket.granted = any = true;
      next = fits ? queue.erase(next) : std::next(next);
    }
    if (any) changed.notify_all();
  }

  // Needs summed by pool. kTooLarge names the pool that can never hold them.
  Result<Ticket> ticket(std::span<const Need> needs) const {
    Ticket ticket{std::vector<uint64_t>(accounts.size(), 0)};
    for (const Need& need : needs) {
      if (need.pool >= accounts.size()) return fail(Code::kInternal, "there is no pool {}", need.pool);
      const Pool& pool = accounts[need.pool].pool;
      uint64_t& sum = ticket.bytes[need.pool];
      if (need.bytes > pool.limit_bytes - sum) {
        return fail(Code::kTooLarge,
                    "{} of {} memory are needed at once, its limit is {}: raise the limit or ask for less",
                    need.bytes > UINT64_MAX - sum ? "more than 16EiB" : format_size(sum + need.bytes), pool.name,
                    format_size(pool.limit_bytes));
      }
      sum += need.bytes;
    }
    return ticket;
  }
};

Budget::Budget(std::vector<Pool> pools) : state_(std::make_shared<State>()) {
  for (Pool& pool : pools) state_->accounts.push_back({std::move(pool)});
}

namespace {

Result<Reservation> only(Result<std::vector<Reservation>> reservations) {
  if (!reservations) return tl::unexpected<Error>(std::move(reservations).error());
  return std::move(reservations->front());
}

}  // namespace

Result<std::vector<Reservation>> Budget::reserve(std::span<const Need> needs, std::stop_token stop) {
  CUZK_TRY_ASSIGN(State::Ticket ticket, state_->ticket(needs));
  std::vector<Reservation> reservations;
  reservations.reserve(needs.size());  // nothing may fail once it is granted
  std::unique_lock lock(state_->mutex);
  state_->queue.push_back(&ticket);
  state_->serve();
  if (!state_->changed.wait(lock, stop, [&] { return ticket.granted; })) {
    state_->queue.remove(&ticket);
    state_->serve();  // later requests may fit now
    return fail(Code::kCancelled, "cancelled while waiting for memory");
  }
  lock.unlock();
  for (const Need& need : needs) reservations.push_back(Reservation(state_, need.pool, need.bytes));
  return reservations;
}

Result<std::vector<Reservation>> Budget::try_reserve(std::span<const Need> needs) {
  std::stop_source stopped;
  stopped.request_stop();
  auto reservations = reserve(needs, stopped.get_token());
  if (!reservations && reservations.error().code == Code::kCancelled) {
    return fail(Code::kResourceExhausted, "no room in memory now: try again when running work has finished");
  }
  return reservations;
}

Result<Reservation> Budget::reserve(Need need, std::stop_token stop) {
  return only(reserve(std::span(&need, 1), std::move(stop)));
}
Result<Reservation> Budget::try_reserve(Need need) { return only(try_reserve(std::span(&need, 1))); }

std::vector<Budget::Usage> Budget::usage() const {
  std::lock_guard lock(state_->mutex);
  std::vector<Usage> usage;
  for (size_t i = 0; i < state_->accounts.size(); i++) {
    const State::Account& account = state_->accounts[i];
    const auto waiting = std::count_if(state_->queue.begin(), state_->queue.end(),
                                       [&](const auto* ticket) { return ticket->bytes[i] > 0; });
    usage.push_back({account.pool.name, account.pool.limit_bytes, account.reserved, account.high_water,
                     static_cast<size_t>(waiting)});
  }
  return usage;
}

Reservation::Reservation(std::shared_ptr<Budget::State> state, size_t pool, uint64_t bytes)
    : state_(std::move(state)), pool_(pool), bytes_(bytes) {}

Result<Reservation> Reservation::split(uint64_t bytes) {
  if (bytes > bytes_) {
    return fail(Code::kInternal, "a reservation of {} cannot give {}", format_size(bytes_), format_size(bytes));
  }
  bytes_ -= bytes;
  return Reservation(state_, pool_, bytes);
}

Status Reservation::absorb(Reservation other) {
  if (!other.state_) return {};
  if (!state_) {
    swap(other);
    return {};
  }
  if (state_ != other.state_ || pool_ != other.pool_) return fail(Code::kInternal, "reservations of two pools");
  bytes_ += std::exchange(other.bytes_, 0);
  return {};
}

void Reservation::shrink_to(uint64_t bytes) {
  if (bytes >= bytes_) return;
  std::lock_guard lock(state_->mutex);
  state_->accounts[pool_].reserved -= bytes_ - bytes;
  bytes_ = bytes;
  state_->serve();
}

Reservation unbudgeted(uint64_t bytes) { return *Budget({{"unbudgeted", bytes}}).try_reserve({0, bytes}); }

}  // namespace cuzk::mem
