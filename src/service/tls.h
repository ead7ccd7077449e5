#pragma once
// What guards addresses that other machines reach: TLS, certificates of clients, a token.

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace cuzk::service {

struct Tls {
  std::string certificate;  // PEM, with its chain
  std::string key;          // PEM
  std::string client_ca;    // PEM; empty: clients need no certificate
};

// Reads the files and sees that the certificate and the key are a pair; no client_ca where its path is empty. kUsage
// says what is wrong with which file, also where everybody may read the key; kNotFound, kIo.
Result<Tls> load_tls(const std::filesystem::path& certificate, const std::filesystem::path& key,
                     const std::filesystem::path& client_ca);

// The first line of the file: 16 to 4096 printable characters without blanks. Errors as for load_tls().
Result<std::string> load_token(const std::filesystem::path& path);

// Says whether a client knows the token. Time does not depend on where a wrong one differs, nor on its length but for
// the hashing of it.
class TokenGate {
 public:
  // Empty: everybody may pass.
  void set(std::string_view token);
  // `authorization` is the whole value of the header, "Bearer TOKEN".
  bool lets_pass(std::string_view authorization) const;
  bool open() const;

 private:
  mutable std::mutex mutex_;
  bool open_ = true;
  Bytes32 digest_{};
};

}  // namespace cuzk::service
