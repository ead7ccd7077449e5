#pragma once
// Streams and events: order of work on one device.

#include <utility>

#include "gpu/memory.h"

struct CUstream_st;
struct CUevent_st;

namespace cuzk::gpu {

class Event;

// Work given to a stream runs in order, beside that of other streams. Errors of kernels come out of synchronize() or of
// any later call: kResourceExhausted for lack of memory, kUnavailable for everything after which the device is of no
// use to this process, kInternal for a wrong call.
class Stream {
 public:
  static Result<Stream> make(int ordinal);

  Stream() = default;
  ~Stream();
  Stream(Stream&& other) noexcept { swap(other); }
  Stream& operator=(Stream other) noexcept {
    swap(other);
    return *this;
  }

  int ordinal() const { return ordinal_; }
  CUstream_st* get() const { return stream_; }

  // Waits on the host for all work so far.
  Status synchronize() const;
  // Work given later waits on the device until what the event marks is done.
  Status wait(const Event& event) const;

  // Copies; asynchronous where the host side is pinned, and the host side must live until then.
  template <class T>
  Status upload(DeviceSpan<T> to, std::span<const T> from) const {
    return copy(to.data, from.data(), from.size_bytes(), to.size * sizeof(T));
  }
  template <class T>
  Status download(std::span<T> to, DeviceSpan<const T> from) const {
    return copy(to.data(), from.data, from.size * sizeof(T), to.size_bytes());
  }
  template <class T>
  Status copy_on_device(DeviceSpan<T> to, DeviceSpan<const T> from) const {
    return copy(to.data, from.data, from.size * sizeof(T), to.size * sizeof(T));
  }
  template <class T>
  Status clear(DeviceSpan<T> span, uint8_t byte = 0) const {
    return fill(span.data, byte, span.size * sizeof(T));
  }

 private:
  // Directions are told from the addresses. kInternal where `bytes` are more than `room`.
  Status copy(void* to, const void* from, uint64_t bytes, uint64_t room) const;
  Status fill(void* at, uint8_t byte, uint64_t bytes) const;
  void swap(Stream& other) noexcept {
    std::swap(ordinal_, other.ordinal_);
    std::swap(stream_, other.stream_);
  }

  int ordinal_ = 0;
  CUstream_st* stream_ = nullptr;
};

// A point in the work of a stream.
class Event {
 public:
  static Result<Event> make(int ordinal);

  Event() = default;
  ~Event();
  Event(Event&& other) noexcept { swap(other); }
  Event& operator=(Event other) noexcept {
    swap(other);
    return *this;
  }

  CUevent_st* get() const { return event_; }
  Status record(const Stream& stream) const;
  // Waits on the host.
  Status synchronize() const;
  // Seconds of the device from `earlier` to this; both must be done.
  Result<double> seconds_since(const Event& earlier) const;

 private:
  void swap(Event& other) noexcept {
    std::swap(ordinal_, other.ordinal_);
    std::swap(event_, other.event_);
  }

  int ordinal_ = 0;
  CUevent_st* event_ = nullptr;
};

}  // namespace cuzk::gpu
