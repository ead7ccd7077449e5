#include "gpu/launch.cuh"
#include "gpu/stream.h"

namespace cuzk::gpu {

Result<Stream> Stream::make(int ordinal) {
  Current current(ordinal);
  Stream out;
  out.ordinal_ = ordinal;
  CUZK_CUDA(cudaStreamCreateWithFlags(&out.stream_, cudaStreamNonBlocking));
  return out;
}

Stream::~Stream() {
  if (!stream_) return;
  Current current(ordinal_);
  cudaStreamDestroy(stream_);
}

Status Stream::synchronize() const {
  Current current(ordinal_);
  return to_status(cudaStreamSynchronize(stream_), "waiting for a stream");
}

Status Stream::wait(const Event& event) const {
  Current current(ordinal_);
  return to_status(cudaStreamWaitEvent(stream_, event.get(), 0), "cudaStreamWaitEvent");
}

Status Stream::copy(void* to, const void* from, uint64_t bytes, uint64_t room) const {
  if (bytes > room) return fail(Code::kInternal, "a copy of {} bytes into {}", bytes, room);
  if (bytes == 0) return {};
  Current current(ordinal_);
  return to_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "copy");
}

Status Stream::fill(void* at, uint8_t byte, uint64_t bytes) const {
  if (bytes == 0) return {};
  Current current(ordinal_);
  return to_status(cudaMemsetAsync(at, byte, bytes, stream_), "fill");
}

Result<Event> Event::make(int ordinal) {
  Current current(ordinal);
  Event out;
  out.ordinal_ = ordinal;
  CUZK_CUDA(cudaEventCreate(&out.event_));
  return out;
}

Event::~Event() {
  if (!event_) return;
  Current current(ordinal_);
  cudaEventDestroy(event_);
}

Status Event::record(const Stream& stream) const {
  Current current(ordinal_);
  return to_status(cudaEventRecord(event_, stream.get()), "cudaEventRecord");
}

Status Event::synchronize() const {
  Current current(ordinal_);
  return to_status(cudaEventSynchronize(event_), "waiting for an event");
}

Result<double> Event::seconds_since(const Event& earlier) const {
  Current current(ordinal_);
  float milliseconds = 0;
  CUZK_CUDA(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace cuzk::gpu
