#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "filecoin/c1.h"
#include "filecoin/post_input.h"
#include "filecoin/post_synthetic.h"
#include "filecoin/synthetic.h"
#include "filecoin/update_input.h"
#include "filecoin/update_synthetic.h"

namespace cuzk::cli {

Result<int> vanilla_porep(const VanillaOptions& options, Context& context) {
  Stopwatch watch;
  context.progress.begin("making up a sector");
  auto made = options.registered_proof
                  ? filecoin::synthetic_porep(*options.registered_proof, options.seed, context.pool)
                  : filecoin::synthetic_porep(options.sector_bytes, options.seed, context.pool);
  CUZK_TRY_ASSIGN(filecoin::SealCommit commit, std::move(made));
  CUZK_TRY_ASSIGN(filecoin::RegisteredProof proof, filecoin::seal_proof(commit.registered_proof));
  if (proof.sector_bytes != options.sector_bytes) {
    return fail(Code::kUsage, "{} is of sectors of {}, not {}", proof.name, format_size(proof.sector_bytes),
                format_size(options.sector_bytes));
  }

  context.progress.begin("writing");
  std::string temporary = fmt::format("{}.{}.tmp", options.out, getpid());
  std::ofstream stream(temporary, std::ios::binary);
  auto sink = [&](std::string_view piece) -> Status {
    if (!stream.write(piece.data(), static_cast<std::streamsize>(piece.size()))) {
      return fail(Code::kIo, "'{}' cannot be written: {}", temporary, std::strerror(errno));
    }
    return {};
  };
  Status written =
      filecoin::write_c1(commit, options.bare ? filecoin::C1Form::kBare : filecoin::C1Form::kWrapped, sink);
  stream.close();
  std::error_code error;
  if (written && stream) std::filesystem::rename(temporary, options.out, error);
  if (!written || !stream || error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    CUZK_TRY(written);
    return fail(Code::kIo, "'{}' cannot be written: {}", options.out, error ? error.message() : std::strerror(errno));
  }
  context.progress.end();
  context.print({{"registered_proof", commit.registered_proof},
                 {"partitions", commit.partitions.size()},
                 {"challenges", commit.partitions.front().size()},
                 {"comm_r", to_hex(commit.comm_r)},
                 {"comm_d", to_hex(commit.comm_d)},
                 {"bytes", std::filesystem::file_size(options.out, error)},
                 {"seconds", rounded(watch.seconds())},
                 {"peak_rss_bytes", peak_rss_bytes()}});
  return 0;
}

namespace {

Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(Code::kIo, "folder '{}' cannot be made: {}", path, error.message());
  return {};
}

Result<int> vanilla_post(filecoin::PostKind kind, const VanillaFolderOptions& options, Context& context) {
  Stopwatch watch;
  context.progress.begin("making up sectors");
  // The versions in use on the network.
  auto api = kind == filecoin::PostKind::kWinning ? filecoin::ApiVersion::kV1_0 : filecoin::ApiVersion::kV1_2;
  CUZK_TRY_ASSIGN(filecoin::RegisteredPost proof, filecoin::post_proof(kind, options.sector_bytes, api));
  CUZK_TRY_ASSIGN(filecoin::PostInput input,
                  filecoin::synthetic_post(proof, options.sectors, options.seed, context.pool));
  CUZK_TRY(make_folder(options.out));
  CUZK_TRY(filecoin::write_post(input, options.out));
  context.progress.end();
  context.print({{"proof", proof.name}, {"sectors", input.sectors.size()}, {"seconds", rounded(watch.seconds())}});
  return 0;
}

}  // namespace

Result<int> vanilla_winning(const VanillaFolderOptions& options, Context& context) {
  return vanilla_post(filecoin::PostKind::kWinning, options, context);
}
Result<int> vanilla_window(const VanillaFolderOptions& options, Context& context) {
  return vanilla_post(filecoin::PostKind::kWindow, options, context);
}

Result<int> vanilla_update(const VanillaFolderOptions& options, Context& context) {
  Stopwatch watch;
  context.progress.begin("making up a sector");
  CUZK_TRY_ASSIGN(filecoin::UpdateShape shape, filecoin::update_shape(options.sector_bytes));
  filecoin::SectorUpdate update = filecoin::synthetic_update(shape, options.seed, context.pool);
  CUZK_TRY(make_folder(options.out));
  CUZK_TRY(filecoin::write_update(update, options.out));
  context.progress.end();
  context.print({{"partitions", update.partitions.size()},
                 {"challenges", shape.challenges},
                 {"seconds", rounded(watch.seconds())}});
  return 0;
}

}  // namespace cuzk::cli
