#include "groth16/files.h"

#include <gmock/gmock.h>

#include "base/allocation_testing.h"
#include "curve/encoding.h"
#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

using testing::data;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::read_file;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;
using testing::write_file;

// "odd": ic 2, h 15, l 3, a 4, b 3. Offsets of the first point of each section of its parameters.
constexpr Lengths kOdd = {.ic = 2, .h = 15, .l = 3, .a = 4, .b_g1 = 3, .b_g2 = 3};
constexpr size_t kIc = 868, kH = kIc + 2 * 96 + 4, kL = kH + 15 * 96 + 4, kA = kL + 3 * 96 + 4, kB1 = kA + 4 * 96 + 4,
                 kB2 = kB1 + 3 * 96 + 4;
constexpr size_t kEnd = kB2 + 3 * 192, kMiB = size_t{1} << 20;

Bytes odd_params() { return read_file(data() / "odd/circuit.params"); }

// The error of decoding a file held in memory, as load_params would; empty where there is none.
std::string error_of(ByteSpan file, Check check = Check::kFull, std::optional<Lengths> wanted = kOdd) {
  exec::Pool pool(2);
  auto layout = params_layout(file, wanted);
  if (!layout) {
    EXPECT_EQ(layout.error().code, Code::kInvalidParams);
    return layout.error().message;
  }
  auto decoded = decode_params(file, *layout, check, mem::unbudgeted(UINT64_MAX), pool);
  if (decoded) return "";
  EXPECT_EQ(decoded.error().code, Code::kInvalidParams);
  return decoded.error().message;
}

void put(Bytes& file, size_t at, ByteSpan bytes) {
  std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<ptrdiff_t>(at));
}

// (0, 2) is on y^2 = x^3 + 4 and has order 3.
Bytes order_three() {
  Bytes bytes(96);
  bytes[95] = 2;
  return bytes;
}
Bytes infinity(size_t size) {
  Bytes bytes(size);
  bytes[0] = 0x40;
  return bytes;
}
// A point of the curve in G2's field, outside the subgroup: the cofactor is 508 bits, so a random point is.
Bytes outside_g2() {
  Bytes compressed(96), out(192);
  for (uint8_t x = 1;; x++) {
    compressed[0] = 0x80;
    compressed[95] = x;
    auto point = g2_from_compressed(std::span<const uint8_t, 96>(compressed.data(), 96));
    if (!point || in_subgroup(*point)) continue;
    to_uncompressed(*point, std::span<uint8_t, 192>(out.data(), 192));
    return out;
  }
}

// The file's state of the disk, given back to other content: what a record of a check goes by.
void overwrite_unnoticed(const std::filesystem::path& path, const Bytes& bytes) {
  const auto time = std::filesystem::last_write_time(path);
  ASSERT_EQ(bytes.size(), std::filesystem::file_size(path));
  write_file(path, bytes);
  std::filesystem::last_write_time(path, time);
}

TEST(Acceptance, Case22_OneErrorPageInManyPlaces) {
  TemporaryFolder folder;
  std::string page = "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>";
  page.resize(300, ' ');
  std::vector<std::filesystem::path> files;
  for (const char* name : {"1.params", "2.params", "3.params"})
    write_file(files.emplace_back(folder / name), as_bytes(page));
  files.push_back(data() / "odd/circuit.params");
  const std::string alike = fmt::format("{}, {}, {} hold the same: not parameters but HTML, 300 bytes: fetch it again",
                                        files[0].string(), files[1].string(), files[2].string());
  EXPECT_THAT(visible_faults(files), ElementsAre(alike));

  files.push_back(folder / "4.params");
  const Bytes good = odd_params();
  write_file(files.back(), ByteSpan(good).first(kEnd - 1));
  files.push_back(folder / "none.params");
  EXPECT_THAT(visible_faults(files),
              UnorderedElementsAre(alike, files[4].string() + ": the file ends inside section b_g2 at point 2 of 3",
                                   HasSubstr("none.params: No such file")));
}

TEST(Acceptance, Case23_BadPointsAreNamedAtLoad) {
  exec::Pool pool(2);
  TemporaryFolder folder;
  const auto path = folder / "x.params";
  const auto refusal = [&](const Bytes& file, bool map) {
    std::filesystem::remove(checked_record_path(path));
    write_file(path, file);
    auto loaded = load_params(path, kOdd, {.map = map}, pool);
    return loaded ? "" : loaded.error().message;
  };
  for (const bool map : {false, true}) {
    Bytes file = odd_params();
    Bytes one(48);  // 1 + 4 is no square
    one[47] = 1;
    put(file, kH + 7 * 96, one);
    EXPECT_THAT(refusal(file, map),
                HasSubstr("x.params: h[7]: G1 point in uncompressed form: the point is not on the curve"));
    file = odd_params();
    put(file, kA + 2 * 96, order_three());
    EXPECT_THAT(refusal(file, map), EndsWith("x.params: a[2] is outside the subgroup"));
    file = odd_params();
    put(file, kB2 + 192, outside_g2());
    EXPECT_THAT(refusal(file, map), EndsWith("x.params: b_g2[1] is outside the subgroup"));
    file = odd_params();
    file.resize(kEnd - 3 * 192 / 8);
    EXPECT_THAT(refusal(file, map), EndsWith("x.params: the file ends inside section b_g2 at point 2 of 3"));
    EXPECT_EQ(refusal(odd_params(), map), "");
  }
}

// A remembered check is all the trust there is, and the verifying key is never part of it.
TEST(Acceptance, Case25_TheVerifyingKeyIsAlwaysChecked) {
  exec::Pool pool(2);
  TemporaryFolder folder;
  const auto path = folder / "x.params";
  const auto load = [&](std::optional<Lengths> wanted) { return load_params(path, wanted, {.map = true}, pool); };
  write_file(path, odd_params());
  const LoadedParameters first = load(kOdd).value();

  Bytes file = odd_params();
  put(file, 576, order_three());  // delta_g1
  overwrite_unnoticed(path, file);
  EXPECT_THAT(load(kOdd).error().message, EndsWith("x.params: delta_g1 is outside the subgroup"));
  std::fill_n(file.begin(), kIc, uint8_t{0});
  overwrite_unnoticed(path, file);
  EXPECT_THAT(load(kOdd).error().message, HasSubstr("ic has 0 points, the circuit wants 2"));

  // Nor are points read again: others make no difference. A key of another circuit has other lengths.
  file = odd_params();
  for (const auto& [at, count] : {std::pair(kH, 15), {kL, 3}, {kA, 4}, {kB1, 3}, {kB2, 6}})
    put(file, at, Bytes(static_cast<size_t>(count) * 96, 0x11));
  overwrite_unnoticed(path, file);
  const LoadedParameters second = load(kOdd).value();
  EXPECT_TRUE(second.check_was_remembered);
  EXPECT_EQ(second.parameters.h, first.parameters.h);
  EXPECT_EQ(second.parameters.b_g2, first.parameters.b_g2);

  write_file(path, read_file(data() / "inputs/circuit.params"));
  ASSERT_TRUE(load(std::nullopt));
  ASSERT_TRUE(load(std::nullopt)->check_was_remembered);
  EXPECT_THAT(load(kOdd).error().message, HasSubstr("belongs to another circuit: ic has "));
}

TEST(Acceptance, Case58_CountsBeyondTheFile) {
  const Bytes good = odd_params();
  for (const size_t at : {kIc, kH, kL, kA, kB1, kB2}) {
    Bytes file(good.begin(), good.begin() + static_cast<ptrdiff_t>(at));
    put(file, at - 4, Bytes(4, 0xff));
    file.resize(at + 100, 1);
    cuzk::testing::LargestAllocation largest;
    EXPECT_THAT(error_of(file, Check::kFull, std::nullopt), HasSubstr("of 4294967295"));
    EXPECT_THAT(decode_vk(file).error().message, HasSubstr(at == kIc ? "of 4294967295" : "trailing bytes"));
    EXPECT_LT(largest.bytes(), kMiB);
  }
  EXPECT_FALSE(decode_proofs(Bytes(100, 0xff)));
}

TEST(VkFile, RoundTripsByteForByte) {
  for (const char* name : {"odd/circuit.vk", "inputs/circuit.vk", "window-2KiB.vk"}) {
    const Bytes bytes = read_file(data() / name);
    auto vk = decode_vk(bytes);
    ASSERT_TRUE(vk) << vk.error().message;
    EXPECT_EQ(vk->ic.size(), (bytes.size() - 868) / 96);
    EXPECT_EQ(encode_vk(*vk), bytes);
    TemporaryFolder folder;
    ASSERT_TRUE(write_vk(folder / "x.vk", *vk));
    EXPECT_EQ(read_file(folder / "x.vk"), bytes);
    EXPECT_EQ(read_vk(folder / "x.vk").value(), *vk);
  }
}

TEST(VkFile, NamesEachFault) {
  const Bytes good = read_file(data() / "odd/circuit.vk");
  auto message = [](const Bytes& bytes) {
    auto vk = decode_vk(bytes);
    return vk ? std::string() : vk.error().message;
  };
  auto with = [&](size_t at, ByteSpan bytes) {
    Bytes file = good;
    put(file, at, bytes);
    return message(file);
  };
  EXPECT_THAT(message({}), HasSubstr("empty"));
  EXPECT_THAT(message(Bytes(good.begin(), good.begin() + 500)),
              HasSubstr("ends inside the verifying key, after 500 bytes"));
  EXPECT_THAT(message(Bytes(good.begin(), good.end() - 1)), HasSubstr("ends inside section ic at point 1 of 2"));
  Bytes longer = good;
  longer.push_back(0);
  EXPECT_THAT(message(longer), HasSubstr("1 trailing bytes"));
  EXPECT_EQ(with(0, infinity(96)), "alpha_g1 is infinity");
  EXPECT_EQ(with(192, infinity(192)), "beta_g2 is infinity");
  EXPECT_EQ(with(384, infinity(192)), "gamma_g2 is infinity");
  EXPECT_EQ(with(576, infinity(96)), "delta_g1 is infinity");
  EXPECT_EQ(with(672, infinity(192)), "delta_g2 is infinity");
  EXPECT_EQ(with(kIc + 96, infinity(96)), "ic[1] is infinity");
  EXPECT_EQ(with(96, order_three()), "beta_g1 is outside the subgroup");
  EXPECT_EQ(with(384, outside_g2()), "gamma_g2 is outside the subgroup");
  EXPECT_EQ(with(kIc, order_three()), "ic[0] is outside the subgroup");
  EXPECT_THAT(with(kIc + 95, Bytes{static_cast<uint8_t>(good[kIc + 95] ^ 1)}), HasSubstr("ic[0]: "));
}

TEST(Acceptance, Case65_KeysOfASetupThatNobodyTookPartInAreRefused) {
  const VerifyingKey good = read_vk(data() / "odd/circuit.vk").value();
  for (const auto& spoil : std::initializer_list<void (*)(VerifyingKey&)>{
           [](VerifyingKey& vk) { vk.delta_g1 = g1_generator(); },
           [](VerifyingKey& vk) { vk.delta_g2 = g2_generator(); },
           [](VerifyingKey& vk) { vk.gamma_g2 = vk.delta_g2; },
       }) {
    VerifyingKey bad = good;
    spoil(bad);
    const auto read = decode_vk(encode_vk(bad));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kInvalidParams);
    EXPECT_THAT(read.error().message, HasSubstr("nobody took part"));
  }
  VerifyingKey official = good;
  official.gamma_g2 = g2_generator();
  EXPECT_TRUE(decode_vk(encode_vk(official)));
}

TEST(ParamsFile, RoundTripsByteForByte) {
  exec::Pool pool(2);
  TemporaryFolder folder;
  for (const char* name : {"odd/circuit.params", "inputs/circuit.params"}) {
    for (Check check : {Check::kCanonical, Check::kFull}) {
      auto loaded = load_params(data() / name, std::nullopt, {.check = check, .remember = false}, pool);
      ASSERT_TRUE(loaded) << loaded.error().message;
      EXPECT_EQ(loaded->fully_checked, check == Check::kFull);
      EXPECT_TRUE(loaded->warnings.empty());
      ASSERT_TRUE(write_params(folder / "x.params", loaded->parameters, pool));
      EXPECT_EQ(read_file(folder / "x.params"), read_file(data() / name));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(checked_record_path(data() / "odd/circuit.params")));
}

TEST(ParamsFile, LayoutIsTheFormulaOfTheSpecification) {
  auto layout = params_layout(data() / "odd/circuit.params", kOdd);
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(layout->lengths(), kOdd);
  const size_t offsets[] = {kIc + 0, kH, kL, kA, kB1, kB2};
  for (size_t i = 0; i < 6; i++) EXPECT_EQ(layout->sections[i].offset, offsets[i]) << layout->sections[i].name;
  EXPECT_EQ(layout->trailing_bytes, 0u);
  EXPECT_EQ(odd_params().size(), kEnd);
}

TEST(ParamsFile, Case59_EveryTruncationIsNamed) {
  const Bytes good = odd_params();
  struct Border {
    size_t first_point, count, point_bytes;
    const char* name;
  };
  const Border borders[] = {{kIc, 2, 96, "ic"}, {kH, 15, 96, "h"},    {kL, 3, 96, "l"},
                            {kA, 4, 96, "a"},   {kB1, 3, 96, "b_g1"}, {kB2, 3, 192, "b_g2"}};
  EXPECT_THAT(error_of({}), HasSubstr("empty"));
  for (size_t size : {size_t{1}, size_t{95}, size_t{96}, size_t{867 - 4}}) {
    EXPECT_THAT(error_of(ByteSpan(good).first(size)),
                HasSubstr(fmt::format("ends inside the verifying key, after {} bytes", size)));
  }
  for (const Border& b : borders) {
    for (size_t cut = 1; cut <= 4; cut++) {  // no length, or a part of it
      EXPECT_EQ(error_of(ByteSpan(good).first(b.first_point - cut)),
                fmt::format("the file ends after {} bytes, before section {}", b.first_point - cut, b.name));
    }
    for (size_t point = 0; point < b.count; point++) {
      for (size_t extra : {size_t{0}, size_t{1}, b.point_bytes - 1}) {
        EXPECT_EQ(error_of(ByteSpan(good).first(b.first_point + point * b.point_bytes + extra)),
                  fmt::format("the file ends inside section {} at point {} of {}", b.name, point, b.count));
      }
    }
  }
  EXPECT_EQ(error_of(good), "");
  const Bytes vk = read_file(data() / "odd/circuit.vk");
  for (size_t size = 0; size < vk.size(); size++) EXPECT_FALSE(decode_vk(ByteSpan(vk).first(size))) << size;
}

TEST(ParamsFile, LengthsAreComparedWithTheCircuit) {
  const Bytes good = odd_params();
  auto other = [&](uint64_t Lengths::*section) {
    Lengths wanted = kOdd;
    wanted.*section += 5;
    return error_of(good, Check::kFull, wanted);
  };
  EXPECT_EQ(other(&Lengths::ic), "belongs to another circuit: ic has 2 points, the circuit wants 7");
  EXPECT_EQ(other(&Lengths::h), "belongs to another circuit: h has 15 points, the circuit wants 20");
  EXPECT_EQ(other(&Lengths::l), "belongs to another circuit: l has 3 points, the circuit wants 8");
  EXPECT_EQ(other(&Lengths::a), "belongs to another circuit: a has 4 points, the circuit wants 9");
  EXPECT_EQ(other(&Lengths::b_g1), "belongs to another circuit: b_g1 has 3 points, the circuit wants 8");
  EXPECT_EQ(other(&Lengths::b_g2), "belongs to another circuit: b_g2 has 3 points, the circuit wants 8");
  // A length that no file can have, without a circuit to compare with.
  for (size_t at : {kIc, kH, kL, kA, kB1, kB2}) {
    Bytes file = good;
    put(file, at - 4, Bytes{0xff, 0xff, 0xff, 0xff});
    EXPECT_THAT(error_of(file, Check::kFull, std::nullopt), HasSubstr("of 4294967295"));
  }
}

TEST(ParamsFile, SaysWhatItFoundInstead) {
  std::string page = "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>";
  page.resize(322, ' ');
  EXPECT_THAT(error_of(as_bytes(page)), HasSubstr("HTML, 322 bytes"));
  EXPECT_THAT(error_of(as_bytes("\n\n <html>")), HasSubstr("HTML, 9 bytes"));
  EXPECT_THAT(error_of(as_bytes("{\"error\": \"no such key\"}")), HasSubstr("JSON, 24 bytes"));
  EXPECT_THAT(error_of(as_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:00\n")),
              HasSubstr("a Git LFS pointer"));
  EXPECT_THAT(error_of(as_bytes("not here")), HasSubstr("text, 8 bytes"));
  EXPECT_THAT(error_of(Bytes(1000, 0xff)), HasSubstr("something else, 1000 bytes"));
}

TEST(ParamsFile, EveryBadPointIsNamed) {
  struct Place {
    std::string name;
    size_t at, bytes;
  };
  const Place places[] = {{"h[0]", kH, 96},          {"h[12]", kH + 12 * 96, 96}, {"h[14]", kH + 14 * 96, 96},
                          {"l[0]", kL, 96},          {"l[2]", kL + 2 * 96, 96},   {"a[3]", kA + 3 * 96, 96},
                          {"b_g1[1]", kB1 + 96, 96}, {"b_g2[0]", kB2, 192},       {"b_g2[2]", kB2 + 2 * 192, 192}};
  for (const Place& place : places) {
    auto with = [&](size_t offset, ByteSpan bytes, Check check) {
      Bytes file = odd_params();
      put(file, place.at + offset, bytes);
      return error_of(file, check);
    };
    const Bytes outside = place.bytes == 96 ? order_three() : outside_g2();
    const Bytes not_below_p(48, 0x1f);
    for (Check check : {Check::kCanonical, Check::kFull}) {
      EXPECT_EQ(with(0, infinity(place.bytes), check), place.name + " is infinity");
      EXPECT_THAT(with(0, not_below_p, check), HasSubstr(place.name + ": "));
      EXPECT_THAT(with(0, Bytes{0x80}, check), HasSubstr(place.name + ": "));
    }
    EXPECT_EQ(with(0, outside, Check::kFull), place.name + " is outside the subgroup");
    EXPECT_EQ(with(0, outside, Check::kCanonical), "");
    Bytes off_curve(1, static_cast<uint8_t>(odd_params()[place.at + place.bytes - 1] ^ 1));
    EXPECT_THAT(with(place.bytes - 1, off_curve, Check::kFull), HasSubstr(place.name + ": "));
    EXPECT_EQ(with(place.bytes - 1, off_curve, Check::kCanonical), "");
  }
}

TEST(ParamsFile, TheFirstFaultOfASectionWins) {
  Bytes file = odd_params();
  for (size_t i : {3u, 7u, 11u}) put(file, kH + i * 96, infinity(96));
  put(file, kL, infinity(96));
  EXPECT_EQ(error_of(file), "h[3] is infinity");
}

TEST(ParamsFile, TrailingBytesAreReportedAndTolerated) {
  exec::Pool pool(1);
  TemporaryFolder folder;
  Bytes file = odd_params();
  file.resize(file.size() + 17);
  write_file(folder / "x.params", file);
  auto loaded = load_params(folder / "x.params", kOdd, {}, pool);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_THAT(loaded->warnings[0], EndsWith("17 trailing bytes after b_g2"));
}

TEST(ParamsFile, ErrorsOfTheSystemAreNamed) {
  exec::Pool pool(1);
  TemporaryFolder folder;
  auto missing = load_params(folder / "none.params", kOdd, {}, pool);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("none.params"));
  auto directory = load_params(folder / "", kOdd, {}, pool);
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message, HasSubstr("not a regular file"));
  EXPECT_FALSE(write_vk(folder / "no/such/folder.vk", VerifyingKey{}));
}

TEST(ParamsFile, AWriterThatIsNotCommittedLeavesNothing) {
  TemporaryFolder folder;
  {
    auto writer = ParamsWriter::create(folder / "x.params");
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->begin_section(3));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(CheckedRecord, AFullCheckIsMadeOnce) {
  exec::Pool pool(2);
  TemporaryFolder folder;
  const auto path = folder / "x.params";
  write_file(path, odd_params());
  auto load = [&] { return load_params(path, kOdd, {}, pool).value(); };

  LoadedParameters first = load();
  EXPECT_TRUE(first.fully_checked && !first.check_was_remembered);
  auto record = testing::read_json(checked_record_path(path));
  EXPECT_EQ(record["bytes"], kEnd);
  // python3 -c "import hashlib; print(hashlib.blake2b(open('circuit.params','rb').read()).hexdigest()[:32])"
  EXPECT_EQ(record["blake2b"].get<std::string>().substr(0, 32), "4c62eaa3011ff3e74daabbcbf2d0213c");

  LoadedParameters second = load();
  EXPECT_TRUE(second.fully_checked && second.check_was_remembered);
  EXPECT_EQ(second.parameters.h, first.parameters.h);

  // Another modification time: checked again.
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_FALSE(load().check_was_remembered);
  EXPECT_TRUE(load().check_was_remembered);

  // A damaged record, or one of another version, counts for nothing.
  for (const char* text : {"", "{", "[]", "{\"version\": 1}", "{\"version\": 2, \"bytes\": 4056, \"mtime_ns\": 0}"}) {
    write_file(checked_record_path(path), as_bytes(text));
    EXPECT_FALSE(load().check_was_remembered) << text;
  }
  // Told not to remember, the loader neither trusts a record nor writes one.
  EXPECT_FALSE(load_params(path, kOdd, {.remember = false}, pool)->check_was_remembered);
}

TEST(CheckedRecord, AFailedCheckIsNotRemembered) {
  exec::Pool pool(1);
  TemporaryFolder folder;
  const auto path = folder / "x.params";
  Bytes file = odd_params();
  put(file, kA, order_three());
  write_file(path, file);
  for (int i = 0; i < 2; i++) {
    auto loaded = load_params(path, kOdd, {}, pool);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, EndsWith("x.params: a[0] is outside the subgroup"));
  }
  // A canonical reading passes, and leaves no record of a check that was not made.
  EXPECT_TRUE(load_params(path, kOdd, {.check = Check::kCanonical}, pool));
  EXPECT_FALSE(std::filesystem::exists(checked_record_path(path)));
}

TEST(ParamsFile, ProgressReachesTheEnd) {
  exec::Pool pool(2);
  uint64_t last = 0, all = 0;
  LoadOptions options{.remember = false, .progress = [&](uint64_t done, uint64_t total) {
                        EXPECT_GT(done, last);
                        last = done;
                        all = total;
                      }};
  ASSERT_TRUE(load_params(data() / "odd/circuit.params", kOdd, options, pool));
  EXPECT_EQ(last, 2 * (15u + 3 + 4 + 3 + 3));  // every point is read, then looked for in the subgroup
  EXPECT_EQ(last, all);
}

// The 11 MB file of a real circuit: several pieces a section, every border.
TEST(ParamsFile, WindowPost2KiB) {
  CUZK_SKIP_WITHOUT_VECTORS();
  exec::Pool pool(2);
  const auto folder = cuzk::testing::vectors() / "params";
  const Bytes good = read_file(folder / "window-2KiB.params");
  const auto info = testing::read_json(folder / "window-2KiB.json");
  auto layout = params_layout(good, std::nullopt).value();
  for (size_t i = 0; i < 6; i++) {
    const Section& section = layout.sections[i];
    EXPECT_EQ(section.count, info["counts"][std::string(section.name)]) << section.name;
    if (i > 0) {
      EXPECT_EQ(section.offset - 4, info["sections"][std::string(section.name)]["offset"]) << section.name;
    }
    const size_t end = section.offset + section.count * section.point_bytes;
    EXPECT_THAT(
        error_of(ByteSpan(good).first(end - 1), Check::kFull, std::nullopt),
        HasSubstr(fmt::format("inside section {} at point {} of {}", section.name, section.count - 1, section.count)));
    EXPECT_THAT(error_of(ByteSpan(good).first(section.offset - 4), Check::kFull, std::nullopt),
                HasSubstr(fmt::format("before section {}", section.name)));
  }
  auto parameters = decode_params(good, layout, Check::kFull, mem::unbudgeted(UINT64_MAX), pool);
  ASSERT_TRUE(parameters) << parameters.error().message;
  EXPECT_EQ(encode_vk(parameters->vk), read_file(folder / "window-2KiB.vk"));

  Bytes bad = good;
  put(bad, layout.sections[1].offset + 20'000 * 96, order_three());
  EXPECT_EQ(error_of(bad, Check::kFull, std::nullopt), "h[20000] is outside the subgroup");
  bad = good;
  put(bad, layout.sections[5].offset + 16'028 * 192, outside_g2());
  EXPECT_EQ(error_of(bad, Check::kFull, std::nullopt), "b_g2[16028] is outside the subgroup");
}

}  // namespace
}  // namespace cuzk::groth16
