#include <bit>
#include <cstring>

#include "curve/cuda/encoding.h"
#include "curve/cuda/point.cuh"
#include "curve/encoding.h"
#include "gpu/launch.cuh"
#include "groth16/cuda/params/params.h"
#include "msm/cuda/fixed_base/fixed_base.h"
#include "r1cs/cuda/qap.h"

namespace cuzk::groth16 {
namespace {

using device::decode_points;
using device::encode_points;
using device::load;
using device::store;
using G1 = device::G1Affine;
using G2 = device::G2Affine;

constexpr unsigned kThreads = 128;

// --- sections and windows of them

using Sections = std::array<Section, 5>;  // h, l, a, b_g1, b_g2
constexpr size_t kG2Section = 4;

Sections sections_of(const Lengths& n) {
  return {{{"h", 0, n.h, kG1UncompressedBytes},
           {"l", 0, n.l, kG1UncompressedBytes},
           {"a", 0, n.a, kG1UncompressedBytes},
           {"b_g1", 0, n.b_g1, kG1UncompressedBytes},
           {"b_g2", 0, n.b_g2, kG2UncompressedBytes}}};
}

struct Window {
  size_t section;
  uint64_t begin, count;  // of its points
  uint64_t ordinal;       // of the first point among those of all sections
  uint64_t bytes;
};

// An empty section has one empty window.
std::vector<Window> windows_of(const Sections& sections, uint64_t window_bytes) {
  std::vector<Window> out;
  uint64_t ordinal = 0;
  for (size_t s = 0; s < sections.size(); s++) {
    const Section& section = sections[s];
    uint64_t begin = 0;
    do {
      const uint64_t count = std::min(section.count - begin, window_bytes / section.point_bytes);
      out.push_back({s, begin, count, ordinal, count * section.point_bytes});
      begin += count, ordinal += count;
    } while (begin < section.count);
  }
  return out;
}

// The memory of a window: points have as many bytes in native form as in a file.
gpu::DeviceSpan<std::byte> memory_of(const DeviceParameters& p, const Window& window, size_t point_bytes) {
  const std::array<gpu::DeviceSpan<std::byte>, 5> sections = {
      p.h.as<std::byte>(), p.l.as<std::byte>(), p.a.as<std::byte>(), p.b_g1.as<std::byte>(), p.b_g2.as<std::byte>()};
  return sections[window.section].subspan(window.begin * point_bytes, window.bytes);
}

struct Carved {
  DeviceParameters parameters;
  gpu::DeviceSpan<uint64_t> fault;  // ordinal of the first bad point
};
void carve(const Lengths& n, gpu::DeviceCarver& carver, Carved& out) {
  out.parameters.h = carver.take<G1>(n.h);
  out.parameters.l = carver.take<G1>(n.l);
  out.parameters.a = carver.take<G1>(n.a);
  out.parameters.b_g1 = carver.take<G1>(n.b_g1);
  out.parameters.b_g2 = carver.take<G2>(n.b_g2);
  out.fault = carver.take<uint64_t>(1);
}

// Sections of these lengths, uninitialised, and no fault.
Result<Carved> make(const Lengths& lengths, gpu::DeviceMemory memory, const gpu::Stream& stream) {
  if (memory.bytes().size < device_bytes(lengths)) {
    return fail(Code::kInternal, "parameters of {} bytes in {}", device_bytes(lengths), memory.bytes().size);
  }
  Carved out;
  gpu::DeviceCarver carver(memory.bytes());
  carve(lengths, carver, out);
  out.parameters.memory = std::move(memory);
  CUZK_TRY(stream.clear(out.fault, 0xff));
  return out;
}

// Ordinal of the first fault, or UINT64_MAX; waits for the stream.
Result<uint64_t> first_fault(const Carved& carved, const gpu::Stream& stream) {
  uint64_t ordinal = 0;
  CUZK_TRY(stream.download(std::span(&ordinal, 1), carved.fault.as_const()));
  CUZK_TRY(stream.synchronize());
  return ordinal;
}

// Two halves of the staging memory, used in turn.
class Halves {
 public:
  static Result<Halves> make(std::span<std::byte> staging, int ordinal) {
    Halves out;
    if (staging.size() < 2 * kG2UncompressedBytes) return fail(Code::kInternal, "{} bytes of staging", staging.size());
    const size_t half = staging.size() / 2 / kG2UncompressedBytes * kG2UncompressedBytes;
    for (size_t i = 0; i < 2; i++) {
      out.halves_[i].memory = staging.subspan(i * half, half);
      CUZK_TRY_ASSIGN(out.halves_[i].event, gpu::Event::make(ordinal));
    }
    return out;
  }
  struct Half {
    std::span<std::byte> memory;
    gpu::Event event;  // of its last use by the device
  };
  const Half& operator[](size_t window) const { return halves_[window % 2]; }
  uint64_t bytes() const { return halves_[0].memory.size(); }

 private:
  Half halves_[2];
};

// Reads all points: the threads of the pool copy a window into pinned memory while the device decodes the one before.
Status read_points(const mem::MappedFile& file, const Sections& sections, Check check, const Carved& carved,
                   const gpu::Stream& stream, std::span<std::byte> staging, exec::Pool& pool,
                   const Progress& progress) {
  CUZK_TRY_ASSIGN(const Halves halves, Halves::make(staging, stream.ordinal()));
  const std::vector<Window> windows = windows_of(sections, halves.bytes());
  const uint64_t total = windows.back().ordinal + windows.back().count;
  for (size_t w = 0; w < windows.size(); w++) {
    const Window& window = windows[w];
    const Section& section = sections[window.section];
    const uint64_t offset = section.offset + window.begin * section.point_bytes;
    file.advise(mem::MappedFile::Advice::kWillNeed, offset, 3 * halves.bytes());
    CUZK_TRY(halves[w].event.synchronize());
    const std::span<std::byte> pinned = halves[w].memory.first(window.bytes);
    pool.for_each_chunk(window.bytes, size_t{1} << 20, [&](size_t begin, size_t end) {
      std::memcpy(pinned.data() + begin, file.bytes().data() + offset + begin, end - begin);
    });
    file.advise(mem::MappedFile::Advice::kDone, offset, window.bytes);
    const gpu::DeviceSpan<std::byte> memory = memory_of(carved.parameters, window, section.point_bytes);
    CUZK_TRY(stream.upload(memory, std::span<const std::byte>(pinned)));
    CUZK_TRY(halves[w].event.record(stream));
    const bool full = check == Check::kFull;
    if (window.section == kG2Section) {
      CUZK_TRY(decode_points(memory.as<G2>(), full, window.ordinal, carved.fault, stream));
    } else {
      CUZK_TRY(decode_points(memory.as<G1>(), full, window.ordinal, carved.fault, stream));
    }
    if (progress && window.count > 0) progress(window.ordinal + window.count, total);
  }
  CUZK_TRY_ASSIGN(uint64_t fault, first_fault(carved, stream));
  if (fault == UINT64_MAX) return {};
  size_t s = 0;
  while (fault >= sections[s].count) fault -= sections[s++].count;
  CUZK_TRY(check_point(file.bytes(), sections[s], fault, check));
  return fail(Code::kInternal, "the device refuses {}[{}], in which the host finds no fault", sections[s].name, fault);
}

// --- setup

__global__ __launch_bounds__(kThreads) void find_zero(const device::Fr* scalars, uint64_t count, uint64_t ordinal,
                                                      uint64_t* fault) {
  const uint64_t i = blockIdx.x * uint64_t{kThreads} + threadIdx.x;
  if (i < count && load(scalars + i).is_zero()) device::keep_lowest(fault, ordinal + i);
}

constexpr uint64_t kPowers = uint64_t{1} << 22;  // scalars of h made at a time: 128 MiB
constexpr uint64_t kPiece = uint64_t{1} << 16;   // scalars of the host multiplied at a time

// What device_setup works in.
struct SetupMemory {
  gpu::DeviceSpan<device::Fr> scalars;
  gpu::DeviceSpan<std::byte> points;  // of kPiece scalars
  gpu::DeviceSpan<std::byte> g1, g2;  // one after the other in the same place
  msm::FixedBasePlan g1_plan, g2_plan;

  SetupMemory(const Lengths& n, const gpu::DeviceInfo& device, gpu::DeviceCarver& carver)
      : g1_plan(msm::plan_fixed_base(n.ic + n.h + n.l + n.a + n.b_g1, false, device)),
        g2_plan(msm::plan_fixed_base(n.b_g2, true, device)) {
    scalars = carver.take<device::Fr>(std::max(std::min(kPowers, n.h), kPiece));
    points = carver.take<std::byte>(kPiece * sizeof(G2));
    const uint64_t mark = carver.mark();
    g1 = carver.take<std::byte>(g1_plan.bytes);
    carver.release(mark);
    g2 = carver.take<std::byte>(g2_plan.bytes);
  }
};

// scalars[i] * base, to the host.
template <class F>
Result<std::vector<Affine<F>>> multiply(const msm::DeviceFixedBase<F>& base, std::span<const Fr> scalars,
                                        const SetupMemory& memory, const gpu::Stream& stream) {
  std::vector<Affine<F>> out(scalars.size());
  for (size_t begin = 0; begin < scalars.size(); begin += kPiece) {
    const size_t count = std::min<size_t>(kPiece, scalars.size() - begin);
    const auto on_device = memory.scalars.first(count);
    const auto points = memory.points.template as<device::TwinOf<Affine<F>>>().first(count);
    CUZK_TRY(stream.upload(on_device.template as<Fr>(), scalars.subspan(begin, count)));
    CUZK_TRY(base.mul(on_device.as_const(), points, stream));
    CUZK_TRY(stream.download(std::span(out).subspan(begin, count), points.template as<Affine<F>>().as_const()));
    CUZK_TRY(stream.synchronize());
  }
  return out;
}

Status refuse_zeros(const SetupScalars& scalars, const Carved& carved, const gpu::Stream& stream) {
  struct Named {
    const char* name;
    gpu::DeviceSpan<const device::Fr> scalars;
  };
  uint64_t ordinal = 0;
  const Named all[] = {{"l", scalars.l}, {"a", scalars.a}, {"b_g1", scalars.b}};
  for (const Named& section : all) {
    CUZK_TRY(gpu::launch(stream, find_zero, gpu::blocks_for(section.scalars.size, kThreads), kThreads, 0,
                         section.scalars.data, uint64_t{section.scalars.size}, ordinal, carved.fault.data));
    ordinal += section.scalars.size;
  }
  CUZK_TRY_ASSIGN(uint64_t fault, first_fault(carved, stream));
  if (fault == UINT64_MAX) return {};
  size_t s = 0;
  while (fault >= all[s].scalars.size) fault -= all[s++].scalars.size;
  return fail(Code::kInvalidInput, "{}[{}] would be infinity: its variable is in no row", all[s].name, fault);
}

// h[k] = tau^k (tau^m - 1) / delta
Status make_h(const Toxic& toxic, const msm::DeviceFixedBase<cuzk::Fp>& g1, gpu::DeviceSpan<G1> h,
              gpu::DeviceSpan<device::Fr> scalars, const gpu::Stream& stream) {
  const Fr first = (toxic.tau.pow(h.size + 1) - Fr::one()) * toxic.delta.inverse();
  for (uint64_t begin = 0; begin < h.size; begin += scalars.size) {
    const auto piece = scalars.first(std::min<uint64_t>(scalars.size, h.size - begin));
    CUZK_TRY(r1cs::powers(first * toxic.tau.pow(begin), toxic.tau, piece, stream));
    CUZK_TRY(g1.mul(piece.as_const(), h.subspan(begin, piece.size), stream));
  }
  return {};
}

}  // namespace

Lengths lengths_of(const DeviceParameters& p) {
  return {p.vk.ic.size(), p.h.size, p.l.size, p.a.size, p.b_g1.size, p.b_g2.size};
}

uint64_t device_bytes(const Lengths& lengths) {
  gpu::DeviceCarver counter;
  Carved unused;
  carve(lengths, counter, unused);
  return counter.bytes();
}

Result<LoadedDeviceParameters> load_device_params(const std::filesystem::path& path,
                                                  const std::optional<Lengths>& wanted, const LoadOptions& options,
                                                  gpu::DeviceMemory memory, std::span<std::byte> staging,
                                                  exec::Pool& pool) {
  LoadedDeviceParameters loaded;
  const Decode decode = [&](const mem::MappedFile& file, const Layout& layout, Check check) -> Status {
    CUZK_TRY_ASSIGN(VerifyingKey vk, decode_params_vk(file.bytes(), layout));
    CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(memory.ordinal()));
    CUZK_TRY_ASSIGN(Carved carved, make(layout.lengths(), std::move(memory), stream));
    Sections sections;
    std::copy(layout.sections.begin() + 1, layout.sections.end(), sections.begin());
    CUZK_TRY(read_points(file, sections, check, carved, stream, staging, pool, options.progress));
    loaded.parameters = std::move(carved.parameters);
    loaded.parameters.vk = std::move(vk);
    return {};
  };
  CUZK_TRY_ASSIGN(static_cast<LoadReport&>(loaded), load_params_with(path, wanted, options, decode));
  return loaded;
}

Status write_params(const std::filesystem::path& path, const DeviceParameters& parameters, std::span<std::byte> staging,
                    const Progress& progress) {
  CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(parameters.memory.ordinal()));
  CUZK_TRY_ASSIGN(const Halves halves, Halves::make(staging, stream.ordinal()));
  const Sections sections = sections_of(lengths_of(parameters));
  const std::vector<Window> windows = windows_of(sections, halves.bytes());
  const uint64_t total = windows.back().ordinal + windows.back().count;
  const auto start_encoding = [&](size_t w) -> Status {
    const gpu::DeviceSpan<std::byte> memory =
        memory_of(parameters, windows[w], sections[windows[w].section].point_bytes);
    if (windows[w].section == kG2Section) {
      CUZK_TRY(encode_points(memory.as<G2>().as_const(), halves[w].memory, stream));
    } else {
      CUZK_TRY(encode_points(memory.as<G1>().as_const(), halves[w].memory, stream));
    }
    return halves[w].event.record(stream);
  };
  CUZK_TRY_ASSIGN(ParamsWriter writer, ParamsWriter::create(path));
  CUZK_TRY(writer.vk(parameters.vk));
  CUZK_TRY(start_encoding(0));
  for (size_t w = 0; w < windows.size(); w++) {
    const Window& window = windows[w];
    if (w + 1 < windows.size()) CUZK_TRY(start_encoding(w + 1));
    if (window.begin == 0) CUZK_TRY(writer.begin_section(sections[window.section].count));
    CUZK_TRY(halves[w].event.synchronize());
    CUZK_TRY(writer.encoded_points(
        {reinterpret_cast<const uint8_t*>(halves[w].memory.data()), static_cast<size_t>(window.bytes)}));
    if (progress && window.count > 0) progress(window.ordinal + window.count, total);
  }
  return writer.commit();
}

Result<DeviceParameters> upload_params(const Parameters& p, gpu::DeviceMemory memory) {
  CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(memory.ordinal()));
  CUZK_TRY_ASSIGN(Carved carved, make(lengths_of(p), std::move(memory), stream));
  DeviceParameters& out = carved.parameters;
  out.vk = p.vk;
  CUZK_TRY(stream.upload(out.h.as<G1Affine>(), std::span(p.h)));
  CUZK_TRY(stream.upload(out.l.as<G1Affine>(), std::span(p.l)));
  CUZK_TRY(stream.upload(out.a.as<G1Affine>(), std::span(p.a)));
  CUZK_TRY(stream.upload(out.b_g1.as<G1Affine>(), std::span(p.b_g1)));
  CUZK_TRY(stream.upload(out.b_g2.as<G2Affine>(), std::span(p.b_g2)));
  CUZK_TRY(stream.synchronize());
  return std::move(out);
}

Result<Parameters> download_params(const DeviceParameters& p) {
  CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(p.memory.ordinal()));
  Parameters out;
  out.vk = p.vk;
  const auto section = [&]<class Point>(Points<Point>& to, auto from) -> Status {
    std::vector<Point> points(from.size);
    CUZK_TRY(stream.download(std::span(points), from.template as<Point>().as_const()));
    to = std::move(points);  // which stay where they are until the download is done
    return {};
  };
  CUZK_TRY(section(out.h, p.h));
  CUZK_TRY(section(out.l, p.l));
  CUZK_TRY(section(out.a, p.a));
  CUZK_TRY(section(out.b_g1, p.b_g1));
  CUZK_TRY(section(out.b_g2, p.b_g2));
  CUZK_TRY(stream.synchronize());
  return out;
}

uint64_t device_setup_bytes(const Lengths& lengths, const gpu::DeviceInfo& device) {
  gpu::DeviceCarver counter;
  SetupMemory(lengths, device, counter);
  return counter.bytes();
}

Result<DeviceParameters> device_setup(const Toxic& toxic, uint64_t h_points, const SetupScalars& scalars,
                                      const gpu::DeviceInfo& device, gpu::DeviceMemory memory,
                                      gpu::DeviceSpan<std::byte> workspace) {
  const Lengths lengths = {.ic = scalars.ic.size(),
                           .h = h_points,
                           .l = scalars.l.size,
                           .a = scalars.a.size,
                           .b_g1 = scalars.b.size,
                           .b_g2 = scalars.b.size};
  if (!std::has_single_bit(h_points + 1)) return fail(Code::kInternal, "h of {} points", h_points);
  if (workspace.size < device_setup_bytes(lengths, device))
    return fail(Code::kInternal, "{} bytes to work in", workspace.size);
  CUZK_TRY(check_secrets(toxic, static_cast<unsigned>(std::countr_zero(h_points + 1))));
  CUZK_TRY_ASSIGN(const gpu::Stream stream, gpu::Stream::make(device.ordinal));
  CUZK_TRY_ASSIGN(Carved carved, make(lengths, std::move(memory), stream));
  CUZK_TRY(refuse_zeros(scalars, carved, stream));
  gpu::DeviceCarver carver(workspace);
  const SetupMemory work(lengths, device, carver);
  DeviceParameters& out = carved.parameters;

  CUZK_TRY_ASSIGN(const auto g1, msm::DeviceFixedBase<cuzk::Fp>::make(
                                     work.g1_plan, cuzk::G1::from_affine(g1_generator()), work.g1, stream));
  std::vector<Fr> vk_scalars = {toxic.alpha, toxic.beta, toxic.delta};
  vk_scalars.insert(vk_scalars.end(), scalars.ic.begin(), scalars.ic.end());
  CUZK_TRY_ASSIGN(const std::vector<G1Affine> p, multiply<cuzk::Fp>(g1, vk_scalars, work, stream));
  CUZK_TRY(make_h(toxic, g1, out.h, work.scalars, stream));
  CUZK_TRY(g1.mul(scalars.l, out.l, stream));
  CUZK_TRY(g1.mul(scalars.a, out.a, stream));
  CUZK_TRY(g1.mul(scalars.b, out.b_g1, stream));

  CUZK_TRY_ASSIGN(const auto g2, msm::DeviceFixedBase<Fp2>::make(work.g2_plan, cuzk::G2::from_affine(g2_generator()),
                                                                 work.g2, stream));
  CUZK_TRY_ASSIGN(const std::vector<G2Affine> q,
                  multiply<Fp2>(g2, std::array{toxic.beta, toxic.gamma, toxic.delta}, work, stream));
  CUZK_TRY(g2.mul(scalars.b, out.b_g2, stream));
  CUZK_TRY(stream.synchronize());
  out.vk = vk_of(p, std::span<const G2Affine, 3>(q.data(), 3));
  return std::move(out);
}

}  // namespace cuzk::groth16
