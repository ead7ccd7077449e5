#include <gmock/gmock.h>

#include "curve/cuda/point.cuh"
#include "curve/encoding.h"
#include "curve/testing.h"
#include "gpu/testing.h"
#include "groth16/cuda/params/params.h"
#include "groth16/cuda/params/point_windows.h"
#include "groth16/testing.h"

namespace cuzk::groth16 {
namespace {

using testing::data;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::read_file;
using testing::TemporaryFolder;
using testing::write_file;

gpu::PinnedMemory pinned(uint64_t bytes) {
  mem::Budget budget({{"pinned", bytes}});
  return gpu::PinnedMemory::make(budget.reserve({0, bytes}).value()).value();
}

// Loads a file through windows of `staging_bytes`/2.
Result<LoadedDeviceParameters> load(const std::filesystem::path& path, const LoadOptions& options,
                                    uint64_t staging_bytes = kParamsStagingBytes / 64) {
  const Lengths lengths = params_layout(path, std::nullopt).value().lengths();
  const gpu::PinnedMemory staging = pinned(staging_bytes);
  exec::Pool pool(2);
  return load_device_params(path, lengths, options, gpu::test_memory(device_bytes(lengths)), staging.bytes(), pool);
}

void expect_equal(const Parameters& a, const Parameters& b) {
  EXPECT_EQ(a.vk, b.vk);
  EXPECT_TRUE(a.h == b.h && a.l == b.l && a.a == b.a && a.b_g1 == b.b_g1 && a.b_g2 == b.b_g2);
}

// A file of a circuit with more points than fit in a window.
class DeviceParams : public ::testing::Test {
 protected:
  void SetUp() override {
    CUZK_SKIP_WITHOUT_DEVICE();
    mixed_ = testing::make_mixed(200, true, 7);
    exec::Pool pool(2);
    ASSERT_TRUE(setup(mixed_.circuit, toxic_from_seed(7), path_, pool));
    on_host_ = load_params(path_, std::nullopt, {.remember = false}, pool)->parameters;
  }
  testing::Mixed mixed_;
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "x.params";
  Parameters on_host_;
};

TEST_F(DeviceParams, LoadWriteUploadDownload) {
  for (uint64_t staging_bytes : {384u, 5 * 384u + 100, 100'000u, 10'000'000u}) {
    for (Check check : {Check::kCanonical, Check::kFull}) {
      uint64_t last = 0, all = 0;
      const Progress progress = [&](uint64_t done, uint64_t total) {
        EXPECT_GT(done, last);
        last = done, all = total;
      };
      auto loaded = load(path_, {.check = check, .remember = false, .progress = progress}, staging_bytes);
      ASSERT_TRUE(loaded) << loaded.error().message;
      EXPECT_EQ(loaded->fully_checked, check == Check::kFull);
      EXPECT_EQ(last, all);
      EXPECT_EQ(lengths_of(loaded->parameters), lengths_of(on_host_));
      expect_equal(download_params(loaded->parameters).value(), on_host_);

      last = 0;
      const gpu::PinnedMemory staging = pinned(staging_bytes);
      ASSERT_TRUE(write_params(folder_ / "y.params", loaded->parameters, staging.bytes(), progress));
      EXPECT_EQ(read_file(folder_ / "y.params"), read_file(path_));
      EXPECT_EQ(last, all);
    }
  }
  const auto uploaded = upload_params(on_host_, gpu::test_memory(device_bytes(lengths_of(on_host_))));
  ASSERT_TRUE(uploaded) << uploaded.error().message;
  expect_equal(download_params(*uploaded).value(), on_host_);
  EXPECT_FALSE(upload_params(on_host_, gpu::test_memory(device_bytes(lengths_of(on_host_)) - 1)));
}

TEST_F(DeviceParams, AFullCheckIsMadeOnce) {
  auto first = load(path_, {});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(first->fully_checked && !first->check_was_remembered && first->warnings.empty());
  auto second = load(path_, {});
  EXPECT_TRUE(second->fully_checked && second->check_was_remembered);
  exec::Pool pool(1);  // the host's record is the same
  EXPECT_TRUE(load_params(path_, std::nullopt, {}, pool)->check_was_remembered);
}

// Each bad point is named as the host names it, wherever it is.
TEST_F(DeviceParams, EveryBadPointIsNamed) {
  const Bytes good = read_file(path_);
  const Layout layout = params_layout(good, std::nullopt).value();
  auto random = cuzk::testing::rng(8);
  std::array<uint8_t, 192> outside[2];  // in G1 and G2
  to_uncompressed(cuzk::testing::random_curve_point<Fp>(random), std::span(outside[0]).first<96>());
  to_uncompressed(cuzk::testing::random_curve_point<Fp2>(random), std::span(outside[1]));
  exec::Pool pool(2);
  const auto bad_path = folder_ / "bad.params";
  for (size_t s = 1; s < layout.sections.size(); s++) {
    const Section& section = layout.sections[s];
    for (uint64_t index : {uint64_t{0}, section.count - 1}) {
      const auto expect_named = [&](auto&& change, std::string_view why) {
        Bytes bad = good;
        change(&bad[section.offset + index * section.point_bytes]);
        write_file(bad_path, bad);
        for (Check check : {Check::kCanonical, Check::kFull}) {
          const LoadOptions options{.check = check, .remember = false};
          const auto on_host = load_params(bad_path, std::nullopt, options, pool);
          const auto on_device = load(bad_path, options, 200 * 192);
          ASSERT_EQ(bool{on_device}, bool{on_host}) << section.name << index << why;
          if (on_host) {
            EXPECT_EQ(check, Check::kCanonical) << why;
            continue;
          }
          EXPECT_EQ(on_device.error().message, on_host.error().message);
          EXPECT_EQ(on_device.error().code, Code::kInvalidParams);
          EXPECT_THAT(on_device.error().message, HasSubstr(fmt::format("{}[{}]", section.name, index)));
          EXPECT_THAT(on_device.error().message, HasSubstr(std::string(why)));
        }
      };
      expect_named([&](uint8_t* at) { at[0] |= 0x80; }, "compression flag");
      expect_named([&](uint8_t* at) { at[0] |= 0x20; }, "sign flag");
      expect_named([&](uint8_t* at) { std::fill_n(at, 48, uint8_t{0x1f}); }, "x is not below");
      expect_named([&](uint8_t* at) { std::fill_n(at + section.point_bytes - 48, 48, uint8_t{0xff}); },
                   "y is not below");
      expect_named([&](uint8_t* at) { std::fill_n(at, section.point_bytes, uint8_t{0}), at[0] = 0x40; }, "is infinity");
      expect_named([&](uint8_t* at) { std::fill_n(at, section.point_bytes, uint8_t{0}); }, "not on the curve");
      expect_named([&](uint8_t* at) { at[section.point_bytes - 1] ^= 1; }, "not on the curve");
      expect_named([&](uint8_t* at) { std::copy_n(outside[s == 5].begin(), section.point_bytes, at); },
                   "is outside the subgroup");
    }
  }
  Bytes bad = good;  // the first of several, over sections and windows
  for (size_t s : {5u, 3u, 2u}) {
    for (uint64_t index : {layout.sections[s].count - 1, layout.sections[s].count / 3}) {
      bad[layout.sections[s].offset + index * layout.sections[s].point_bytes] |= 0x40;
      write_file(bad_path, bad);
      const auto loaded = load(bad_path, {.remember = false}, 1000);
      ASSERT_FALSE(loaded);
      EXPECT_THAT(loaded.error().message, HasSubstr(fmt::format("{}[{}]", layout.sections[s].name, index)));
    }
  }
}

TEST_F(DeviceParams, RefusesWhatDoesNotFit) {
  exec::Pool pool(1);
  const gpu::PinnedMemory staging = pinned(10'000);
  const Lengths lengths = lengths_of(on_host_);
  Lengths other = lengths;
  other.l++;
  const auto of = [&](const Lengths& wanted, uint64_t bytes, std::span<std::byte> pinned_bytes) {
    return load_device_params(path_, wanted, {.remember = false}, gpu::test_memory(bytes), pinned_bytes, pool);
  };
  EXPECT_TRUE(of(lengths, device_bytes(lengths), staging.bytes()));
  EXPECT_EQ(of(other, device_bytes(lengths), staging.bytes()).error().code, Code::kInvalidParams);
  EXPECT_EQ(of(lengths, device_bytes(lengths) - 1, staging.bytes()).error().code, Code::kInternal);
  EXPECT_EQ(of(lengths, device_bytes(lengths), staging.bytes().first(383)).error().code, Code::kInternal);
}

// --- setup

// The scalars of groth16/setup.cpp by filecoin-spec A.12.
struct HostScalars {
  std::vector<Fr> ic, l, a, b;
};
HostScalars scalars_of(const r1cs::Circuit& circuit, const Toxic& toxic) {
  exec::Pool pool(2);
  const QapValues qap = qap_at(circuit, toxic.tau, pool).value();
  HostScalars out;
  for (uint32_t i = 0; i < qap.a.size(); i++) {
    const Fr sum = toxic.beta * qap.a[i] + toxic.alpha * qap.b[i] + qap.c[i];
    if (i < circuit.num_inputs) {
      out.ic.push_back(sum * toxic.gamma.inverse());
      out.a.push_back(qap.a[i]);
      if (r1cs::test_bit(circuit.density.b_inputs, i)) out.b.push_back(qap.b[i]);
    } else {
      out.l.push_back(sum * toxic.delta.inverse());
      if (r1cs::test_bit(circuit.density.a_aux, i - circuit.num_inputs)) out.a.push_back(qap.a[i]);
      if (r1cs::test_bit(circuit.density.b_aux, i - circuit.num_inputs)) out.b.push_back(qap.b[i]);
    }
  }
  return out;
}

Result<DeviceParameters> run_setup(const Toxic& toxic, uint64_t h_points, const HostScalars& scalars) {
  const gpu::TestArray<Fr> l{std::span<const Fr>(scalars.l)}, a{std::span<const Fr>(scalars.a)},
      b{std::span<const Fr>(scalars.b)};
  const auto span = [](const gpu::TestArray<Fr>& array) { return array.span().as<device::Fr>().as_const(); };
  const gpu::DeviceInfo device = gpu::devices()[0];
  const Lengths lengths{scalars.ic.size(), h_points,         scalars.l.size(),
                        scalars.a.size(),  scalars.b.size(), scalars.b.size()};
  const gpu::DeviceMemory workspace = gpu::test_memory(device_setup_bytes(lengths, device));
  return device_setup(toxic, h_points, {scalars.ic, span(l), span(a), span(b)}, device,
                      gpu::test_memory(device_bytes(lengths)), workspace.bytes());
}

void expect_setup_as_on_host(const r1cs::Circuit& circuit, uint64_t seed) {
  TemporaryFolder folder;
  exec::Pool pool(2);
  const Toxic toxic = toxic_from_seed(seed);
  const auto vk = setup(circuit, toxic, folder / "host.params", pool);
  ASSERT_TRUE(vk) << vk.error().message;
  const auto made = run_setup(toxic, lengths_of(circuit).h, scalars_of(circuit, toxic));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->vk, *vk);
  const gpu::PinnedMemory staging = pinned(1 << 20);
  ASSERT_TRUE(write_params(folder / "device.params", *made, staging.bytes()));
  EXPECT_EQ(read_file(folder / "device.params"), read_file(folder / "host.params"));
}

TEST(DeviceSetup, TheFileOfTheHost) {
  CUZK_SKIP_WITHOUT_DEVICE();
  for (const char* name : {"mimc", "chain", "odd", "inputs"}) {
    if (testing::tiny_folder(name).empty()) continue;
    const testing::Tiny tiny = testing::load_tiny(name);
    expect_setup_as_on_host(tiny.circuit, tiny.info["toxic_seed"].get<uint64_t>());
  }
  expect_setup_as_on_host(testing::make_mixed(3000, true, 9).circuit, 10);
}

TEST(DeviceSetup, RefusesWhatTheHostRefuses) {
  CUZK_SKIP_WITHOUT_DEVICE();
  const testing::Mixed mixed = testing::make_mixed(3, true, 2);
  const Toxic good = toxic_from_seed(9);
  const HostScalars scalars = scalars_of(mixed.circuit, good);
  const uint64_t h = lengths_of(mixed.circuit).h;
  const auto message = [&](const Toxic& toxic, const HostScalars& with) {
    const auto made = run_setup(toxic, h, with);
    EXPECT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::kInvalidInput);
    return made.error().message;
  };
  for (Fr Toxic::*secret : {&Toxic::alpha, &Toxic::beta, &Toxic::gamma, &Toxic::delta, &Toxic::tau}) {
    Toxic toxic = good;
    toxic.*secret = Fr::zero();
    EXPECT_THAT(message(toxic, scalars), EndsWith("is zero"));
  }
  Toxic toxic = good;
  toxic.tau = -Fr::one();
  EXPECT_THAT(message(toxic, scalars), HasSubstr("domain"));
  const auto with_zero = [&](std::vector<Fr> HostScalars::*section, size_t index) {
    HostScalars changed = scalars;
    (changed.*section)[index] = Fr::zero();
    return message(good, changed);
  };
  EXPECT_EQ(with_zero(&HostScalars::l, 1), "l[1] would be infinity: its variable is in no row");
  EXPECT_EQ(with_zero(&HostScalars::a, 0), "a[0] would be infinity: its variable is in no row");
  EXPECT_EQ(with_zero(&HostScalars::b, scalars.b.size() - 1),
            fmt::format("b_g1[{}] would be infinity: its variable is in no row", scalars.b.size() - 1));
}

// --- windows

TEST(PointWindows, InOrderAndAgain) {
  CUZK_SKIP_WITHOUT_DEVICE();
  std::vector<G1Affine> points(1000);
  for (size_t i = 0; i < points.size(); i++) points[i] = {Fp::from_u64(i), Fp::from_u64(2 * i)};
  const auto stream = gpu::Stream::make(0).value();
  for (size_t count : {0u, 1u, 99u, 100u, 101u, 200u, 1000u}) {
    const gpu::DeviceMemory memory = gpu::test_memory(PointWindows<G1Affine>::bytes(100));
    const auto source = std::span<const G1Affine>(points).first(count);
    auto windows = PointWindows<G1Affine>::make(source, 100, memory.bytes(), 0).value();
    const gpu::TestArray<G1Affine> out(count);
    for (int pass = 0; pass < 3; pass++) {
      ASSERT_TRUE(stream.clear(out.span()));
      size_t used = 0;
      for (;;) {
        const auto window = windows.next(stream);
        ASSERT_TRUE(window);
        if (window->size == 0) break;
        EXPECT_EQ(windows.begin(), used);
        ASSERT_TRUE(stream.copy_on_device(out.span().subspan(used, window->size).as<device::G1Affine>(), *window));
        used += window->size;
      }
      EXPECT_EQ(used, count);
      ASSERT_TRUE(stream.synchronize());
      EXPECT_TRUE(std::equal(source.begin(), source.end(), out.values().begin()));
    }
  }
  EXPECT_FALSE(PointWindows<G1Affine>::make(points, 100, {}, 0));
}

}  // namespace
}  // namespace cuzk::groth16
