// Full-size vanilla proofs: made up, written, parsed and checked.

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "base/testing.h"
#include "filecoin/c1.h"
#include "filecoin/check.h"
#include "filecoin/synthetic.h"

namespace cuzk::filecoin {
namespace {

std::string written(const SealCommit& commit, C1Form form) {
  std::string text;
  Status status = write_c1(commit, form, [&](std::string_view piece) {
    text += piece;
    return Status();
  });
  EXPECT_TRUE(status) << status.error().message;
  return text;
}

TEST(FullSize, ReferenceSectorPasses) {
  CUZK_SKIP_WITHOUT_VECTORS();
  const auto path = cuzk::testing::vectors() / "sparse/32GiB/c1.json.xz";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(("xz -dc '" + path.string() + "'").c_str(), "r"), pclose);
  ASSERT_TRUE(pipe);
  std::string text;
  std::vector<char> buffer(1 << 20);
  while (size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) text.append(buffer.data(), size);
  auto commit = parse_c1(as_bytes(text));
  ASSERT_TRUE(commit) << commit.error().message;
  EXPECT_EQ(commit->partitions.size(), 10u);
  EXPECT_TRUE(written(*commit, C1Form::kBare) == text);
  exec::Pool pool;
  Status status = check_vanilla(*commit, pool);
  EXPECT_TRUE(status) << status.error().message;
}

TEST(FullSize, MadeUpSectorsPass) {
  exec::Pool pool;
  for (const char* size : {"32GiB", "64GiB"}) {
    auto commit = synthetic_porep(*parse_size(size), cuzk::testing::seed(), pool);
    ASSERT_TRUE(commit) << commit.error().message;
    Status status = check_vanilla(*commit, pool);
    EXPECT_TRUE(status) << size << ": " << status.error().message;
    auto parsed = parse_c1(as_bytes(written(*commit, C1Form::kWrapped)));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_TRUE(*parsed == *commit);

    commit->partitions[9][17].exp_parents[7].inclusion.path[0].hashes[0][0] ^= 1;
    status = check_vanilla(*commit, pool);
    ASSERT_FALSE(status);
    EXPECT_TRUE(status.error().message.starts_with("partition 9, challenge 17: exp_parents[7]: inclusion_proof: "))
        << status.error().message;
  }
}

}  // namespace
}  // namespace cuzk::filecoin
