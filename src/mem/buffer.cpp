#include "mem/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"

namespace cuzk::mem {
namespace {

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }
size_t page_bytes() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

Result<Buffer> Buffer::make(Reservation reservation, Ledger::Entry entry) {
  Buffer buffer;
  const size_t size = reservation.bytes();
  if (size > 0) {
    // A little more than asked, so that an aligned part can be cut out of it.
    const size_t alignment = size >= kHugeBytes ? kHugeBytes : page_bytes();
    const size_t mapped = round_up(size, page_bytes());
    const size_t slack = alignment - page_bytes();
    void* address = size > SIZE_MAX - 2 * kHugeBytes ? MAP_FAILED
                                                     : ::mmap(nullptr, mapped + slack, PROT_READ | PROT_WRITE,
                                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      return fail(Code::kResourceExhausted, "the system gives no address space for {}", format_size(size));
    }
    auto* begin = static_cast<std::byte*>(address);
    const size_t before = round_up(reinterpret_cast<size_t>(begin), alignment) - reinterpret_cast<size_t>(begin);
    if (before > 0) ::munmap(begin, before);
    if (slack > before) ::munmap(begin + before + mapped, slack - before);
    buffer.bytes_ = {begin + before, size};
    if (size >= kHugeBytes) ::madvise(buffer.bytes_.data(), mapped, MADV_HUGEPAGE);  // a hint
  }
  entry.resize(size);
  buffer.reservation_ = std::move(reservation);
  buffer.entry_ = std::move(entry);
  return buffer;
}

Buffer::~Buffer() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), round_up(bytes_.size(), page_bytes()));
}

void Buffer::shrink_to(size_t bytes) {
  if (bytes >= bytes_.size()) return;
  const size_t kept = round_up(bytes, page_bytes()), had = round_up(bytes_.size(), page_bytes());
  if (had > kept) ::munmap(bytes_.data() + kept, had - kept);
  bytes_ = bytes == 0 ? std::span<std::byte>{} : bytes_.first(bytes);
  entry_.resize(bytes);
  reservation_.shrink_to(bytes);
}

}  // namespace cuzk::mem
