#pragma once
// The points of a section that device memory does not hold, handed out in windows: while one is used the next is
// uploaded.

#include "curve/cuda/types.h"
#include "gpu/stream.h"

namespace cuzk::groth16 {

// Point is G1Affine or G2Affine.
template <class Point>
class PointWindows {
 public:
  using DevicePoint = device::TwinOf<Point>;

  // Device memory for two windows.
  static uint64_t bytes(uint64_t window_points) { return 2 * window_points * sizeof(Point); }

  // `points`, in native form, and `memory`, bytes(window_points) of the device `ordinal`, live as long as the windows;
  // the uploads run beside other work where the points lie in pinned memory.
  static Result<PointWindows> make(std::span<const Point> points, uint64_t window_points,
                                   gpu::DeviceSpan<std::byte> memory, int ordinal) {
    if (window_points == 0 || memory.size < bytes(window_points))
      return fail(Code::kInternal, "windows of {} points in {} bytes", window_points, memory.size);
    PointWindows out;
    out.points_ = points;
    out.window_points_ = window_points;
    CUZK_TRY_ASSIGN(out.uploads_, gpu::Stream::make(ordinal));
    for (size_t i = 0; i < 2; i++) {
      Slot& slot = out.slots_[i];
      slot.memory = memory.subspan(i * bytes(window_points) / 2, bytes(window_points) / 2);
      CUZK_TRY_ASSIGN(slot.uploaded, gpu::Event::make(ordinal));
      CUZK_TRY_ASSIGN(slot.used, gpu::Event::make(ordinal));
    }
    return out;
  }

  // The next window, for work given to `stream` from now on; the work that used the window before must have been given
  // to it by now. In the order of the points; an empty one after the last, and then the first again. No call waits on
  // the host.
  Result<gpu::DeviceSpan<const DevicePoint>> next(const gpu::Stream& stream) {
    if (handed_ > 0) CUZK_TRY(slot(handed_ - 1).used.record(stream));
    const uint64_t windows = (points_.size() + window_points_ - 1) / window_points_;
    if (handed_ == windows) {
      handed_ = uploaded_ = 0;
      return gpu::DeviceSpan<const DevicePoint>{};
    }
    while (uploaded_ < std::min(handed_ + 2, windows)) CUZK_TRY(upload(uploaded_++));
    CUZK_TRY(stream.wait(slot(handed_).uploaded));
    const uint64_t window = handed_++;
    return gpu::DeviceSpan<const DevicePoint>{reinterpret_cast<const DevicePoint*>(slot(window).memory.data),
                                              points(window).size()};
  }
  // Index of the first point of the window that next() returned last.
  uint64_t begin() const { return handed_ == 0 ? 0 : (handed_ - 1) * window_points_; }

 private:
  struct Slot {
    gpu::DeviceSpan<std::byte> memory;
    gpu::Event uploaded, used;
  };
  const Slot& slot(uint64_t window) const { return slots_[window % 2]; }
  std::span<const Point> points(uint64_t window) const {
    const uint64_t begin = window * window_points_;
    return points_.subspan(begin, std::min<uint64_t>(window_points_, points_.size() - begin));
  }
  Status upload(uint64_t window) {
    CUZK_TRY(uploads_.wait(slot(window).used));
    CUZK_TRY(uploads_.upload(slot(window).memory.template as<Point>(), points(window)));
    return slot(window).uploaded.record(uploads_);
  }

  std::span<const Point> points_;
  uint64_t window_points_ = 0;
  gpu::Stream uploads_;
  Slot slots_[2];
  uint64_t handed_ = 0, uploaded_ = 0;  // windows of this pass
};

}  // namespace cuzk::groth16
