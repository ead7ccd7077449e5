#include "filecoin/update_shapes.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace cuzk::filecoin {
namespace {

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

// The reference takes the first entry of hs that equals h: the first of six ones, and 10 of 7 to 12.
constexpr UpdateShape small(uint64_t sector_bytes, TreeShape tree, unsigned partitions, unsigned apex_leaves) {
  return {sector_bytes, sector_bytes / kNodeBytes, tree, partitions, 10, apex_leaves, {1, 1, 1, 1, 1, 1}, 0};
}
constexpr UpdateShape large(uint64_t sector_bytes, TreeShape tree, unsigned partitions, unsigned challenges) {
  return {sector_bytes, sector_bytes / kNodeBytes, tree, partitions, challenges, 128, {7, 8, 9, 10, 11, 12}, 3};
}

constexpr uint64_t kRegisteredSizes[] = {2 * kKiB, 8 * kMiB, 512 * kMiB, 32 * kGiB, 64 * kGiB};

}  // namespace

const std::vector<UpdateShape>& update_shapes() {
  static const std::vector<UpdateShape> shapes = {
      small(1 * kKiB, {8, 4, 0}, 1, 8),    small(2 * kKiB, {8, 0, 0}, 1, 8),    small(4 * kKiB, {8, 2, 0}, 1, 8),
      small(8 * kKiB, {8, 4, 0}, 1, 8),    small(16 * kKiB, {8, 8, 0}, 2, 128), small(32 * kKiB, {8, 8, 2}, 2, 128),
      large(8 * kMiB, {8, 0, 0}, 4, 10),   large(16 * kMiB, {8, 2, 0}, 4, 10),  large(512 * kMiB, {8, 0, 0}, 16, 86),
      large(32 * kGiB, {8, 8, 0}, 16, 86), large(64 * kGiB, {8, 8, 2}, 16, 86),
  };
  return shapes;
}

Result<UpdateShape> update_shape(uint64_t sector_bytes) {
  const auto& shapes = update_shapes();
  const auto found = std::ranges::find(shapes, sector_bytes, &UpdateShape::sector_bytes);
  if (found != shapes.end()) return *found;
  std::vector<std::string> sizes;
  for (const UpdateShape& shape : shapes) sizes.push_back(format_size(shape.sector_bytes));
  return fail(Code::kInvalidInput, "sectors of {} cannot be updated; the sizes that can are {}",
              format_size(sector_bytes), fmt::join(sizes, ", "));
}

Result<UpdateShape> registered_update(uint64_t number) {
  if (number < std::size(kRegisteredSizes)) return update_shape(kRegisteredSizes[number]);
  return fail(Code::kInvalidInput, "registered update proof {} is newer than this build, which knows up to {}", number,
              std::size(kRegisteredSizes) - 1);
}

}  // namespace cuzk::filecoin
