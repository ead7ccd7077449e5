#include "groth16/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace cuzk::groth16 {

Status random_bytes(std::span<uint8_t> out) {
  while (!out.empty()) {
    ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(Code::kIo, "the operating system gives no random bytes: {}", std::strerror(errno));
    out = out.subspan(static_cast<size_t>(got));
  }
  return {};
}

Result<Blinding> random_blinding() {
  std::array<std::array<uint64_t, 8>, 2> wide;  // 512 bits each, so that the bias mod r is below 2^-256
  CUZK_TRY(random_bytes({reinterpret_cast<uint8_t*>(wide.data()), sizeof(wide)}));
  return Blinding{Fr::from_wide(wide[0]), Fr::from_wide(wide[1])};
}

}  // namespace cuzk::groth16
