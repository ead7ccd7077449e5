#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "gpu/launch.cuh"
#include "msm/cuda/batch_add.cuh"
#include "msm/cuda/msm.h"
#include "msm/cuda/workspace.h"

namespace cuzk::msm {
namespace {

using gpu::DeviceSpan;
using Index = uint32_t;

constexpr Index kSign = Sums<device::Fp>::kNegated;
constexpr unsigned kBlock = 256;

__device__ __forceinline__ uint64_t thread_index() { return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

// --- scalars

// A scalar as eight words: s + bias where s is the value or, with bit 255 set, its negative, whichever is at most r/2.
struct Words {
  uint32_t word[8];
};

__device__ __forceinline__ device::Fr canonical(const device::Fr& x) {
  device::Fr one{};
  one.limbs[0] = 1;
  return x * one;
}

__device__ __forceinline__ device::Fr prepared(const device::Fr& scalar, const Words& bias) {
  const device::Fr positive = canonical(scalar), negative = canonical(-scalar);
  bool above = false;  // positive > negative, that is, above r/2
  for (int i = 0; i < 8; i++) {
    if (positive.limbs[i] != negative.limbs[i]) above = positive.limbs[i] > negative.limbs[i];
  }
  device::Fr out;
  uint64_t carry = 0;
  for (int i = 0; i < 8; i++) {
    carry += uint64_t{above ? negative.limbs[i] : positive.limbs[i]} + bias.word[i];
    out.limbs[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (above) out.limbs[7] |= kSign;
  return out;
}

__global__ void prepare_scalars(device::Fr* scalars, uint64_t count, Words bias, unsigned reverse_bits) {
  const uint64_t i = thread_index();
  if (i >= count) return;
  const uint64_t j = reverse_bits == 0 ? i : __brevll(i) >> (64 - reverse_bits);
  if (i > j) return;  // the thread of j moves both
  const device::Fr mine = load(scalars + i);
  if (i != j) store(scalars + i, prepared(load(scalars + j), bias));
  store(scalars + j, prepared(mine, bias));
}

struct DigitJob {
  const device::Fr* scalars;
  uint64_t count;
  const uint32_t* positions;  // or none
  uint64_t bases;
  unsigned window_bits, windows, first_window, group;
  Index no_bucket;  // the key of a zero digit, above all buckets of a window
};

// Entry g * count + i is digit first_window + g of scalar i; its key counts from the first bucket of the window.
__global__ void make_entries(DigitJob job, Index* keys, Index* values) {
  const uint64_t i = thread_index();
  if (i >= job.count) return;
  const device::Fr s = load(job.scalars + i);
  const uint32_t position = job.positions ? job.positions[i] : static_cast<uint32_t>(i);
  for (unsigned g = 0; g < job.group; g++) {
    const unsigned window = job.first_window + g, bit = window * job.window_bits;
    const bool top = window + 1 == job.windows;
    // Up to 27 bits from two words; bit 255 is the sign, and there is nothing above it.
    uint64_t pair = s.limbs[bit / 32];
    if (bit / 32 + 1 < 8) pair |= uint64_t{s.limbs[bit / 32 + 1]} << 32;
    const unsigned bits = top ? 255 - bit : job.window_bits;
    const uint32_t field = static_cast<uint32_t>(pair >> (bit % 32)) & ((1u << bits) - 1);
    const int32_t digit = static_cast<int32_t>(field) - (top ? 0 : 1 << (job.window_bits - 1));
    const uint32_t size = static_cast<uint32_t>(digit < 0 ? -digit : digit);
    const bool negative = (digit < 0) != ((s.limbs[7] & kSign) != 0);
    const bool none = size == 0 || position >= job.bases;
    keys[g * job.count + i] = none ? job.no_bucket : size - 1;
    values[g * job.count + i] = position | (negative ? kSign : 0);
  }
}

// --- buckets of sorted entries, and their levels

// The elements of bucket k at a level: those of the entries, among which lie entries without a bucket, or of the
// levels after, where one bucket follows the other.
struct Elements {
  const Range* ranges = nullptr;
  const Index* offsets = nullptr;

  __device__ __forceinline__ Index begin(Index k) const { return ranges ? ranges[k].begin : offsets[k]; }
  __device__ __forceinline__ Index end(Index k) const { return ranges ? ranges[k].end : offsets[k + 1]; }
  __device__ __forceinline__ Index size(Index k) const { return end(k) - begin(k); }
};

// Which bucket elements belong to. Of entries, element i is of window i / per_window, whose first bucket is a multiple
// of `stride`; later levels have keys that count from the first bucket of all.
struct Keys {
  const Index* keys;
  Index per_window = ~Index{0}, stride = 0, no_bucket = ~Index{0};

  // False where element i has no bucket.
  __device__ __forceinline__ bool bucket(Index i, Index& k) const {
    const Index key = keys[i];
    k = i / per_window * stride + key;
    return key != no_bucket;
  }
};

// ranges[k] of all buckets that have entries; the others are as they were.
__global__ void find_ranges(Keys keys, uint64_t entries, Range* ranges) {
  const uint64_t i = thread_index();
  Index k, other;
  if (i >= entries || !keys.bucket(static_cast<Index>(i), k)) return;
  if (i == 0 || !keys.bucket(static_cast<Index>(i - 1), other) || other != k) ranges[k].begin = static_cast<Index>(i);
  if (i + 1 == entries || !keys.bucket(static_cast<Index>(i + 1), other) || other != k)
    ranges[k].end = static_cast<Index>(i + 1);
}

// Elements of a bucket of `size` entries at a level, which are sums of its elements at the level before. A bucket that
// came down to one has none at later levels.
__device__ __forceinline__ Index elements_at(unsigned level, Index size) {
  if (level > 1 && size <= uint64_t{1} << (level - 1)) return 0;
  return static_cast<Index>((uint64_t{size} + (uint64_t{1} << level) - 1) >> level);
}

__global__ void count_levels(Elements entries, Index buckets, Index* totals, unsigned levels) {
  __shared__ Index sums[64];
  if (threadIdx.x < levels) sums[threadIdx.x] = 0;
  __syncthreads();
  const uint64_t k = thread_index();
  const Index size = k < buckets ? entries.size(static_cast<Index>(k)) : 0;
  for (unsigned level = 0; level < levels; level++) {
    const Index sum = __reduce_add_sync(~0u, elements_at(level, size));
    if (threadIdx.x % 32 == 0 && sum > 0) atomicAdd(sums + level, sum);
  }
  __syncthreads();
  if (threadIdx.x < levels && sums[threadIdx.x] > 0) atomicAdd(totals + threadIdx.x, sums[threadIdx.x]);
}

struct LevelSize {
  Elements entries;
  Index buckets;
  unsigned level;
  __device__ Index operator()(Index k) const { return k < buckets ? elements_at(level, entries.size(k)) : 0; }
};

// The pairs of a level (batch_add.cuh) and the keys of its elements, from the elements of the level before.
__global__ void pair_up(unsigned level, Keys keys, Elements elements, const Index* offsets_out, uint64_t count,
                        Index* keys_out, Index* pairs) {
  const uint64_t i = thread_index();
  Index k;
  if (i >= count || !keys.bucket(static_cast<Index>(i), k)) return;
  const Index rank = static_cast<Index>(i) - elements.begin(k);
  if (rank % 2 != 0 || (level > 1 && elements.size(k) == 1)) return;
  const Index j = offsets_out[k] + rank / 2;
  keys_out[j] = k;
  pairs[j] = static_cast<Index>(i) | (i + 1 < elements.end(k) ? 0 : Sums<device::Fp>::kAlone);
}

// One level of sums. Many sums a thread share each inversion, few keep every multiprocessor busy. As many blocks as are
// resident at once are a wave; the last one is to be as full as the others.
template <class F>
Status add_level(const gpu::Stream& stream, const Sums<F>& sums, uint64_t count, Affine<F>* out) {
  constexpr uint64_t kThreadsOfDevice = 132 * 4 * kAddThreads;  // that are resident on an H200
  const uint64_t a_thread = count / kThreadsOfDevice + 1, waves = (a_thread + kMostEach - 1) / kMostEach;
  const auto each = static_cast<unsigned>((a_thread + waves - 1) / waves);
  return gpu::launch(stream, add_pairs<F>, gpu::blocks_for(count, kAddThreads * each), kAddThreads, 0, sums, count,
                     each, out);
}

// --- weights

// Puts the sums of buckets that came down to one element at this level, and at the first also of empty ones, in place.
template <class F>
__global__ void place_buckets(unsigned level, const Affine<F>* elements, const Index* offsets, Index buckets,
                              Affine<F>* out) {
  const uint64_t k = thread_index();
  if (k >= buckets) return;
  const Index count = offsets[k + 1] - offsets[k];
  if (count == 1) store(out + k, load(elements + offsets[k]));
  if (count == 0 && level == 1) store(out + k, Affine<F>::infinity());
}

template <class F>
__device__ __noinline__ void accumulate(Xyzz<F>& sum, const Affine<F>& p) {
  sum += p;
}
template <class F>
__device__ __noinline__ void accumulate(Xyzz<F>& sum, const Xyzz<F>& p) {
  sum += p;
}
template <class F>
__device__ __noinline__ void twice(Xyzz<F>& p) {
  p = p.dbl();
}

// out[2 block] = sum over i < size of (i + first_weight) points[block * size + i], a block of threads each.
template <class F, unsigned kBlockThreads>
__global__ void weigh(const Affine<F>* points, Index size, Index first_weight, Xyzz<F>* out) {
  __shared__ Xyzz<F> partial[kBlockThreads];
  const Affine<F>* mine = points + uint64_t{blockIdx.x} * size;
  const Index each = (size + kBlockThreads - 1) / kBlockThreads, begin = threadIdx.x * each;
  // total = sum of (i - begin + 1) P_i, by running sums from the last on.
  Xyzz<F> sum = Xyzz<F>::infinity(), total = Xyzz<F>::infinity();
  for (Index i = begin + each; i-- > begin;) {
    if (i < size) accumulate(sum, load(mine + i));
    accumulate(total, sum);
  }
  // (begin + first_weight - 1) sum + total; the factor is -1 only where begin and first_weight are 0.
  if (begin + first_weight == 0) {
    accumulate(total, -sum);
  } else {
    const Index factor = begin + first_weight - 1;
    Xyzz<F> product = Xyzz<F>::infinity();
    for (int bit = 31 - __clz(static_cast<int>(factor)); bit >= 0; bit--) {
      twice(product);
      if (factor >> bit & 1) accumulate(product, sum);
    }
    accumulate(total, product);
  }
  partial[threadIdx.x] = total;
  __syncthreads();
  for (unsigned half = kBlockThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) accumulate(partial[threadIdx.x], partial[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[2 * blockIdx.x] = partial[0];
}

// Sums blocks of `block` points (a power of two) to blocks of `until`; the levels lie one after another in `scratch`,
// which holds as many points as there are. Returns the last.
template <class F>
Result<const Affine<F>*> fold(const gpu::Stream& stream, const Affine<F>* points, uint64_t count, uint64_t block,
                              uint64_t until, Affine<F>* scratch) {
  for (; block > until; block /= 2) {
    count /= 2;
    CUZK_TRY(add_level(stream, Sums<F>{.points = points, .half = block / 2}, count, scratch));
    points = scratch;
    scratch += count;
  }
  return points;
}

// --- one sum

Words bias_of(const DevicePlan& plan) {
  Words bias{};
  for (unsigned window = 0; window + 1 < plan.windows; window++) {
    const unsigned bit = window * plan.window_bits + plan.window_bits - 1;
    bias.word[bit / 32] |= 1u << (bit % 32);
  }
  return bias;
}

// Of a window: the top digit is at most floor(r/2 / 2^(254 - top_bits)) + 1, and r / 2^255 < 0x73eda754 / 2^31.
Index most_buckets(const DevicePlan& plan) {
  return std::max(static_cast<Index>(plan.buckets(0)), (Index{0x73eda754} >> (31 - plan.top_bits)) + 1);
}

template <class F>
class Summation {
 public:
  using D = device::TwinOf<F>;

  Summation(const DevicePlan& plan, const DeviceWorkspace<D>& space, const gpu::Stream& stream)
      : plan_(plan), space_(space), stream_(stream) {}

  // Sums the buckets of a group of windows.
  Status add_group(const DigitJob& job, const Affine<D>* bases) {
    job_ = job;
    entries_ = job.group * job.count;
    bucket_count_ = static_cast<Index>(plan_.buckets(job.first_window, job.group));
    buckets_ = space_.buckets.data + job.first_window * plan_.buckets(0);
    CUZK_TRY(sort());
    CUZK_TRY(count());
    return sum_buckets(bases);
  }
  // The sum, from the buckets of all windows.
  Result<Xyzz<F>> finish() {
    std::vector<Xyzz<F>> sums(plan_.windows);
    const auto lower = std::span(sums).first(plan_.windows - 1);
    CUZK_TRY(weigh_buckets(plan_.window_bits - 1, space_.buckets.data, lower));
    CUZK_TRY(
        weigh_buckets(plan_.top_bits, space_.buckets.data + lower.size() * plan_.buckets(0), std::span(sums).last(1)));
    Xyzz<F> total = Xyzz<F>::infinity();
    for (unsigned window = plan_.windows; window-- > 0;) {
      for (unsigned i = 0; i < plan_.window_bits; i++) total = total.dbl();
      total += sums[window];
    }
    return total;
  }

 private:
  Status sort() {
    CUZK_TRY(gpu::launch(stream_, make_entries, gpu::blocks_for(job_.count, kBlock), kBlock, 0, job_,
                         space_.keys[0].data, space_.values[0].data));
    // Every window by itself: its keys have fewer bits, so that three passes do for up to 24.
    unsigned result = 0;
    for (unsigned g = 0; g < job_.group; g++) {
      const uint64_t at = g * job_.count;
      cub::DoubleBuffer<Index> keys(space_.keys[0].data + at, space_.keys[1].data + at),
          values(space_.values[0].data + at, space_.values[1].data + at);
      CUZK_TRY(with_cub([&](void* memory, size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, values, job_.count, 0,
                                               std::bit_width(job_.no_bucket), stream_.get());
      }));
      result = keys.selector;
    }
    sorted_ = Keys{space_.keys[result].data, static_cast<Index>(job_.count), static_cast<Index>(plan_.buckets(0)),
                   job_.no_bucket};
    level_keys_ = {space_.keys[result].data, space_.keys[1 - result].data};
    sorted_values_ = space_.values[result].data;
    return {};
  }

  Status count() {
    CUZK_TRY(stream_.clear(space_.ranges.first(bucket_count_)));
    CUZK_TRY(gpu::launch(stream_, find_ranges, gpu::blocks_for(entries_, kBlock), kBlock, 0, sorted_, entries_,
                         space_.ranges.data));
    CUZK_TRY(stream_.clear(space_.totals));
    CUZK_TRY(gpu::launch(stream_, count_levels, gpu::blocks_for(bucket_count_, kBlock), kBlock, 0,
                         Elements{.ranges = space_.ranges.data}, bucket_count_, space_.totals.data,
                         DeviceWorkspace<D>::kLevels));
    CUZK_TRY(stream_.download(std::span<Index>(totals_), space_.totals.as_const()));
    return stream_.synchronize();
  }

  // Halves the buckets, level by level, until each has come down to one element.
  Status sum_buckets(const Affine<D>* bases) {
    const Elements entries{.ranges = space_.ranges.data};
    Elements elements = entries;
    Keys keys = sorted_;
    uint64_t count = entries_;
    Sums<D> sums{.points = bases, .values = sorted_values_, .pairs = space_.pairs.data};
    for (unsigned level = 1; level == 1 || totals_[level] > 0; level++) {
      Index* const offsets_out = space_.offsets[level % 2].data;
      Index* const keys_out = level_keys_[level % 2];
      Affine<D>* const out = space_.points[(level + 1) % 2].data;
      auto sizes = thrust::make_transform_iterator(thrust::make_counting_iterator(Index{0}),
                                                   LevelSize{entries, bucket_count_, level});
      CUZK_TRY(with_cub([&](void* memory, size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(memory, bytes, sizes, offsets_out, bucket_count_ + 1, stream_.get());
      }));
      CUZK_TRY(gpu::launch(stream_, pair_up, gpu::blocks_for(count, kBlock), kBlock, 0, level, keys, elements,
                           offsets_out, count, keys_out, space_.pairs.data));
      CUZK_TRY(add_level(stream_, sums, totals_[level], out));
      CUZK_TRY(gpu::launch(stream_, place_buckets<D>, gpu::blocks_for(bucket_count_, kBlock), kBlock, 0, level, out,
                           offsets_out, bucket_count_, buckets_));
      keys = Keys{keys_out}, elements = Elements{.offsets = offsets_out}, count = totals_[level];
      sums.points = out, sums.values = nullptr;
    }
    return {};
  }

  // The weighted sums of windows of 2^bits buckets each.
  Status weigh_buckets(unsigned bits, const Affine<D>* all, std::span<Xyzz<F>> out) {
    const unsigned column_bits = bits / 2, row_bits = bits - column_bits;
    const uint64_t window = uint64_t{1} << bits, columns = uint64_t{1} << column_bits, rows = uint64_t{1} << row_bits;
    const auto windows = static_cast<unsigned>(out.size());
    const uint64_t count = windows * window;
    Affine<D>* const scratch = space_.points[0].data;
    constexpr unsigned kWeighThreads = 128;
    // Bucket i * columns + j counts i * columns + (j + 1) times.
    CUZK_TRY_ASSIGN(const Affine<D>* row_sums, fold(stream_, all, count, columns, 1, scratch));
    CUZK_TRY(gpu::launch(stream_, weigh<D, kWeighThreads>, windows, kWeighThreads, 0, row_sums,
                         static_cast<Index>(rows), Index{0}, space_.sums.data));
    CUZK_TRY_ASSIGN(const Affine<D>* column_sums, fold(stream_, all, count, window, columns, scratch));
    CUZK_TRY(gpu::launch(stream_, weigh<D, kWeighThreads>, windows, kWeighThreads, 0, column_sums,
                         static_cast<Index>(columns), Index{1}, space_.sums.data + 1));
    std::vector<Xyzz<F>> sums(2 * windows);
    CUZK_TRY(stream_.download(
        std::span(sums),
        DeviceSpan<const Xyzz<D>>(space_.sums.as_const()).first(2 * windows).template as<const Xyzz<F>>()));
    CUZK_TRY(stream_.synchronize());
    for (unsigned g = 0; g < windows; g++) {
      Xyzz<F> sum = sums[2 * g];
      for (unsigned i = 0; i < column_bits; i++) sum = sum.dbl();
      out[g] = sum + sums[2 * g + 1];
    }
    return {};
  }

  // Calls a CUB function with the memory it asks for.
  template <class Call>
  Status with_cub(Call&& call) {
    gpu::Current current(stream_.ordinal());
    size_t bytes = 0;
    CUZK_TRY(gpu::to_status(call(nullptr, bytes), "CUB"));
    if (bytes > space_.cub.size)
      return fail(Code::kInternal, "CUB wants {} bytes, {} were planned", bytes, space_.cub.size);
    return gpu::to_status(call(space_.cub.data, bytes), "CUB");
  }

  const DevicePlan& plan_;
  const DeviceWorkspace<D>& space_;
  const gpu::Stream& stream_;
  // Of the group at hand.
  DigitJob job_{};
  uint64_t entries_ = 0;
  Index bucket_count_ = 0;
  Affine<D>* buckets_ = nullptr;
  Keys sorted_{};
  std::array<Index*, 2> level_keys_{};  // of even and odd levels; those of level 0 are the sorted ones
  Index* sorted_values_ = nullptr;
  std::array<Index, DeviceWorkspace<D>::kLevels> totals_{};
};

}  // namespace

Status prepare(const DevicePlan& plan, DeviceSpan<device::Fr> scalars, Order order, const gpu::Stream& stream) {
  unsigned reverse_bits = 0;
  if (order == Order::kBitReversed) {
    if (!std::has_single_bit(scalars.size))
      return fail(Code::kInternal, "{} scalars in bit-reversed order, which is no power of two", scalars.size);
    reverse_bits = static_cast<unsigned>(std::bit_width(scalars.size) - 1);
  }
  return gpu::launch(stream, prepare_scalars, gpu::blocks_for(scalars.size, kBlock), kBlock, 0, scalars.data,
                     scalars.size, bias_of(plan), reverse_bits);
}

template <class F>
Result<Xyzz<F>> sum(const DevicePlan& plan, DeviceSpan<const device::TwinOf<Affine<F>>> bases,
                    DeviceSpan<const device::Fr> scalars, DeviceSpan<const uint32_t> positions,
                    DeviceSpan<std::byte> workspace, const gpu::Stream& stream) {
  using D = device::TwinOf<F>;
  if (scalars.size > plan.shape.points || (positions.data && positions.size != scalars.size) ||
      workspace.size < plan.workspace_bytes)
    return fail(Code::kInternal, "{} scalars, {} positions and {} bytes for a plan of {} points and {} bytes",
                scalars.size, positions.size, workspace.size, plan.shape.points, plan.workspace_bytes);
  if (scalars.size == 0) return Xyzz<F>::infinity();
  gpu::DeviceCarver memory(workspace);
  const DeviceWorkspace<D> space(memory, plan);
  DigitJob job{.scalars = scalars.data,
               .count = scalars.size,
               .positions = positions.data,
               .bases = bases.size,
               .window_bits = plan.window_bits,
               .windows = plan.windows};
  Summation<F> summation(plan, space, stream);
  for (unsigned first = 0; first < plan.windows; first += plan.windows_at_once) {
    job.first_window = first;
    job.group = std::min(plan.windows_at_once, plan.windows - first);
    const Index most = first + job.group < plan.windows ? static_cast<Index>(plan.buckets(0)) : most_buckets(plan);
    job.no_bucket = (Index{1} << std::bit_width(most)) - 1;
    CUZK_TRY(summation.add_group(job, bases.data));
  }
  return summation.finish();
}

namespace {

constexpr uint64_t kFinishOnHost = 256;  // points

// The arrays of sum_listed for pieces of so many positions.
template <class F>
struct ListedSpace {
  DeviceSpan<Affine<F>> points[2];

  ListedSpace(gpu::DeviceCarver& memory, uint64_t positions) {
    points[0] = memory.take<Affine<F>>((positions + 1) / 2);
    points[1] = memory.take<Affine<F>>((positions + 3) / 4);
  }
};

}  // namespace

template <class F>
uint64_t listed_bytes(uint64_t points) {
  gpu::DeviceCarver counter;
  ListedSpace<F>(counter, std::max<uint64_t>(points, 1024));
  return counter.bytes();
}

template <class F>
Result<Xyzz<F>> sum_listed(DeviceSpan<const device::TwinOf<Affine<F>>> bases, DeviceSpan<const uint32_t> positions,
                           DeviceSpan<std::byte> workspace, const gpu::Stream& stream) {
  using D = device::TwinOf<F>;
  if (workspace.size < listed_bytes<F>(0))
    return fail(Code::kInternal, "{} bytes of workspace, {} are needed", workspace.size, listed_bytes<F>(0));
  uint64_t piece = std::max<uint64_t>(positions.size, 1);
  while (listed_bytes<F>(piece) > workspace.size) piece = (piece + 1) / 2;
  gpu::DeviceCarver memory(workspace);
  const ListedSpace<D> space(memory, std::max<uint64_t>(piece, 1024));
  Xyzz<F> total = Xyzz<F>::infinity();
  std::vector<Affine<F>> last;
  for (uint64_t begin = 0; begin < positions.size; begin += piece) {
    uint64_t count = std::min(piece, positions.size - begin);
    Sums<D> sums{.points = bases.data, .values = positions.data + begin, .count = count};
    count = (count + 1) / 2;
    CUZK_TRY(add_level(stream, sums, count, space.points[0].data));
    unsigned at = 0;
    while (count > kFinishOnHost) {
      sums = Sums<D>{.points = space.points[at].data, .count = count};
      count = (count + 1) / 2;
      at = 1 - at;
      CUZK_TRY(add_level(stream, sums, count, space.points[at].data));
    }
    last.resize(count);
    CUZK_TRY(stream.download(
        std::span(last),
        DeviceSpan<const Affine<F>>(space.points[at].as_const().first(count).template as<const Affine<F>>())));
    CUZK_TRY(stream.synchronize());
    for (const Affine<F>& point : last) total += point;
  }
  return total;
}

#define CUZK_INSTANTIATE(F)                                                                                        \
  template Result<Xyzz<F>> sum<F>(const DevicePlan&, DeviceSpan<const device::TwinOf<Affine<F>>>,                  \
                                  DeviceSpan<const device::Fr>, DeviceSpan<const uint32_t>, DeviceSpan<std::byte>, \
                                  const gpu::Stream&);                                                             \
  template uint64_t listed_bytes<F>(uint64_t);                                                                     \
  template Result<Xyzz<F>> sum_listed<F>(DeviceSpan<const device::TwinOf<Affine<F>>>, DeviceSpan<const uint32_t>,  \
                                         DeviceSpan<std::byte>, const gpu::Stream&);
CUZK_INSTANTIATE(Fp)
CUZK_INSTANTIATE(Fp2)

}  // namespace cuzk::msm
