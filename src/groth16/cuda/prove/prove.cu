#include <chrono>

#include "curve/cuda/point.cuh"
#include "gpu/launch.cuh"
#include "groth16/cuda/prove/prove.h"
#include "groth16/cuda/quotient/quotient.h"
#include "msm/cuda/msm.h"

namespace cuzk::groth16 {
namespace {

using gpu::DeviceCarver;
using gpu::DeviceSpan;
using r1cs::Query;

__global__ void gather(const device::Fr* from, const uint32_t* indices, uint64_t count, device::Fr* out) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < count) device::store(out + i, device::load(from + indices[i]));
}

constexpr std::array kAllQueries = {Query::kL, Query::kA, Query::kB};
constexpr size_t index_of(Query query) { return static_cast<size_t>(query); }

// What stays in device memory of a circuit.
struct Resident {
  DeviceSpan<std::byte> circuit, domain;
  std::array<std::array<DeviceSpan<uint32_t>, 2>, r1cs::kQueries> scalars;

  Resident(DeviceCarver& carver, const r1cs::CircuitTables<r1cs::HostArray>& tables, unsigned log2_size)
      : circuit(carver.take<std::byte>(r1cs::table_bytes(tables))),
        domain(carver.take<std::byte>(ntt::DeviceDomain::bytes(log2_size))) {
    for (size_t q = 0; q < r1cs::kQueries; q++) {
      for (auto& list : scalars[q]) list = carver.take<uint32_t>(tables.queries[q].num_scalars);
    }
  }
};

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

uint64_t DeviceProver::resident_bytes(const r1cs::Circuit& circuit) {
  DeviceCarver counter;
  Resident(counter, r1cs::make_circuit_tables(circuit), r1cs::log2_domain(circuit));
  return counter.bytes();
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
  out.name_ = circuit.name;
  out.lengths_ = lengths_of(circuit);
  out.witness_bytes_ = r1cs::device_witness_bytes(circuit);
  out.list_bytes_ = r1cs::list_scratch_bytes(circuit);
  CUZK_TRY_ASSIGN(out.circuit_, r1cs::upload(tables, resident.circuit, stream));
  CUZK_TRY_ASSIGN(out.domain_, ntt::DeviceDomain::make(log2_size, resident.domain, stream));
  // Scratch of this moment, some KiB.
  mem::Budget budget({{"lists", out.list_bytes_}});
  CUZK_TRY_ASSIGN(auto reservation, budget.reserve({0, out.list_bytes_}));
  CUZK_TRY_ASSIGN(const auto scratch, gpu::DeviceMemory::make(stream.ordinal(), std::move(reservation)));
  for (Query query : kAllQueries) {
    const auto& [positions, indices] = resident.scalars[index_of(query)];
    CUZK_TRY(r1cs::list_scalars(out.circuit_, query, positions, indices, scratch.bytes(), stream));
    out.scalars_[index_of(query)] = {positions, indices};
  }
  CUZK_TRY(stream.synchronize());
  out.memory_ = std::move(memory);
  return out;
}

// The arrays of a proof; those of one step give way to those of the next.
struct DeviceProver::Workspace {
  DeviceSpan<std::byte> witness;
  DeviceSpan<device::Fr> a, b, scratch;  // evaluation and quotient
  DeviceSpan<std::byte> h_sum;           // beside a
  // Queries over variables.
  DeviceSpan<uint32_t> ones, count;
  DeviceSpan<device::Fr> scalars;
  DeviceSpan<std::byte> lists, sum;
  uint64_t before_h_sum, before_sum;  // bytes

  Workspace(DeviceCarver& carver, const DeviceProver& prover, uint64_t h_sum_bytes, uint64_t sum_bytes) {
    const size_t size = prover.domain_->size();
    witness = carver.take<std::byte>(prover.witness_bytes_);
    const uint64_t after_witness = carver.mark();
    a = carver.take<device::Fr>(size);
    before_h_sum = carver.mark();
    b = carver.take<device::Fr>(size);
    scratch = carver.take<device::Fr>(size);
    carver.release(before_h_sum);
    h_sum = carver.take<std::byte>(h_sum_bytes);
    carver.release(after_witness);
    uint32_t bits = 0, scalars_most = 0;
    for (const auto& query : prover.circuit_.queries) {
      bits = std::max(bits, query.num_bits);
      scalars_most = std::max(scalars_most, query.num_scalars);
    }
    ones = carver.take<uint32_t>(bits);
    count = carver.take<uint32_t>(1);
    scalars = carver.take<device::Fr>(scalars_most);
    lists = carver.take<std::byte>(prover.list_bytes_);
    before_sum = carver.mark();
    sum = carver.take<std::byte>(sum_bytes);
  }
};

Result<uint64_t> DeviceProver::workspace_bytes(uint64_t limit_bytes) const {
  DeviceCarver least;
  const Workspace at(least, *this, 0, 0);
  if (least.bytes() > limit_bytes)
    return fail(Code::kTooLarge, "a proof of {} needs at least {} bytes of device memory, {} are allowed", name_,
                least.bytes(), limit_bytes);
  CUZK_TRY_ASSIGN(const msm::DevicePlan h, msm::device_plan({domain_->size(), false}, limit_bytes - at.before_h_sum));
  const uint64_t room = limit_bytes - at.before_sum;
  uint64_t sum = msm::listed_bytes<Fp2>(0);
  for (Query query : kAllQueries) {
    const auto& table = circuit_.queries[index_of(query)];
    const bool g2 = query == Query::kB;
    CUZK_TRY_ASSIGN(const msm::DevicePlan full, msm::device_plan({table.num_scalars, g2}, room));
    const uint64_t listed = g2 ? msm::listed_bytes<Fp2>(table.num_bits) : msm::listed_bytes<Fp>(table.num_bits);
    sum = std::max({sum, full.workspace_bytes, std::min(listed, room)});
  }
  DeviceCarver best;
  Workspace(best, *this, h.workspace_bytes, sum);
  return best.bytes();
}

template <class F>
Result<Xyzz<F>> DeviceProver::sum_query(Query query, DeviceSpan<device::TwinOf<Affine<F>>> points,
                                        const r1cs::DeviceWitness& witness, const Workspace& at,
                                        const gpu::Stream& stream) const {
  const auto& table = circuit_.queries[index_of(query)];
  const Scalars& full = scalars_[index_of(query)];
  const auto scalars = at.scalars.first(table.num_scalars);
  CUZK_TRY(r1cs::list_ones(circuit_, query, witness, at.ones.first(table.num_bits), at.count, at.lists, stream));
  uint32_t ones = 0;
  CUZK_TRY(stream.download(std::span(&ones, 1), at.count.as_const()));
  CUZK_TRY(gpu::launch(stream, gather, gpu::blocks_for(scalars.size, 256), 256, 0, witness.scalars.data,
                       full.indices.data, scalars.size, scalars.data));
  CUZK_TRY_ASSIGN(const msm::DevicePlan plan,
                  msm::device_plan({table.num_scalars, std::is_same_v<F, Fp2>}, at.sum.size));
  CUZK_TRY(msm::prepare(plan, scalars, msm::Order::kNatural, stream));
  CUZK_TRY_ASSIGN(const Xyzz<F> sum,
                  msm::sum<F>(plan, points.as_const(), scalars.as_const(), full.positions.as_const(), at.sum, stream));
  CUZK_TRY(stream.synchronize());
  CUZK_TRY_ASSIGN(const Xyzz<F> bits,
                  msm::sum_listed<F>(points.as_const(), at.ones.first(ones).as_const(), at.sum, stream));
  return sum + bits;
}

Result<Pending> DeviceProver::start(const DeviceParameters& parameters, const r1cs::Witness& witness,
                                    DeviceSpan<std::byte> workspace, const gpu::Stream& stream,
                                    ProveTimes* times) const {
  if (lengths_of(parameters) != lengths_)
    return fail(Code::kInvalidParams, "the parameters are not of circuit {}", name_);
  DeviceCarver counter, carver(workspace);
  const Workspace fixed(counter, *this, 0, 0);
  if (counter.bytes() > workspace.size || fixed.before_sum > workspace.size)
    return fail(Code::kInternal, "{} bytes of workspace, {} are needed", workspace.size, counter.bytes());
  const Workspace at(carver, *this, workspace.size - fixed.before_h_sum, workspace.size - fixed.before_sum);

  Stopwatch watch(times, stream);
  Pending out;
  CUZK_TRY_ASSIGN(const r1cs::DeviceWitness values, r1cs::upload(witness, circuit_, at.witness, stream));
  CUZK_TRY(r1cs::evaluate(circuit_, values, at.a, at.b, stream));
  CUZK_TRY(watch.lap(&ProveTimes::evaluate));
  CUZK_TRY(quotient(*domain_, at.a, at.b, at.scratch, stream));
  CUZK_TRY(watch.lap(&ProveTimes::quotient));

  // H = sum_k h_k [tau^k (tau^m - 1) / delta]; the coefficient of tau^(m-1) is zero and has no point.
  CUZK_TRY_ASSIGN(const msm::DevicePlan plan, msm::device_plan({domain_->size(), false}, at.h_sum.size));
  CUZK_TRY_ASSIGN(out.h, msm::run<Fp>(plan, parameters.h.as_const(), at.a, msm::Order::kBitReversed, at.h_sum, stream));
  CUZK_TRY(watch.lap(&ProveTimes::h));

  CUZK_TRY_ASSIGN(out.l, sum_query<Fp>(Query::kL, parameters.l, values, at, stream));  // L = sum_aux z_j l_j
  CUZK_TRY(watch.lap(&ProveTimes::l));
  CUZK_TRY_ASSIGN(out.a, sum_query<Fp>(Query::kA, parameters.a, values, at, stream));  // sum_i z_i [A_i]_1
  CUZK_TRY(watch.lap(&ProveTimes::a));
  CUZK_TRY_ASSIGN(out.b_g1, sum_query<Fp>(Query::kB, parameters.b_g1, values, at, stream));  // sum_i z_i [B_i]_1
  CUZK_TRY(watch.lap(&ProveTimes::b_g1));
  CUZK_TRY_ASSIGN(out.b_g2, sum_query<Fp2>(Query::kB, parameters.b_g2, values, at, stream));  // sum_i z_i [B_i]_2
  CUZK_TRY(watch.lap(&ProveTimes::b_g2));
  return out;
}

}  // namespace cuzk::groth16
