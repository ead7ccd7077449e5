#include <chrono>

#include "curve/cuda/point.cuh"
#include "gpu/launch.cuh"
#include "groth16/cuda/params/point_windows.h"
#include "groth16/cuda/prover/prove.h"
#include "groth16/cuda/quotient/quotient.h"
#include "msm/cuda/msm.h"

namespace cuzk::groth16 {
namespace {

using gpu::DeviceCarver;
using gpu::DeviceSpan;
using r1cs::Query;

constexpr unsigned kBlock = 256;

template <class T>
__global__ void gather(const T* from, const uint32_t* indices, uint64_t count, T* out) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < count) device::store(out + i, device::load(from + indices[i]));
}

// out[k] = how many of the ascending `values` are below k * step, for k in [0, count).
__global__ void count_below(const uint32_t* values, uint64_t size, uint64_t step, uint32_t* out, uint32_t count) {
  const uint64_t k = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (k >= count) return;
  uint64_t low = 0, high = size;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    (values[middle] < k * step ? low : high) = values[middle] < k * step ? middle + 1 : middle;
  }
  out[k] = static_cast<uint32_t>(low);
}

// How many of the ascending `values` lie before each window of so many, and before the end: windows + 1 numbers.
Result<std::vector<uint32_t>> counts_below(DeviceSpan<uint32_t> values, uint64_t window, uint32_t windows,
                                           DeviceSpan<uint32_t> scratch, const gpu::Stream& stream) {
  std::vector<uint32_t> counts(windows + 1);
  CUZK_TRY(gpu::launch(stream, count_below, gpu::blocks_for(counts.size(), kBlock), kBlock, 0, values.data,
                       uint64_t{values.size}, window, scratch.data, windows + 1));
  CUZK_TRY(stream.download(std::span(counts), scratch.first(counts.size()).as_const()));
  CUZK_TRY(stream.synchronize());
  return counts;
}

// Calls use(begin, points) for all points, or for one window of them after another; the points are in device memory,
// and `begin` is the index of the first.
template <class Point, class Use>
Status for_each_window(const QueryPoints<Point>& points, DeviceSpan<std::byte> memory, const gpu::Stream& stream,
                       Use&& use) {
  if (points.host.empty()) return use(uint64_t{0}, points.resident);
  const uint64_t window = memory.size / PointWindows<Point>::bytes(1);
  CUZK_TRY_ASSIGN(auto windows, PointWindows<Point>::make(points.host, window, memory, stream.ordinal()));
  for (;;) {
    CUZK_TRY_ASSIGN(const auto part, windows.next(stream));
    if (part.size == 0) return {};
    CUZK_TRY(use(windows.begin(), part));
  }
}

bool fit(const ProvingPoints& points, const Lengths& lengths) {
  return points.h.size() == lengths.h && points.l.size() == lengths.l && points.a.size() == lengths.a &&
         points.b_g1.size() == lengths.b_g1 && (!points.b_g2 || points.b_g2->size() == lengths.b_g2);
}

constexpr uint64_t kLeastWindow = DeviceProofPlan::kWindowPoints / 2;  // of G2, whose points are twice as large
constexpr std::array kAllQueries = {Query::kL, Query::kA, Query::kB};
constexpr size_t index_of(Query query) { return static_cast<size_t>(query); }

// What stays in device memory of a circuit.
struct Resident {
  DeviceSpan<std::byte> circuit, domain;

  Resident(DeviceCarver& carver, const r1cs::CircuitTables<r1cs::HostArray>& tables, unsigned log2_size)
      : circuit(carver.take<std::byte>(r1cs::table_bytes(tables))),
        domain(carver.take<std::byte>(ntt::DeviceDomain::bytes(log2_size))) {}
};

DeviceProofPlan plan_of(const r1cs::Circuit& circuit, const r1cs::CircuitTables<r1cs::HostArray>& tables) {
  DeviceCarver counter;
  Resident(counter, tables, r1cs::log2_domain(circuit));
  DeviceProofPlan plan{.name = circuit.name,
                       .lengths = groth16::lengths_of(circuit),
                       .domain = size_t{1} << r1cs::log2_domain(circuit),
                       .resident_bytes = counter.bytes(),
                       .witness_bytes = r1cs::device_witness_bytes(circuit),
                       .list_bytes = r1cs::list_scratch_bytes(circuit)};
  for (size_t q = 0; q < r1cs::kQueries; q++)
    plan.queries[q] = {tables.queries[q].num_bits, tables.queries[q].num_scalars};
  return plan;
}

// Adds up the time since its last call into one step, once the stream is done.
class Stopwatch {
 public:
  Stopwatch(ProveTimes* times, const gpu::Stream& stream) : times_(times), stream_(stream) {}
  Status lap(double ProveTimes::*step) {
    if (!times_) return {};
    CUZK_TRY(stream_.synchronize());
    const auto now = std::chrono::steady_clock::now();
    times_->*step += std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return {};
  }

 private:
  ProveTimes* times_;
  const gpu::Stream& stream_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

DeviceProofPlan plan_device_proof(const r1cs::Circuit& circuit) {
  return plan_of(circuit, r1cs::make_circuit_tables(circuit));
}

Result<DeviceProver> DeviceProver::make(const r1cs::Circuit& circuit, gpu::DeviceMemory memory,
                                        const gpu::Stream& stream) {
  const unsigned log2_size = r1cs::log2_domain(circuit);
  const auto tables = r1cs::make_circuit_tables(circuit);
  DeviceCarver carver(memory.bytes());
  const Resident resident(carver, tables, log2_size);
  if (carver.bytes() > memory.bytes().size)
    return fail(Code::kInternal, "{} bytes of circuit into {}", carver.bytes(), memory.bytes().size);

  DeviceProver out;
  out.plan_ = plan_of(circuit, tables);
  CUZK_TRY_ASSIGN(out.circuit_, r1cs::upload(tables, resident.circuit, stream));
  CUZK_TRY_ASSIGN(out.domain_, ntt::DeviceDomain::make(log2_size, resident.domain, stream));
  CUZK_TRY(stream.synchronize());
  out.memory_ = std::move(memory);
  return out;
}

// The arrays of a proof; those of one step give way to those of the next.
struct DeviceProofSpace {
  DeviceSpan<std::byte> witness, windows;
  DeviceSpan<device::Fr> a, b, scratch;  // evaluation and quotient
  DeviceSpan<std::byte> h_sum;           // beside a
  // Queries over variables: ones as a list; full scalars, where they are among the points and which of the witness's
  // they are; how many lie before each window; with windows, the points of full scalars.
  DeviceSpan<uint32_t> ones, positions, indices, counts;
  DeviceSpan<device::Fr> scalars;
  DeviceSpan<std::byte> scalar_points;
  DeviceSpan<std::byte> lists, sum;
  uint64_t before_h_sum, before_sum;  // bytes

  DeviceProofSpace(DeviceCarver& carver, const DeviceProofPlan& plan, bool with_windows, uint64_t h_sum_bytes,
                   uint64_t sum_bytes) {
    witness = carver.take<std::byte>(plan.witness_bytes);
    if (with_windows) windows = carver.take<std::byte>(PointWindows<G1Affine>::bytes(DeviceProofPlan::kWindowPoints));
    const uint64_t after_witness = carver.mark();
    a = carver.take<device::Fr>(plan.domain);
    before_h_sum = carver.mark();
    b = carver.take<device::Fr>(plan.domain);
    scratch = carver.take<device::Fr>(plan.domain);
    carver.release(before_h_sum);
    h_sum = carver.take<std::byte>(h_sum_bytes);
    carver.release(after_witness);
    uint64_t bits = 0, full = 0, full_bytes = 0;
    for (Query query : kAllQueries) {
      const auto& [query_bits, query_scalars] = plan.queries[index_of(query)];
      bits = std::max<uint64_t>(bits, query_bits);
      full = std::max<uint64_t>(full, query_scalars);
      const uint64_t point = query == Query::kB ? sizeof(G2Affine) : sizeof(G1Affine);
      if (with_windows) full_bytes = std::max(full_bytes, query_scalars * point);
    }
    ones = carver.take<uint32_t>(bits);
    positions = carver.take<uint32_t>(full);
    indices = carver.take<uint32_t>(full);
    counts = carver.take<uint32_t>(2 + std::max(plan.lengths.l, plan.lengths.a) / kLeastWindow + 1);
    scalars = carver.take<device::Fr>(full);
    scalar_points = carver.take<std::byte>(full_bytes);
    lists = carver.take<std::byte>(plan.list_bytes);
    before_sum = carver.mark();
    sum = carver.take<std::byte>(sum_bytes);
  }
};

Result<uint64_t> DeviceProofPlan::workspace_bytes(bool windows, uint64_t limit_bytes) const {
  DeviceCarver least;
  const DeviceProofSpace at(least, *this, windows, 0, 0);
  if (least.bytes() > limit_bytes)
    return fail(Code::kTooLarge, "a proof of {} needs at least {} bytes of device memory, {} are allowed", name,
                least.bytes(), limit_bytes);
  const size_t h_points = windows ? std::min<size_t>(kWindowPoints, domain) : domain;
  CUZK_TRY_ASSIGN(const msm::DevicePlan h, msm::device_plan({h_points, false}, limit_bytes - at.before_h_sum));
  const uint64_t room = limit_bytes - at.before_sum;
  uint64_t sum = msm::listed_bytes<Fp2>(0);
  for (Query query : kAllQueries) {
    const auto& [bits, scalars] = queries[index_of(query)];
    const bool g2 = query == Query::kB;
    CUZK_TRY_ASSIGN(const msm::DevicePlan full, msm::device_plan({scalars, g2}, room));
    const uint64_t listed = g2 ? msm::listed_bytes<Fp2>(bits) : msm::listed_bytes<Fp>(bits);
    sum = std::max({sum, full.workspace_bytes, std::min(listed, room)});
  }
  DeviceCarver best;
  DeviceProofSpace(best, *this, windows, h.workspace_bytes, sum);
  return best.bytes();
}

// H = sum_k h_k [tau^k (tau^m - 1) / delta]; the coefficient of tau^(m-1) is zero and has no point.
Result<G1> DeviceProver::sum_h(const QueryPoints<G1Affine>& points, const DeviceProofSpace& at,
                               const gpu::Stream& stream) const {
  const size_t most = points.host.empty() ? domain_->size() : at.windows.size / PointWindows<G1Affine>::bytes(1);
  CUZK_TRY_ASSIGN(const msm::DevicePlan plan,
                  msm::device_plan({std::min<size_t>(most, domain_->size()), false}, at.h_sum.size));
  CUZK_TRY(msm::prepare(plan, at.a, msm::Order::kBitReversed, stream));
  G1 out = G1::infinity();
  CUZK_TRY(for_each_window(points, at.windows, stream, [&](uint64_t begin, auto window) -> Status {
    CUZK_TRY_ASSIGN(const G1 part,
                    msm::sum<Fp>(plan, window, at.a.subspan(begin, window.size).as_const(), {}, at.h_sum, stream));
    out += part;
    return {};
  }));
  return out;
}

// sum z_i p_i over the present variables: those that are 1 by a list, full scalars as a sum of their own (decision D4).
template <class F>
Result<Xyzz<F>> DeviceProver::sum_query(Query query, const QueryPoints<Affine<F>>& points,
                                        const r1cs::DeviceWitness& witness, const DeviceProofSpace& at,
                                        const gpu::Stream& stream) const {
  using Point = device::TwinOf<Affine<F>>;
  const auto& table = circuit_.queries[index_of(query)];
  const auto positions = at.positions.first(table.num_scalars), indices = at.indices.first(table.num_scalars);
  const auto scalars = at.scalars.first(table.num_scalars);
  CUZK_TRY(r1cs::list_scalars(circuit_, query, positions, indices, at.lists, stream));
  CUZK_TRY(
      r1cs::list_ones(circuit_, query, witness, at.ones.first(table.num_bits), at.counts.first(1), at.lists, stream));
  uint32_t ones = 0;
  CUZK_TRY(stream.download(std::span(&ones, 1), at.counts.first(1).as_const()));
  CUZK_TRY(gpu::launch(stream, gather<device::Fr>, gpu::blocks_for(scalars.size, kBlock), kBlock, 0,
                       witness.scalars.data, indices.data, scalars.size, scalars.data));
  CUZK_TRY_ASSIGN(const msm::DevicePlan plan,
                  msm::device_plan({table.num_scalars, std::is_same_v<F, Fp2>}, at.sum.size));
  CUZK_TRY(msm::prepare(plan, scalars, msm::Order::kNatural, stream));
  CUZK_TRY(stream.synchronize());

  if (points.host.empty()) {
    CUZK_TRY_ASSIGN(const Xyzz<F> full,
                    msm::sum<F>(plan, points.resident, scalars.as_const(), positions.as_const(), at.sum, stream));
    CUZK_TRY_ASSIGN(const Xyzz<F> listed,
                    msm::sum_listed<F>(points.resident, at.ones.first(ones).as_const(), at.sum, stream));
    return full + listed;
  }
  // With windows, the points of full scalars are set aside as they pass, and summed at the end.
  const uint64_t window = at.windows.size / PointWindows<Affine<F>>::bytes(1);
  const auto windows = static_cast<uint32_t>((points.host.size() + window - 1) / window);
  const auto aside = at.scalar_points.template as<Point>();
  CUZK_TRY_ASSIGN(const auto ones_before, counts_below(at.ones.first(ones), window, windows, at.counts, stream));
  CUZK_TRY_ASSIGN(const auto full_before, counts_below(positions, window, windows, at.counts, stream));
  Xyzz<F> out = Xyzz<F>::infinity();
  CUZK_TRY(for_each_window(points, at.windows, stream, [&](uint64_t begin, DeviceSpan<const Point> part) -> Status {
    const uint64_t k = begin / window;
    // Positions count all points, so they go from where the first would lie.
    const DeviceSpan<const Point> all{part.data - begin, points.host.size()};
    const uint32_t first = full_before[k], count = full_before[k + 1] - first;
    CUZK_TRY(gpu::launch(stream, gather<Point>, gpu::blocks_for(count, kBlock), kBlock, 0, all.data,
                         positions.data + first, uint64_t{count}, aside.data + first));
    const auto listed = at.ones.subspan(ones_before[k], ones_before[k + 1] - ones_before[k]);
    CUZK_TRY_ASSIGN(const Xyzz<F> sum, msm::sum_listed<F>(all, listed.as_const(), at.sum, stream));
    out += sum;
    return {};
  }));
  CUZK_TRY_ASSIGN(const Xyzz<F> full,
                  msm::sum<F>(plan, aside.first(table.num_scalars).as_const(), scalars.as_const(), {}, at.sum, stream));
  return out + full;
}

ProvingPoints points_of(const DeviceParameters& p) {
  return {.h = {.resident = p.h.as_const()},
          .l = {.resident = p.l.as_const()},
          .a = {.resident = p.a.as_const()},
          .b_g1 = {.resident = p.b_g1.as_const()},
          .b_g2 = QueryPoints<G2Affine>{.resident = p.b_g2.as_const()}};
}

ProvingPoints points_of(const Parameters& p) {
  return {.h = {.host = p.h},
          .l = {.host = p.l},
          .a = {.host = p.a},
          .b_g1 = {.host = p.b_g1},
          .b_g2 = QueryPoints<G2Affine>{.host = p.b_g2}};
}

Result<Pending> DeviceProver::start(const ProvingPoints& points, const r1cs::Witness& witness,
                                    DeviceSpan<std::byte> workspace, const gpu::Stream& stream,
                                    ProveTimes* times) const {
  if (!fit(points, plan_.lengths))
    return fail(Code::kInvalidParams, "the parameters are not of circuit {}", plan_.name);
  const bool windows = !(points.h.host.empty() && points.l.host.empty() && points.a.host.empty() &&
                         points.b_g1.host.empty() && (!points.b_g2 || points.b_g2->host.empty()));
  DeviceCarver counter, carver(workspace);
  const DeviceProofSpace least(counter, plan_, windows, 0, 0);
  if (counter.bytes() > workspace.size)
    return fail(Code::kInternal, "{} bytes of workspace, {} are needed", workspace.size, counter.bytes());
  const DeviceProofSpace at(carver, plan_, windows, workspace.size - least.before_h_sum,
                            workspace.size - least.before_sum);

  Stopwatch watch(times, stream);
  Pending out;
  CUZK_TRY_ASSIGN(const r1cs::DeviceWitness values, r1cs::upload(witness, circuit_, at.witness, stream));
  CUZK_TRY(r1cs::evaluate(circuit_, values, at.a, at.b, stream));
  CUZK_TRY(watch.lap(&ProveTimes::evaluate));
  CUZK_TRY(quotient(*domain_, at.a, at.b, at.scratch, stream));
  CUZK_TRY(watch.lap(&ProveTimes::quotient));
  CUZK_TRY_ASSIGN(out.h, sum_h(points.h, at, stream));
  CUZK_TRY(watch.lap(&ProveTimes::h));
  CUZK_TRY_ASSIGN(out.l, sum_query<Fp>(Query::kL, points.l, values, at, stream));  // L = sum_aux z_j l_j
  CUZK_TRY(watch.lap(&ProveTimes::l));
  CUZK_TRY_ASSIGN(out.a, sum_query<Fp>(Query::kA, points.a, values, at, stream));  // sum_i z_i [A_i]_1
  CUZK_TRY(watch.lap(&ProveTimes::a));
  CUZK_TRY_ASSIGN(out.b_g1, sum_query<Fp>(Query::kB, points.b_g1, values, at, stream));  // sum_i z_i [B_i]_1
  CUZK_TRY(watch.lap(&ProveTimes::b_g1));
  if (points.b_g2) {
    CUZK_TRY_ASSIGN(out.b_g2, sum_query<Fp2>(Query::kB, *points.b_g2, values, at, stream));  // sum_i z_i [B_i]_2
  }
  CUZK_TRY(watch.lap(&ProveTimes::b_g2));
  return out;
}

}  // namespace cuzk::groth16
