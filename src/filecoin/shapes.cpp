#include "filecoin/shapes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace cuzk::filecoin {
namespace {

constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

constexpr PorepShape test_shape(uint64_t sector_bytes, TreeShape tree) {
  return {sector_bytes, sector_bytes / kNodeBytes, tree, 2, 2, 1, 13};
}
constexpr PorepShape network_shape(uint64_t sector_bytes, TreeShape tree) {
  return {sector_bytes, sector_bytes / kNodeBytes, tree, 11, 18, 10, 126};
}

// How a name ends, and what that says (G.7). Each group of the network's numbers is one suffix.
struct Version {
  std::string_view suffix;
  ApiVersion api;
  ChallengeKind challenges;
  bool registered;
};
constexpr Version kVersions[] = {
    {"V1", ApiVersion::kV1_0, ChallengeKind::kInteractive, true},
    {"V1_1", ApiVersion::kV1_1, ChallengeKind::kInteractive, true},
    {"V1_1_Feat_SyntheticPoRep", ApiVersion::kV1_2, ChallengeKind::kSynthetic, true},
    {"V1_2_Feat_NonInteractivePoRep", ApiVersion::kV1_2, ChallengeKind::kNonInteractive, true},
    {"V1_2", ApiVersion::kV1_2, ChallengeKind::kInteractive, false},
};
constexpr uint64_t kRegisteredSizes[] = {2 * kKiB, 8 * kMiB, 512 * kMiB, 32 * kGiB, 64 * kGiB};
constexpr std::string_view kPrefix = "StackedDrg";

RegisteredProof make_proof(const PorepShape& shape, const Version& version) {
  const bool many = version.challenges == ChallengeKind::kNonInteractive;
  return {fmt::format("{}{}{}", kPrefix, format_size(shape.sector_bytes), version.suffix),
          std::nullopt,
          shape.sector_bytes,
          version.api,
          version.challenges,
          many ? shape.non_interactive_partitions : shape.partitions,
          {}};
}

// All of them in the order of their numbers.
std::vector<RegisteredProof> make_registered_proofs() {
  std::vector<RegisteredProof> out;
  for (const Version& version : kVersions) {
    if (!version.registered) continue;
    for (uint64_t size : kRegisteredSizes) {
      RegisteredProof proof = make_proof(*porep_shape(size), version);
      proof.number = out.size();
      store_le<uint64_t>(proof.porep_id.data(), *proof.number);  // then the nonce, 0, and 16 zero bytes (C.8)
      out.push_back(std::move(proof));
    }
  }
  return out;
}

const std::vector<RegisteredProof>& registered_proofs() {
  static const std::vector<RegisteredProof> proofs = make_registered_proofs();
  return proofs;
}

}  // namespace

const std::vector<PorepShape>& porep_shapes() {
  static const std::vector<PorepShape> shapes = {
      test_shape(2 * kKiB, {8, 0, 0}),     test_shape(4 * kKiB, {8, 2, 0}), test_shape(16 * kKiB, {8, 8, 0}),
      test_shape(32 * kKiB, {8, 8, 2}),    test_shape(8 * kMiB, {8, 0, 0}), test_shape(16 * kMiB, {8, 2, 0}),
      test_shape(512 * kMiB, {8, 0, 0}),   test_shape(1 * kGiB, {8, 2, 0}), network_shape(32 * kGiB, {8, 8, 0}),
      network_shape(64 * kGiB, {8, 8, 2}),
  };
  return shapes;
}

Result<PorepShape> porep_shape(uint64_t sector_bytes) {
  const auto& shapes = porep_shapes();
  const auto found = std::ranges::find(shapes, sector_bytes, &PorepShape::sector_bytes);
  if (found != shapes.end()) return *found;
  std::vector<std::string> sizes;
  for (const PorepShape& shape : shapes) sizes.push_back(format_size(shape.sector_bytes));
  return fail(Code::kInvalidInput, "no sector has {}; the sizes are {}", format_size(sector_bytes),
              fmt::join(sizes, ", "));
}

std::vector<unsigned> path_arities(uint64_t nodes, const TreeShape& tree) {
  std::vector<unsigned> out;
  const uint64_t base_leaves = nodes / std::max(1u, tree.sub) / std::max(1u, tree.top);
  for (uint64_t width = base_leaves; width > 1; width /= tree.base) out.push_back(tree.base);
  if (tree.sub > 0) out.push_back(tree.sub);
  if (tree.top > 0) out.push_back(tree.top);
  return out;
}

Result<RegisteredProof> registered_proof(std::string_view name) {
  const auto& proofs = registered_proofs();
  const auto found = std::ranges::find(proofs, name, &RegisteredProof::name);
  if (found != proofs.end()) return *found;
  return fail(Code::kInvalidInput, "'{}' is no registered seal proof; they are named like {} or {}", name,
              proofs[8].name, proofs[13].name);
}

Result<RegisteredProof> registered_proof(uint64_t number) {
  const auto& proofs = registered_proofs();
  if (number < proofs.size()) return proofs[number];
  return fail(Code::kInvalidInput, "registered seal proof {} is newer than this build, which knows up to {}", number,
              proofs.size() - 1);
}

Result<RegisteredProof> unregistered_proof(std::string_view name) {
  for (const PorepShape& shape : porep_shapes()) {
    for (const Version& version : kVersions) {
      RegisteredProof proof = make_proof(shape, version);
      if (proof.name != name || registered_proof(name) || name.size() >= proof.porep_id.size()) continue;
      proof.porep_id[0] = 0xff;
      std::ranges::copy(name, proof.porep_id.begin() + 1);
      return proof;
    }
  }
  return fail(Code::kInvalidInput, "'{}' names no unregistered seal proof; they are named like StackedDrg16KiBV1_1",
              name);
}

}  // namespace cuzk::filecoin
