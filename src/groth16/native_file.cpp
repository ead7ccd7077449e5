#include "groth16/native_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hash/sha256.h"
#include "mem/mapped_file.h"

namespace cuzk::groth16 {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kPage = 4096;

// The first page of the file, little-endian as the points are.
struct Header {
  std::array<char, 8> magic = {'c', 'u', 'z', 'k', 'P', 'T', 'S', '1'};  // with the version
  uint64_t params_bytes = 0;
  int64_t params_modified_ns = 0;
  uint64_t ic = 0, h = 0, l = 0, a = 0, b_g1 = 0, b_g2 = 0;
  Bytes32 digest{};  // SHA-256 of the fields above and of the SHA-256 of each piece

  explicit Header(const ParamsIdentity& of)
      : params_bytes(of.bytes),
        params_modified_ns(of.modified_ns),
        ic(of.lengths.ic),
        h(of.lengths.h),
        l(of.lengths.l),
        a(of.lengths.a),
        b_g1(of.lengths.b_g1),
        b_g2(of.lengths.b_g2) {}
  ByteSpan bytes() const { return {reinterpret_cast<const uint8_t*>(this), sizeof(*this)}; }
};
constexpr size_t kFieldsBytes = offsetof(Header, digest);
static_assert(sizeof(Header) == kFieldsBytes + 32 && sizeof(Header) < kPage);

struct Extent {
  uint64_t offset, count, point_bytes;

  uint64_t end() const { return offset + count * point_bytes; }
  size_t pieces() const { return (count + NativeWriter::kPiece - 1) / NativeWriter::kPiece; }
};
using Extents = std::array<Extent, 5>;  // each from a page of its own

Extents extents_of(const Lengths& n) {
  Extents out{{{kPage, n.h, sizeof(G1Affine)},
               {0, n.l, sizeof(G1Affine)},
               {0, n.a, sizeof(G1Affine)},
               {0, n.b_g1, sizeof(G1Affine)},
               {0, n.b_g2, sizeof(G2Affine)}}};
  for (size_t i = 1; i < out.size(); i++) out[i].offset = (out[i - 1].end() + kPage - 1) / kPage * kPage;
  return out;
}

using Digests = std::array<std::vector<Bytes32>, 5>;

Bytes32 digest_of(const Header& header, const Digests& digests) {
  hash::Sha256 hash;
  hash.update(header.bytes().first(kFieldsBytes));
  for (const auto& pieces : digests) {
    for (const Bytes32& piece : pieces) hash.update(piece);
  }
  return hash.finish();
}

Digests digests_of(ByteSpan file, const Extents& extents, exec::Pool& pool) {
  Digests out;
  for (size_t i = 0; i < extents.size(); i++) {
    const Extent& extent = extents[i];
    out[i].resize(extent.pieces());
    pool.for_each_chunk(extent.count, NativeWriter::kPiece, [&](size_t begin, size_t end) {
      out[i][begin / NativeWriter::kPiece] =
          hash::sha256(file.subspan(extent.offset + begin * extent.point_bytes, (end - begin) * extent.point_bytes));
    });
  }
  return out;
}

// The file where header and length are right; its points are not looked at.
Result<mem::MappedFile> open_native(const fs::path& params, const ParamsIdentity& identity) {
  const fs::path path = native_path(params);
  CUZK_TRY_ASSIGN(mem::MappedFile file, mem::MappedFile::open(path));
  const Header header(identity);
  const ByteSpan fields = header.bytes().first(kFieldsBytes);
  if (file.bytes().size() != extents_of(identity.lengths)[4].end() ||
      !std::equal(fields.begin(), fields.end(), file.bytes().begin())) {
    return fail(Code::kInvalidParams, "{} belongs to another parameter file or version", path.string());
  }
  return file;
}

Parameters points_of(mem::MappedFile mapped, const Extents& extents) {
  const auto file = std::make_shared<const mem::MappedFile>(std::move(mapped));
  const auto points = [&]<class Point>(Points<Point>& out, const Extent& at) {
    const auto* first = reinterpret_cast<const Point*>(file->bytes().data() + at.offset);
    out = Points<Point>({first, at.count}, file);
  };
  Parameters out;
  points(out.h, extents[0]);
  points(out.l, extents[1]);
  points(out.a, extents[2]);
  points(out.b_g1, extents[3]);
  points(out.b_g2, extents[4]);
  return out;
}

tl::unexpected<Error> os_error(const fs::path& path) {
  return fail(Code::kIo, "{}: {}", path.string(), std::strerror(errno));
}

Status write_at(int fd, uint64_t offset, ByteSpan bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os_error(path);
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

}  // namespace

fs::path native_path(const fs::path& params) { return params.string() + ".native"; }

Result<Parameters> map_native(const fs::path& params, const ParamsIdentity& identity, exec::Pool& pool) {
  CUZK_TRY_ASSIGN(mem::MappedFile file, open_native(params, identity));
  const Extents extents = extents_of(identity.lengths);
  const Bytes32 digest = digest_of(Header(identity), digests_of(file.bytes(), extents, pool));
  if (!std::equal(digest.begin(), digest.end(), file.bytes().begin() + kFieldsBytes))
    return fail(Code::kInvalidParams, "{} is damaged", native_path(params).string());
  return points_of(std::move(file), extents);
}

bool can_be_native(const fs::path& params, const ParamsIdentity& identity) {
  return open_native(params, identity) || NativeWriter::create(params, identity);
}

Result<NativeWriter> NativeWriter::create(const fs::path& params, const ParamsIdentity& identity) {
  const fs::path path = native_path(params);
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return os_error(path);
  NativeWriter writer(path, temporary, fd, identity);
  const auto bytes = static_cast<off_t>(extents_of(identity.lengths)[4].end());
  const bool reserved = ::fallocate(fd, 0, 0, bytes) == 0 || errno == EOPNOTSUPP;
  if (!reserved || ::ftruncate(fd, bytes) != 0 || ::fchmod(fd, 0644) != 0) return os_error(path);
  return writer;
}

NativeWriter::NativeWriter(fs::path path, fs::path temporary, int fd, const ParamsIdentity& identity)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd), identity_(identity) {
  const Extents extents = extents_of(identity.lengths);
  for (size_t i = 0; i < extents.size(); i++) digests_[i].resize(extents[i].pieces());
}
NativeWriter::NativeWriter(NativeWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      identity_(other.identity_),
      digests_(std::move(other.digests_)) {}
NativeWriter::~NativeWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

Status NativeWriter::write(size_t section, size_t k, ByteSpan bytes) {
  const Extent extent = extents_of(identity_.lengths)[section];
  digests_[section][k] = hash::sha256(bytes);
  return write_at(fd_, extent.offset + k * kPiece * extent.point_bytes, bytes, temporary_);
}
Status NativeWriter::write(size_t section, size_t k, std::span<const G1Affine> points) {
  return write(section, k, ByteSpan(reinterpret_cast<const uint8_t*>(points.data()), points.size_bytes()));
}
Status NativeWriter::write(size_t section, size_t k, std::span<const G2Affine> points) {
  return write(section, k, ByteSpan(reinterpret_cast<const uint8_t*>(points.data()), points.size_bytes()));
}

Result<Parameters> NativeWriter::map() const {
  CUZK_TRY_ASSIGN(mem::MappedFile file, mem::MappedFile::open(temporary_));
  return points_of(std::move(file), extents_of(identity_.lengths));
}

// Not synchronised with the disk: what a crash of the system leaves half written does not have its digest.
Status NativeWriter::commit() {
  Header header(identity_);
  header.digest = digest_of(header, digests_);
  CUZK_TRY(write_at(fd_, 0, header.bytes(), temporary_));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return os_error(path_);
  ::close(std::exchange(fd_, -1));
  return {};
}

}  // namespace cuzk::groth16
