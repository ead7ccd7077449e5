#include "hash/blake2.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <new>

namespace cuzk::hash {
namespace {

template <class T>
T* allocated(T* object) {
  if (object == nullptr) throw std::bad_alloc();
  return object;
}
void succeeded(int result) {
  if (result != 1) throw std::bad_alloc();
}

}  // namespace

template <size_t Size>
void RunningHash<Size>::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

template <size_t Size>
RunningHash<Size>::RunningHash(const EVP_MD* algorithm) : context_(allocated(EVP_MD_CTX_new())) {
  succeeded(EVP_DigestInit_ex(context_.get(), algorithm, nullptr));
}

template <size_t Size>
void RunningHash<Size>::update(ByteSpan bytes) {
  succeeded(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

template <size_t Size>
std::array<uint8_t, Size> RunningHash<Size>::finish() {
  std::array<uint8_t, Size> digest;
  succeeded(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
  return digest;
}

template class RunningHash<64>;
template class RunningHash<32>;

// Fetched once: finding an algorithm by name costs more than hashing a short message.
Blake2b512::Blake2b512()
    : RunningHash([] {
        static const EVP_MD* const algorithm = allocated(EVP_MD_fetch(nullptr, "BLAKE2B-512", nullptr));
        return algorithm;
      }()) {}
Blake2s256::Blake2s256()
    : RunningHash([] {
        static const EVP_MD* const algorithm = allocated(EVP_MD_fetch(nullptr, "BLAKE2S-256", nullptr));
        return algorithm;
      }()) {}

Bytes64 blake2b_512(ByteSpan message) {
  Blake2b512 hash;
  hash.update(message);
  return hash.finish();
}

Bytes32 blake2s_256(ByteSpan message) {
  Blake2s256 hash;
  hash.update(message);
  return hash.finish();
}

Bytes32 keyed_blake2b_256(std::string_view key, ByteSpan message) {
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm(
      allocated(EVP_MAC_fetch(nullptr, "BLAKE2BMAC", nullptr)), EVP_MAC_free);
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(allocated(EVP_MAC_CTX_new(algorithm.get())),
                                                                          EVP_MAC_CTX_free);
  size_t size = 32;
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size), OSSL_PARAM_construct_end()};
  const ByteSpan key_bytes = as_bytes(key);
  Bytes32 digest;
  succeeded(EVP_MAC_init(context.get(), key_bytes.data(), key_bytes.size(), parameters));
  succeeded(EVP_MAC_update(context.get(), message.data(), message.size()));
  succeeded(EVP_MAC_final(context.get(), digest.data(), nullptr, digest.size()));
  return digest;
}

Bytes64 sha512(ByteSpan message) {
  Bytes64 digest;
  SHA512(message.data(), message.size(), digest.data());
  return digest;
}

}  // namespace cuzk::hash
