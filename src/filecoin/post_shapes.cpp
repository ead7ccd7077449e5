#include "filecoin/post_shapes.h"

#include <array>

namespace cuzk::filecoin {
namespace {

constexpr unsigned kWinningChallenges = 66, kWindowChallenges = 10;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// Sectors that a window partition holds.
unsigned window_sectors(uint64_t sector_bytes) {
  return sector_bytes == 32 * kGiB ? 2349 : sector_bytes == 64 * kGiB ? 2300 : 2;
}

constexpr std::array<std::string_view, 3> kApiVersions = {"1.0.0", "1.1.0", "1.2.0"};

// Each group of five numbers is one kind and version, in this order of sizes (G.7).
constexpr struct {
  PostKind kind;
  ApiVersion api;
} kGroups[] = {{PostKind::kWinning, ApiVersion::kV1_0},
               {PostKind::kWindow, ApiVersion::kV1_0},
               {PostKind::kWindow, ApiVersion::kV1_2}};
constexpr uint64_t kRegisteredSizes[] = {2048, uint64_t{8} << 20, uint64_t{512} << 20, 32 * kGiB, 64 * kGiB};

}  // namespace

std::string_view post_kind_name(PostKind kind) { return kind == PostKind::kWinning ? "winning" : "window"; }

Result<PostShape> post_shape(PostKind kind, uint64_t sector_bytes) {
  CUZK_TRY_ASSIGN(const PorepShape sector, porep_shape(sector_bytes));
  if (kind == PostKind::kWinning) return PostShape{kind, sector, kWinningChallenges, 1, kWinningChallenges};
  return PostShape{kind, sector, window_sectors(sector_bytes), kWindowChallenges, kWindowChallenges};
}

Result<RegisteredPost> registered_post(uint64_t number) {
  constexpr uint64_t kSizes = std::size(kRegisteredSizes), kCount = std::size(kGroups) * kSizes;
  if (number >= kCount) {
    return fail(Code::kInvalidInput, "registered PoSt proof {} is newer than this build, which knows up to {}", number,
                kCount - 1);
  }
  return post_proof(kGroups[number / kSizes].kind, kRegisteredSizes[number % kSizes], kGroups[number / kSizes].api);
}

Result<RegisteredPost> post_proof(PostKind kind, uint64_t sector_bytes, ApiVersion api) {
  CUZK_TRY(porep_shape(sector_bytes));
  const bool winning = kind == PostKind::kWinning;
  if (winning && api != ApiVersion::kV1_0) {
    return fail(Code::kInvalidInput, "WinningPoSt is of version {}, not {}", api_version_name(ApiVersion::kV1_0),
                api_version_name(api));
  }
  constexpr std::string_view kSuffixes[] = {"V1", "V1_1", "V1_2"};
  RegisteredPost proof{fmt::format("StackedDrg{}{}{}", winning ? "Winning" : "Window", format_size(sector_bytes),
                                   kSuffixes[static_cast<size_t>(api)]),
                       std::nullopt, kind, sector_bytes, api};
  uint64_t number = 0;
  for (const auto& group : kGroups) {
    for (uint64_t size : kRegisteredSizes) {
      if (group.kind == kind && group.api == api && size == sector_bytes) proof.number = number;
      number++;
    }
  }
  return proof;
}

Result<ApiVersion> parse_api_version(std::string_view text) {
  for (size_t i = 0; i < kApiVersions.size(); i++) {
    if (text == kApiVersions[i]) return static_cast<ApiVersion>(i);
  }
  return fail(Code::kInvalidInput, "'{}' is no api version; they are {}, {} and {}", text.substr(0, 80),
              kApiVersions[0], kApiVersions[1], kApiVersions[2]);
}

std::string_view api_version_name(ApiVersion api) { return kApiVersions[static_cast<size_t>(api)]; }

}  // namespace cuzk::filecoin
