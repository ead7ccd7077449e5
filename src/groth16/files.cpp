#include "groth16/files.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "curve/encoding.h"
#include "groth16/native_file.h"
#include "groth16/subgroup_batch.h"
#include "hash/blake2.h"
#include "hash/sha256.h"
#include "mem/carver.h"

namespace cuzk::groth16 {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kVkHeadBytes = 3 * kG1UncompressedBytes + 3 * kG2UncompressedBytes;  // before the u32 ic length

template <class Point>
constexpr size_t kPointBytes = std::is_same_v<Point, G1Affine> ? kG1UncompressedBytes : kG2UncompressedBytes;

template <class Point>
std::span<const uint8_t, kPointBytes<Point>> point_span(const uint8_t* bytes) {
  return std::span<const uint8_t, kPointBytes<Point>>(bytes, kPointBytes<Point>);
}

template <class Point>
std::optional<Point> decode_unchecked(const uint8_t* bytes) {
  if constexpr (std::is_same_v<Point, G1Affine>)
    return g1_decode_unchecked(point_span<Point>(bytes));
  else
    return g2_decode_unchecked(point_span<Point>(bytes));
}

template <class Point>
Result<Point> decode_on_curve(const uint8_t* bytes) {
  if constexpr (std::is_same_v<Point, G1Affine>)
    return g1_from_uncompressed(point_span<Point>(bytes));
  else
    return g2_from_uncompressed(point_span<Point>(bytes));
}

// One point with every check, for the verifying key.
template <class Point>
Status decode_checked(Point& out, const uint8_t* bytes, std::string_view name) {
  Result<Point> point = decode_on_curve<Point>(bytes);
  if (!point) return fail(Code::kInvalidParams, "{}: {}", name, point.error().message);
  if (point->is_infinity()) return fail(Code::kInvalidParams, "{} is infinity", name);
  if (!in_subgroup(*point)) return fail(Code::kInvalidParams, "{} is outside the subgroup", name);
  out = *point;
  return {};
}

bool is_text(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](uint8_t c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n'; });
}

// What bytes that are no key seem to be.
std::string describe_content(ByteSpan bytes) {
  if (bytes.empty()) return "empty";
  const ByteSpan head = bytes.first(std::min<size_t>(bytes.size(), 512));
  std::string_view text = as_text(head), kind = "something else";
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (is_text(head) && !text.empty()) {
    kind = text[0] == '<'                                ? "HTML"
           : text[0] == '{'                              ? "JSON"
           : text.starts_with("version https://git-lfs") ? "a Git LFS pointer"
                                                         : "text";
  }
  return fmt::format("{}, {} bytes", kind, bytes.size());
}

// Refuses what is visibly no key file: nothing, text, or a first byte that, below its three flags, no coordinate below
// p has.
Status expect_key_file(ByteSpan file, std::string_view kind) {
  if (!file.empty() && (file[0] & 0x1f) <= 0x1a && !is_text(file.first(std::min<size_t>(file.size(), 64)))) return {};
  return fail(Code::kInvalidParams, "not {} but {}: fetch it again", kind, describe_content(file));
}

Result<VerifyingKey> decode_vk_points(ByteSpan file, const Section& ic) {
  VerifyingKey vk;
  const uint8_t* at = file.data();
  auto take = [&](auto& point, std::string_view name) {
    const uint8_t* bytes = at;
    at += kPointBytes<std::remove_reference_t<decltype(point)>>;
    return decode_checked(point, bytes, name);
  };
  CUZK_TRY(take(vk.alpha_g1, "alpha_g1"));
  CUZK_TRY(take(vk.beta_g1, "beta_g1"));
  CUZK_TRY(take(vk.beta_g2, "beta_g2"));
  CUZK_TRY(take(vk.gamma_g2, "gamma_g2"));
  CUZK_TRY(take(vk.delta_g1, "delta_g1"));
  CUZK_TRY(take(vk.delta_g2, "delta_g2"));
  // gamma is the generator in the official keys. Who knows the quotient of the two forges proofs.
  if (vk.delta_g1 == g1_generator() || vk.delta_g2 == g2_generator() || vk.delta_g2 == vk.gamma_g2)
    return fail(Code::kInvalidParams, "delta is the generator or gamma: nobody took part in this setup");
  at = file.data() + ic.offset;
  vk.ic.resize(ic.count);
  for (size_t i = 0; i < ic.count; i++) CUZK_TRY(take(vk.ic[i], fmt::format("ic[{}]", i)));
  return vk;
}

// The section whose length stands at `at`, wholly inside the file.
Result<Section> read_section(ByteSpan file, uint64_t at, std::string_view name, uint32_t point_bytes,
                             std::optional<uint64_t> wanted) {
  if (at + 4 > file.size())
    return fail(Code::kInvalidParams, "the file ends after {} bytes, before section {}", file.size(), name);
  Section section{name, at + 4, load_be<uint32_t>(file.data() + at), point_bytes};
  if (wanted && section.count != *wanted) {
    return fail(Code::kInvalidParams, "belongs to another circuit: {} has {} points, the circuit wants {}", name,
                section.count, *wanted);
  }
  uint64_t whole = (file.size() - section.offset) / point_bytes;
  if (whole < section.count) {
    return fail(Code::kInvalidParams, "the file ends inside section {} at point {} of {}", name, whole, section.count);
  }
  return section;
}

uint64_t section_end(const Section& section) { return section.offset + section.count * section.point_bytes; }

Result<Section> ic_section(ByteSpan file, std::optional<uint64_t> wanted) {
  if (file.size() < kVkHeadBytes)
    return fail(Code::kInvalidParams, "the file ends inside the verifying key, after {} bytes", file.size());
  CUZK_TRY_ASSIGN(Section ic, read_section(file, kVkHeadBytes, "ic", kG1UncompressedBytes, wanted));
  if (ic.count == 0) return fail(Code::kInvalidParams, "ic is empty");
  return ic;
}

// Collects the first fault, by index, of pieces that are checked at once.
struct FirstFault {
  std::mutex mutex;
  uint64_t index = UINT64_MAX;
  std::optional<Error> error;

  void report(uint64_t at, Error found) {
    std::lock_guard lock(mutex);
    if (at < index || !error) index = at, error = std::move(found);
  }
};

std::string point_name(const Section& section, uint64_t i) { return fmt::format("{}[{}]", section.name, i); }
Error outside_subgroup(const Section& section, uint64_t i) {
  return {Code::kInvalidParams, point_name(section, i) + " is outside the subgroup"};
}

// One point, with every check but the subgroup's.
template <class Point>
Result<Point> decode_point(ByteSpan file, const Section& section, uint64_t i, Check check) {
  const uint8_t* bytes = file.data() + section.offset + i * kPointBytes<Point>;
  std::optional<Point> point = decode_unchecked<Point>(bytes);
  if (!point || (check == Check::kFull && !on_curve(*point))) {
    Result<Point> why = decode_on_curve<Point>(bytes);
    return fail(Code::kInvalidParams, "{}: {}", point_name(section, i), why ? "malformed" : why.error().message);
  }
  if (point->is_infinity()) return fail(Code::kInvalidParams, "{} is infinity", point_name(section, i));
  return *point;
}

// Points [begin, begin + out.size()) of a section. False, and the first fault reported, where one is bad.
template <class Point>
bool decode_piece(ByteSpan file, const Section& section, size_t begin, Check check, std::span<Point> out,
                  FirstFault& fault) {
  using F = decltype(Point::x);
  const ByteSpan bytes = file.subspan(section.offset + begin * kPointBytes<Point>, out.size() * kPointBytes<Point>);
  const size_t good = decode_points<F>(bytes, out, check == Check::kFull);
  if (good == out.size()) return true;
  const Result<Point> why = decode_point<Point>(file, section, begin + good, check);
  fault.report(begin + good,
               why ? Error{Code::kInternal, point_name(section, begin + good) + " was read wrongly"} : why.error());
  return false;
}

using Done = std::function<void(uint64_t points)>;

// Equal parts of the memory that a load works in, one for each piece of a loop that is in progress.
class Shares {
 public:
  static Result<Shares> make(mem::Reservation memory, size_t threads) {
    Shares out;
    CUZK_TRY_ASSIGN(out.memory_, mem::Buffer::make(std::move(memory)));
    const size_t share = out.memory_.bytes().size() / threads;
    for (size_t i = 0; i < threads; i++) out.state_->idle.push_back(out.memory_.bytes().subspan(i * share, share));
    return out;
  }
  template <class Body>
  auto with_one(const Body& body) const {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return !state_->idle.empty(); });
    const std::span<std::byte> mine = state_->idle.back();
    state_->idle.pop_back();
    lock.unlock();
    auto result = body(mine);
    lock.lock();
    state_->idle.push_back(mine);
    state_->changed.notify_one();
    return result;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::span<std::byte>> idle;
  };
  mem::Buffer memory_;
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

// store(begin, end, fill) makes room for the points [begin, end), calls fill with it, and keeps them where that is
// true.
template <class Point, class Store>
Status convert_section(ByteSpan file, const Section& section, Check check, exec::Pool& pool, const Done& done,
                       const Store& store) {
  FirstFault fault;
  pool.for_each_chunk(section.count, NativeWriter::kPiece, [&](size_t begin, size_t end) {
    Status stored = store(
        begin, end, [&](std::span<Point> out) { return decode_piece<Point>(file, section, begin, check, out, fault); });
    if (!stored) fault.report(begin, std::move(stored).error());
    done(end - begin);
  });
  if (fault.error) return tl::unexpected(*fault.error);
  return {};
}

// visit(index, Points<Point>&) over the five sections of points in the order of the file, up to the first failure.
template <class Visit>
Status for_each_section(Parameters& p, const Visit& visit) {
  CUZK_TRY(visit(0, p.h));
  CUZK_TRY(visit(1, p.l));
  CUZK_TRY(visit(2, p.a));
  CUZK_TRY(visit(3, p.b_g1));
  return visit(4, p.b_g2);
}

// Equal parts for all threads, of 2^20 points at most.
size_t subgroup_parts(size_t points, size_t threads) {
  const size_t round = threads << 20;
  return threads * std::max<size_t>(1, (points + round - 1) / round);
}

Status check_subgroups(Parameters& parameters, const Layout& layout, const Shares& shares, exec::Pool& pool,
                       const Done& done) {
  return for_each_section(parameters, [&]<class Point>(size_t index, Points<Point>& points) -> Status {
    using F = decltype(Point::x);
    const Section& section = layout.sections[index + 1];
    const size_t parts = subgroup_parts(points.size(), pool.threads());
    FirstFault fault;
    pool.for_each(parts, [&](size_t part) {
      const size_t begin = part * points.size() / parts, end = (part + 1) * points.size() / parts;
      const auto outside = shares.with_one([&](std::span<std::byte> workspace) {
        return first_outside_subgroup(std::span<const Affine<F>>(points).subspan(begin, end - begin), workspace);
      });
      if (!outside) return fault.report(begin, outside.error());
      if (*outside < end - begin) fault.report(begin + *outside, outside_subgroup(section, begin + *outside));
      done(end - begin);
    });
    if (fault.error) return tl::unexpected(*fault.error);
    return {};
  });
}

// Tells progress of points, each counted once a step.
Done counted(const Progress& progress, const Layout& layout, Check check) {
  struct State {
    std::mutex mutex;
    uint64_t total = 0, finished = 0;
  };
  auto state = std::make_shared<State>();
  for (size_t i = 1; i < layout.sections.size(); i++) state->total += layout.sections[i].count;
  if (check == Check::kFull) state->total *= 2;
  return [state, &progress](uint64_t points) {
    if (!progress || points == 0) return;
    std::lock_guard lock(state->mutex);
    progress(state->finished += points, state->total);
  };
}

ParamsIdentity identity_of(const mem::MappedFile& file, const Layout& layout) {
  return {file.bytes().size(), file.modified_ns(), layout.lengths()};
}

bool record_fits(const fs::path& params, const mem::MappedFile& file) {
  std::ifstream in(checked_record_path(params));
  auto record = nlohmann::json::parse(in, nullptr, false);
  return record.is_object() && record.value("version", nlohmann::json()) == 1 &&
         record.value("bytes", nlohmann::json()) == file.bytes().size() &&
         record.value("mtime_ns", nlohmann::json()) == file.modified_ns();
}

// The digest of a file, taken by a thread of its own; about 1 s a GB. Given up on destruction.
class BackgroundDigest {
 public:
  explicit BackgroundDigest(const mem::MappedFile& file)
      : digest_(std::async(std::launch::async, [this, &file] {
          constexpr size_t kStep = size_t{1} << 22;
          hash::Blake2b512 hash;
          const ByteSpan bytes = file.bytes();
          for (size_t at = 0; at < bytes.size() && !stop_; at += kStep) {
            hash.update(bytes.subspan(at, std::min(kStep, bytes.size() - at)));
            file.advise(mem::MappedFile::Advice::kDone, at, kStep);
          }
          return hash.finish();
        })) {}
  ~BackgroundDigest() { stop_ = true; }
  hash::Bytes64 get() { return digest_.get(); }

 private:
  std::atomic<bool> stop_ = false;
  std::future<hash::Bytes64> digest_;  // destroyed first, which waits
};

Status write_record(const fs::path& params, const mem::MappedFile& file, const std::optional<hash::Bytes64>& digest) {
  CUZK_TRY_ASSIGN(const mem::MappedFile now, mem::MappedFile::open(params));
  if (now.bytes().size() != file.bytes().size() || now.modified_ns() != file.modified_ns()) {
    return fail(Code::kIo, "the file changed while it was read");
  }
  nlohmann::json record = {{"version", 1},
                           {"bytes", file.bytes().size()},
                           {"mtime_ns", file.modified_ns()},
                           {"checked", "every point well formed, on the curve, in the subgroup, not infinity"}};
  if (digest) record["blake2b"] = to_hex(*digest);
  return write_file(checked_record_path(params), as_bytes(record.dump(1) + "\n"));
}

template <class Point>
void append_point(Bytes& out, const Point& point) {
  out.resize(out.size() + kPointBytes<Point>);
  to_uncompressed(
      point, std::span<uint8_t, kPointBytes<Point>>(out.data() + out.size() - kPointBytes<Point>, kPointBytes<Point>));
}

Bytes encode_u32(uint64_t count) {
  Bytes bytes(4);
  store_be<uint32_t>(bytes.data(), static_cast<uint32_t>(count));
  return bytes;
}

}  // namespace

// --- verifying keys

Bytes encode_vk(const VerifyingKey& vk) {
  Bytes out;
  out.reserve(kVkHeadBytes + 4 + vk.ic.size() * kG1UncompressedBytes);
  append_point(out, vk.alpha_g1);
  append_point(out, vk.beta_g1);
  append_point(out, vk.beta_g2);
  append_point(out, vk.gamma_g2);
  append_point(out, vk.delta_g1);
  append_point(out, vk.delta_g2);
  Bytes length = encode_u32(vk.ic.size());
  out.insert(out.end(), length.begin(), length.end());
  for (const G1Affine& point : vk.ic) append_point(out, point);
  return out;
}

Result<VerifyingKey> decode_vk(ByteSpan bytes) {
  CUZK_TRY(expect_key_file(bytes, "a verifying key"));
  CUZK_TRY_ASSIGN(Section ic, ic_section(bytes, std::nullopt));
  if (section_end(ic) != bytes.size())
    return fail(Code::kInvalidParams, "{} trailing bytes after ic", bytes.size() - section_end(ic));
  return decode_vk_points(bytes, ic);
}

Result<VerifyingKey> read_vk(const fs::path& path) {
  CUZK_TRY_ASSIGN(const mem::MappedFile file, mem::MappedFile::open(path));
  auto vk = decode_vk(file.bytes());
  if (!vk) return tl::unexpected(std::move(vk.error()).within(path.string()));
  return vk;
}

Status write_vk(const fs::path& path, const VerifyingKey& vk) {
  CUZK_TRY_ASSIGN(ParamsWriter writer, ParamsWriter::create(path));
  CUZK_TRY(writer.vk(vk));
  return writer.commit();
}

// --- parameters

Lengths Layout::lengths() const {
  return {sections[0].count, sections[1].count, sections[2].count,
          sections[3].count, sections[4].count, sections[5].count};
}

Result<Layout> params_layout(ByteSpan file, const std::optional<Lengths>& wanted) {
  CUZK_TRY(expect_key_file(file, "parameters"));
  auto want = [&](uint64_t Lengths::*section) { return wanted ? std::optional(*wanted.*section) : std::nullopt; };
  Layout layout;
  CUZK_TRY_ASSIGN(layout.sections[0], ic_section(file, want(&Lengths::ic)));
  struct Wanted {
    std::string_view name;
    uint32_t point_bytes;
    uint64_t Lengths::*count;
  };
  constexpr Wanted kSections[] = {{"h", kG1UncompressedBytes, &Lengths::h},
                                  {"l", kG1UncompressedBytes, &Lengths::l},
                                  {"a", kG1UncompressedBytes, &Lengths::a},
                                  {"b_g1", kG1UncompressedBytes, &Lengths::b_g1},
                                  {"b_g2", kG2UncompressedBytes, &Lengths::b_g2}};
  for (size_t i = 0; i < 5; i++) {
    const Wanted& s = kSections[i];
    CUZK_TRY_ASSIGN(layout.sections[i + 1],
                    read_section(file, section_end(layout.sections[i]), s.name, s.point_bytes, want(s.count)));
  }
  layout.trailing_bytes = file.size() - section_end(layout.sections[5]);
  return layout;
}

Result<Layout> params_layout(const fs::path& path, const std::optional<Lengths>& wanted) {
  CUZK_TRY_ASSIGN(const mem::MappedFile file, mem::MappedFile::open(path));
  auto layout = params_layout(file.bytes(), wanted);
  if (!layout) return tl::unexpected(std::move(layout.error()).within(path.string()));
  return layout;
}

std::vector<std::string> visible_faults(std::span<const fs::path> params) {
  constexpr size_t kHead = size_t{1} << 20;  // of a file; an error page is shorter
  std::vector<std::string> lines;
  std::map<std::pair<std::string, Bytes32>, std::vector<std::string>> alike;  // names, by fault and content
  for (const fs::path& path : params) {
    auto file = mem::MappedFile::open(path);
    if (!file) {
      lines.push_back(file.error().message);
    } else if (auto layout = params_layout(file->bytes(), std::nullopt); !layout) {
      const ByteSpan head = file->bytes().first(std::min(file->bytes().size(), kHead));
      alike[{layout.error().message, hash::sha256(head)}].push_back(path.string());
    }
  }
  for (const auto& [what, names] : alike) {
    lines.push_back(
        fmt::format("{}{}: {}", fmt::join(names, ", "), names.size() > 1 ? " hold the same" : "", what.first));
  }
  return lines;
}

Result<VerifyingKey> decode_params_vk(ByteSpan file, const Layout& layout) {
  return decode_vk_points(file, layout.sections[0]);
}

Status check_point(ByteSpan file, const Section& section, uint64_t index, Check check) {
  const auto checked = [&]<class Point>(const Point*) -> Status {
    CUZK_TRY_ASSIGN(const Point point, decode_point<Point>(file, section, index, check));
    if (check == Check::kFull && !in_subgroup(point)) return tl::unexpected(outside_subgroup(section, index));
    return {};
  };
  if (section.point_bytes == kG1UncompressedBytes) return checked(static_cast<const G1Affine*>(nullptr));
  return checked(static_cast<const G2Affine*>(nullptr));
}

namespace {

// To memory.
Result<Parameters> read_points(ByteSpan file, const Layout& layout, Check check, mem::Reservation memory,
                               const Shares& shares, exec::Pool& pool, const Progress& progress) {
  if (const uint64_t bytes = layout.lengths().native_bytes(); memory.bytes() < bytes) {
    return fail(Code::kResourceExhausted, "the points take {} of memory, more than {}", format_size(bytes),
                format_size(memory.bytes()));
  }
  Parameters out;
  CUZK_TRY_ASSIGN(out.vk, decode_params_vk(file, layout));
  const Done done = counted(progress, layout, check);
  const auto convert = [&]<class Point>(size_t index, Points<Point>& points) -> Status {
    const Section& section = layout.sections[index + 1];
    CUZK_TRY_ASSIGN(mem::Reservation reserved, memory.split(section.count * sizeof(Point)));
    CUZK_TRY_ASSIGN(mem::Buffer buffer, mem::Buffer::make(std::move(reserved)));
    const std::span<Point> all = buffer.as<Point>();
    points = std::move(buffer);
    return convert_section<Point>(file, section, check, pool, done,
                                  [&](size_t begin, size_t end, const auto& fill) -> Status {
                                    fill(all.subspan(begin, end - begin));
                                    return {};
                                  });
  };
  CUZK_TRY(for_each_section(out, convert));
  if (check == Check::kFull) CUZK_TRY(check_subgroups(out, layout, shares, pool, done));
  return out;
}

// The same in a file that is then mapped; `params` names what `file` holds.
Result<Parameters> write_native(const fs::path& params, const mem::MappedFile& file, const Layout& layout, Check check,
                                const Shares& shares, exec::Pool& pool, const Progress& progress) {
  CUZK_TRY_ASSIGN(VerifyingKey vk, decode_params_vk(file.bytes(), layout));
  CUZK_TRY_ASSIGN(NativeWriter writer, NativeWriter::create(params, identity_of(file, layout)));
  const Done done = counted(progress, layout, check);
  Parameters out;
  const auto convert = [&]<class Point>(size_t index, Points<Point>&) {
    return convert_section<Point>(file.bytes(), layout.sections[index + 1], check, pool, done,
                                  [&](size_t begin, size_t end, const auto& fill) -> Status {
                                    return shares.with_one([&](std::span<std::byte> memory) -> Status {
                                      const auto piece = mem::Carver(memory).take<Point>(end - begin);
                                      if (!fill(piece)) return {};
                                      return writer.write(index, begin / NativeWriter::kPiece, piece);
                                    });
                                  });
  };
  CUZK_TRY(for_each_section(out, convert));
  CUZK_TRY_ASSIGN(out, writer.map());
  out.vk = std::move(vk);
  if (check == Check::kFull) CUZK_TRY(check_subgroups(out, layout, shares, pool, done));
  CUZK_TRY(writer.commit());
  return out;
}

Result<Shares> take_shares(mem::Reservation& memory, const Layout& layout, size_t threads) {
  const uint64_t bytes = load_bytes(layout.lengths(), threads);
  if (memory.bytes() < bytes) {
    return fail(Code::kResourceExhausted, "a load works in {} of memory, more than {}", format_size(bytes),
                format_size(memory.bytes()));
  }
  CUZK_TRY_ASSIGN(mem::Reservation room, memory.split(bytes));
  return Shares::make(std::move(room), threads);
}

}  // namespace

Result<Parameters> decode_params(ByteSpan file, const Layout& layout, Check check, mem::Reservation memory,
                                 exec::Pool& pool, const Progress& progress) {
  CUZK_TRY_ASSIGN(const Shares shares, take_shares(memory, layout, pool.threads()));
  return read_points(file, layout, check, std::move(memory), shares, pool, progress);
}

Result<LoadReport> load_params_with(const fs::path& path, const std::optional<Lengths>& wanted,
                                    const LoadOptions& options, const Decode& decode) {
  auto named = [&](Error error) { return tl::unexpected(std::move(error).within(path.string())); };
  CUZK_TRY_ASSIGN(const mem::MappedFile file, mem::MappedFile::open(path));
  auto layout = params_layout(file.bytes(), wanted);
  if (!layout) return named(layout.error());

  LoadReport report;
  report.check_was_remembered = options.check == Check::kFull && options.remember && record_fits(path, file);
  report.fully_checked = options.check == Check::kFull;
  const Check check = report.check_was_remembered ? Check::kCanonical : options.check;
  const bool remember = check == Check::kFull && options.remember;
  std::optional<BackgroundDigest> digest;
  if (remember && options.digest) digest.emplace(file);
  if (Status decoded = decode(file, *layout, check); !decoded) return named(decoded.error());

  if (layout->trailing_bytes > 0)
    report.warnings.push_back(fmt::format("{} trailing bytes after b_g2", layout->trailing_bytes));
  if (remember) {
    const auto taken = digest ? std::optional(digest->get()) : std::nullopt;
    if (Status written = write_record(path, file, taken); !written) {
      report.warnings.push_back(fmt::format("the full check is not remembered: {}", written.error().message));
    }
  }
  return report;
}

Result<LoadedParameters> load_params(const fs::path& path, const std::optional<Lengths>& wanted,
                                     const LoadOptions& options, exec::Pool& pool) {
  return load_params(path, wanted, options, mem::unbudgeted(UINT64_MAX), pool);
}

Result<LoadedParameters> load_params(const fs::path& path, const std::optional<Lengths>& wanted,
                                     const LoadOptions& options, mem::Reservation memory, exec::Pool& pool) {
  LoadedParameters loaded;
  std::vector<std::string> warnings;
  const bool map = options.map && options.check == Check::kFull && options.remember;
  // Points that were converted before, else converted now, to a file or to the heap.
  const auto native = [&](const mem::MappedFile& file, const Layout& layout, Check check,
                          const Shares& shares) -> Result<Parameters> {
    if (check == Check::kCanonical) {
      auto mapped = map_native(path, identity_of(file, layout), pool);
      if (mapped) {
        CUZK_TRY_ASSIGN(mapped->vk, decode_params_vk(file.bytes(), layout));
        return mapped;
      }
      if (mapped.error().code != Code::kNotFound)
        warnings.push_back(fmt::format("converting again: {}", mapped.error().message));
    }
    return write_native(path, file, layout, check, shares, pool, options.progress);
  };
  const Decode decode = [&](const mem::MappedFile& file, const Layout& layout, Check check) -> Status {
    const uint64_t bytes = layout.lengths().native_bytes();
    CUZK_TRY_ASSIGN(const Shares shares, take_shares(memory, layout, pool.threads()));
    std::string why = "no file to map was asked for";
    if (map) {
      auto mapped = native(file, layout, check, shares);
      if (mapped) {
        loaded.parameters = std::move(*mapped);
        loaded.mapped_bytes = bytes;
        return {};
      }
      if (mapped.error().code != Code::kIo) return tl::unexpected(std::move(mapped).error());
      why = fmt::format("they cannot be mapped: {}", mapped.error().message);
      warnings.push_back(fmt::format("the points take {} of memory, as {}", format_size(bytes), why));
    }
    auto read = read_points(file.bytes(), layout, check, std::move(memory), shares, pool, options.progress);
    if (!read && read.error().code == Code::kResourceExhausted)
      return tl::unexpected(std::move(read).error().within(why));
    CUZK_TRY_ASSIGN(loaded.parameters, std::move(read));
    return {};
  };
  CUZK_TRY_ASSIGN(static_cast<LoadReport&>(loaded), load_params_with(path, wanted, options, decode));
  loaded.warnings.insert(loaded.warnings.end(), warnings.begin(), warnings.end());
  return loaded;
}

uint64_t load_bytes(const Lengths& lengths, size_t threads) {
  const uint64_t longest = std::max({lengths.h, lengths.l, lengths.a, lengths.b_g1}),
                 part = (longest + subgroup_parts(longest, threads) - 1) / subgroup_parts(longest, threads);
  mem::Carver piece;
  piece.take<G2Affine>(std::min<uint64_t>(longest, NativeWriter::kPiece));
  return threads * std::max(piece.bytes(), subgroup_batch_bytes(part));
}

bool can_map_params(const fs::path& path) {
  auto file = mem::MappedFile::open(path);
  if (!file) return false;
  const auto layout = params_layout(file->bytes(), std::nullopt);
  return layout && can_be_native(path, identity_of(*file, *layout));
}

fs::path checked_record_path(const fs::path& params) { return params.string() + ".checked"; }

// --- writing

Result<ParamsWriter> ParamsWriter::create(const fs::path& path) {
  fs::path temporary = path.string() + fmt::format(".{}.tmp", ::getpid());
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return fail(Code::kIo, "{}: {}", temporary.string(), std::strerror(errno));
  return ParamsWriter(path, temporary, fd);
}

ParamsWriter::ParamsWriter(fs::path path, fs::path temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
ParamsWriter::ParamsWriter(ParamsWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

ParamsWriter::~ParamsWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

Status ParamsWriter::write(ByteSpan bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(Code::kIo, "{}: {}", temporary_.string(), std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

template <class Point>
Status ParamsWriter::encode(std::span<const Point> points, exec::Pool& pool) {
  buffer_.resize(points.size() * kPointBytes<Point>);
  pool.for_each_chunk(points.size(), 4096, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
      to_uncompressed(points[i], std::span<uint8_t, kPointBytes<Point>>(buffer_.data() + i * kPointBytes<Point>,
                                                                        kPointBytes<Point>));
    }
  });
  return write(buffer_);
}

Status ParamsWriter::vk(const VerifyingKey& vk) { return write(encode_vk(vk)); }
Status ParamsWriter::begin_section(uint64_t count) { return write(encode_u32(count)); }
Status ParamsWriter::points(std::span<const G1Affine> points, exec::Pool& pool) { return encode(points, pool); }
Status ParamsWriter::points(std::span<const G2Affine> points, exec::Pool& pool) { return encode(points, pool); }

Status ParamsWriter::commit() {
  int fd = std::exchange(fd_, -1);
  bool synced = ::fsync(fd) == 0;
  bool closed = ::close(fd) == 0;
  if (!synced || !closed || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    int error = errno;
    ::unlink(temporary_.c_str());
    return fail(Code::kIo, "{}: {}", path_.string(), std::strerror(error));
  }
  return {};
}

Status write_params(const fs::path& path, const Parameters& parameters, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(ParamsWriter writer, ParamsWriter::create(path));
  CUZK_TRY(writer.vk(parameters.vk));
  auto section = [&](const auto& points) -> Status {
    CUZK_TRY(writer.begin_section(points.size()));
    return writer.points(points, pool);
  };
  CUZK_TRY(section(parameters.h));
  CUZK_TRY(section(parameters.l));
  CUZK_TRY(section(parameters.a));
  CUZK_TRY(section(parameters.b_g1));
  CUZK_TRY(section(parameters.b_g2));
  return writer.commit();
}

}  // namespace cuzk::groth16
