#pragma once
// BLAKE2 (RFC 7693) and SHA-512, by OpenSSL: file digests, circuit digests, graph permutation, challenge keys, secrets
// from a seed. OpenSSL's default provider fails here only for want of memory, which surfaces as std::bad_alloc.

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "base/bytes.h"

struct evp_md_st;  // OpenSSL's EVP_MD and EVP_MD_CTX
struct evp_md_ctx_st;

namespace cuzk::hash {

using Bytes64 = std::array<uint8_t, 64>;

// A running unkeyed hash with a digest of `Size` bytes.
template <size_t Size>
class RunningHash {
 public:
  void update(ByteSpan bytes);
  // The digest of everything so far; the object is spent.
  std::array<uint8_t, Size> finish();

 protected:
  explicit RunningHash(const evp_md_st* algorithm);

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

struct Blake2b512 : RunningHash<64> {
  Blake2b512();
};
struct Blake2s256 : RunningHash<32> {
  Blake2s256();
};

Bytes64 blake2b_512(ByteSpan message);
Bytes32 blake2s_256(ByteSpan message);
// BLAKE2b with a 32-byte digest and a key of 1 to 64 bytes.
Bytes32 keyed_blake2b_256(std::string_view key, ByteSpan message);
Bytes64 sha512(ByteSpan message);

}  // namespace cuzk::hash
