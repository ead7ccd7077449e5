#include "service/tls.h"

#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>

#include "base/files.h"
#include "hash/sha256.h"

namespace cuzk::service {
namespace {

constexpr uint64_t kMaxFileBytes = 1 << 20;

template <auto free>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

Result<std::string> read_text(const std::filesystem::path& path) {
  CUZK_TRY_ASSIGN(const Bytes bytes, read_file(path, kMaxFileBytes));
  return std::string(as_text(bytes));
}

// Not for everybody's eyes.
Result<std::string> read_secret(const std::filesystem::path& path) {
  std::error_code error;
  const auto mode = std::filesystem::status(path, error).permissions();
  if (!error && (mode & std::filesystem::perms::others_read) != std::filesystem::perms::none)
    return fail(Code::kUsage, "everybody may read '{}'; take that right away (chmod o-r)", path.string());
  return read_text(path);
}

Bio reader(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

Result<Certificate> first_certificate(const std::string& pem, const std::filesystem::path& path) {
  Certificate found(PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr));
  if (found) return found;
  return fail(Code::kUsage, "'{}' holds no certificate in PEM form", path.string());
}

}  // namespace

Result<Tls> load_tls(const std::filesystem::path& certificate, const std::filesystem::path& key,
                     const std::filesystem::path& client_ca) {
  Tls tls;
  CUZK_TRY_ASSIGN(tls.certificate, read_text(certificate));
  CUZK_TRY_ASSIGN(tls.key, read_secret(key));
  CUZK_TRY_ASSIGN(const Certificate own, first_certificate(tls.certificate, certificate));
  const auto no_password = [](char*, int, int, void*) { return 0; };
  const Key secret(PEM_read_bio_PrivateKey(reader(tls.key).get(), nullptr, no_password, nullptr));
  if (!secret) return fail(Code::kUsage, "'{}' holds no private key in PEM form without a password", key.string());
  if (X509_check_private_key(own.get(), secret.get()) != 1)
    return fail(Code::kUsage, "the key '{}' is not that of the certificate '{}'", key.string(), certificate.string());
  if (X509_cmp_current_time(X509_get0_notAfter(own.get())) < 0)
    return fail(Code::kUsage, "the certificate '{}' has expired", certificate.string());
  if (client_ca.empty()) return tls;
  CUZK_TRY_ASSIGN(tls.client_ca, read_text(client_ca));
  CUZK_TRY(first_certificate(tls.client_ca, client_ca));
  return tls;
}

Result<std::string> load_token(const std::filesystem::path& path) {
  CUZK_TRY_ASSIGN(std::string text, read_secret(path));
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (printable && text.size() >= 16 && text.size() <= 4096) return text;
  return fail(Code::kUsage, "the first line of '{}' is no token: 16 to 4096 printable characters without blanks",
              path.string());
}

void TokenGate::set(std::string_view token) {
  std::lock_guard lock(mutex_);
  open_ = token.empty();
  digest_ = hash::sha256(as_bytes(token));
}

bool TokenGate::open() const {
  std::lock_guard lock(mutex_);
  return open_;
}

bool TokenGate::lets_pass(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  const bool named = authorization.starts_with(kScheme);
  const Bytes32 digest = hash::sha256(as_bytes(named ? authorization.substr(kScheme.size()) : std::string_view()));
  std::lock_guard lock(mutex_);
  const bool known = CRYPTO_memcmp(digest.data(), digest_.data(), digest.size()) == 0;
  return open_ || (named && known);
}

}  // namespace cuzk::service
