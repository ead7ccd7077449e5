// Linked in place of the .cu files where there is no CUDA compiler.
#include "gpu/device.h"
#include "gpu/stream.h"

namespace cuzk::gpu {
namespace {

tl::unexpected<Error> absent() { return fail(Code::kUnavailable, "this build has no CUDA"); }

}  // namespace

bool available() { return false; }
std::vector<DeviceInfo> devices() { return {}; }
std::string absence() { return "this build has no CUDA; rebuild it where nvcc is"; }
Result<uint64_t> free_bytes(int) { return absent(); }

Result<DeviceMemory> DeviceMemory::make(int, mem::Reservation, mem::Ledger::Entry) { return absent(); }
Result<DeviceMemory> DeviceMemory::make_uncovered(int, uint64_t) { return absent(); }
DeviceMemory::~DeviceMemory() = default;
uint64_t pinned_bytes() { return 0; }
Result<Pin> Pin::make(std::span<const std::byte>) { return absent(); }
Pin::~Pin() = default;
Result<PinnedMemory> PinnedMemory::make(mem::Reservation, mem::Ledger::Entry) { return absent(); }
PinnedMemory::~PinnedMemory() = default;

Result<Stream> Stream::make(int) { return absent(); }
Stream::~Stream() = default;
Status Stream::synchronize() const { return absent(); }
Status Stream::wait(const Event&) const { return absent(); }
Status Stream::copy(void*, const void*, uint64_t, uint64_t) const { return absent(); }
Status Stream::fill(void*, uint8_t, uint64_t) const { return absent(); }

Result<Event> Event::make(int) { return absent(); }
Event::~Event() = default;
Status Event::record(const Stream&) const { return absent(); }
Status Event::synchronize() const { return absent(); }
Result<double> Event::seconds_since(const Event&) const { return absent(); }

}  // namespace cuzk::gpu
