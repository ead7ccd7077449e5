// Who gets in: TLS, certificates of clients, the token, the mode of sockets. Certificates are made by openssl's
// command.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "service/client.h"
#include "service/testing.h"
#include "service/tls.h"

namespace cuzk::service {
namespace {

using ::testing::HasSubstr;

// Two authorities, `ca` and `other`, and of each an end: `server` and `client` of the first, `stranger` of the second.
class Certificates {
 public:
  Certificates() {
    for (const char* authority : {"ca", "other"}) make(authority, "");
    make("server", "ca");
    make("client", "ca");
    make("stranger", "other");
  }
  std::filesystem::path pem(const std::string& name) const { return folder_.path() / (name + ".pem"); }
  std::filesystem::path key(const std::string& name) const { return folder_.path() / (name + ".key"); }
  std::filesystem::path write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const auto path = folder_.path() / name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Signed by itself where there is no issuer.
  void make(const std::string& name, const std::string& issuer) const {
    std::string command = fmt::format(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={} -keyout '{}' "
        "-out '{}' -addext subjectAltName=DNS:localhost",
        name, key(name).string(), pem(name).string());
    if (!issuer.empty()) command += fmt::format(" -CA '{}' -CAkey '{}'", pem(issuer).string(), key(issuer).string());
    run(command);
  }
  static void run(const std::string& command) {
    EXPECT_EQ(std::system(fmt::format("({}) 2>/dev/null", command).c_str()), 0) << command;
  }

 private:
  engine::testing::TemporaryFolder folder_;
};
const Certificates& certificates() {
  static const Certificates made;
  return made;
}

constexpr const char* kToken = "a-token-of-20-letter";

class SecurityTest : public testing::ServiceTest {
 protected:
  // A server on TCP with TLS.
  void serve(bool client_certificates, const std::string& token) {
    auto tls = load_tls(certificates().pem("server"), certificates().key("server"),
                        client_certificates ? certificates().pem("ca") : "");
    ASSERT_TRUE(tls) << tls.error().message;
    GrpcOptions options;
    options.listen = {"localhost:0", "unix://" + (folder_.path() / "tls.sock").string()};
    options.tls = *tls;
    options.token = token;
    auto server = GrpcServer::start(
        *engine_, *observer_, [this](const Payload& payload) { return parse(payload); }, find_cubic, options);
    ASSERT_TRUE(server) << server.error().message;
    tls_server_ = std::move(*server);
  }
  struct Client {
    std::string authority = "ca", certificate = "", authorization = "";
    bool in_clear = false;
  };
  grpc::Status ask(const Client& client) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = Certificates::read(certificates().pem(client.authority));
    if (!client.certificate.empty()) {
      options.pem_cert_chain = Certificates::read(certificates().pem(client.certificate));
      options.pem_private_key = Certificates::read(certificates().key(client.certificate));
    }
    auto credentials = client.in_clear ? grpc::InsecureChannelCredentials() : grpc::SslCredentials(options);
    auto stub = v1::ProvingEngine::NewStub(grpc::CreateChannel(tls_server_->addresses()[0], credentials));
    grpc::ClientContext context;
    if (!client.authorization.empty()) context.AddMetadata("authorization", client.authorization);
    v1::GetStatusResponse response;
    return stub->GetStatus(&context, {}, &response);
  }

  std::unique_ptr<GrpcServer> tls_server_;
};

TEST_F(SecurityTest, TlsForThoseWhoKnowTheAuthority) {
  serve(false, "");
  EXPECT_TRUE(ask({}).ok());
  EXPECT_EQ(ask({.authority = "other"}).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ask({.in_clear = true}).error_code(), grpc::StatusCode::UNAVAILABLE);
  v1::GetStatusResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(connect(tls_server_->addresses()[1])->GetStatus(&context, {}, &response).ok())
      << "Unix sockets have no TLS";
}

TEST_F(SecurityTest, CertificatesOfClients) {
  serve(true, "");
  EXPECT_TRUE(ask({.certificate = "client"}).ok());
  EXPECT_EQ(ask({}).error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ask({.certificate = "stranger"}).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(SecurityTest, TheTokenIsWantedForEveryCall) {
  serve(false, kToken);
  const std::string good = std::string("Bearer ") + kToken;
  EXPECT_TRUE(ask({.authorization = good}).ok());
  for (const std::string& bad : {std::string(), std::string(kToken), "bearer " + std::string(kToken), good + "x",
                                 good.substr(0, good.size() - 1), std::string("Bearer "), std::string("Basic eDp5")}) {
    EXPECT_EQ(ask({.authorization = bad}).error_code(), grpc::StatusCode::UNAUTHENTICATED) << bad;
  }

  // Every RPC, and none of them does anything.
  stub_ = v1::ProvingEngine::NewStub(grpc::CreateChannel(
      tls_server_->addresses()[0], grpc::SslCredentials({Certificates::read(certificates().pem("ca")), "", ""})));
  const auto refused = [&](auto method, const auto& message, auto response) {
    grpc::ClientContext context;
    EXPECT_EQ((stub_.get()->*method)(&context, message, &response).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  };
  using Stub = v1::ProvingEngine::Stub;
  v1::ProveRequest wanted;
  *wanted.mutable_submit() = request("id", "3");
  refused(&Stub::SubmitProof, request("id", "3"), v1::SubmitProofResponse());
  refused(&Stub::Prove, wanted, v1::ProveResponse());
  refused(&Stub::AwaitProof, v1::AwaitProofRequest(), v1::AwaitProofResponse());
  refused(&Stub::CancelProof, v1::CancelProofRequest(), v1::CancelProofResponse());
  refused(&Stub::GetStatus, v1::GetStatusRequest(), v1::GetStatusResponse());
  refused(&Stub::GetMetrics, v1::GetMetricsRequest(), v1::GetMetricsResponse());
  refused(&Stub::PreloadSRS, v1::PreloadSrsRequest(), v1::PreloadSrsResponse());
  refused(&Stub::EvictSRS, v1::EvictSrsRequest(), v1::EvictSrsResponse());
  EXPECT_TRUE(engine_->snapshot().kinds.empty()) << "no job came of it";

  // By another token, then by none.
  tls_server_->set_token("another-token-of-25-lettr");
  EXPECT_EQ(ask({.authorization = good}).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(ask({.authorization = "Bearer another-token-of-25-lettr"}).ok());
  tls_server_->set_token("");
  EXPECT_TRUE(ask({}).ok());
}

TEST_F(SecurityTest, TheToolsClientFindsItsFilesInTheEnvironment) {
  serve(true, kToken);
  const auto outcome = [&] {
    auto state = remote_status(tls_server_->addresses()[0]);
    return state ? "good" : std::string(code_name(state.error().code));
  };
  const std::map<std::string, std::string> files = {{"CUZK_TLS_CA", certificates().pem("ca")},
                                                    {"CUZK_TLS_CERT", certificates().pem("client")},
                                                    {"CUZK_TLS_KEY", certificates().key("client")},
                                                    {"CUZK_TOKEN_FILE", certificates().write("token", kToken)}};
  for (const auto& [name, path] : files) setenv(name.c_str(), path.c_str(), 1);
  EXPECT_EQ(outcome(), "good");
  unsetenv("CUZK_TOKEN_FILE");
  EXPECT_EQ(outcome(), "usage");
  for (const auto& [name, path] : files) unsetenv(name.c_str());
  EXPECT_EQ(outcome(), "unavailable");
}

TEST_F(SecurityTest, SocketsHaveTheirMode) {
  for (unsigned mode : {0600u, 0660u, 0666u}) {
    const auto path = folder_.path() / fmt::format("{:o}.sock", mode);
    auto server =
        GrpcServer::start(*engine_, *observer_, [this](const Payload& payload) { return parse(payload); }, find_cubic,
                          {.listen = {"unix://" + path.string()},
                           .socket = {.mode = mode, .owner = fmt::format("{}:{}", getuid(), getgid())}});
    ASSERT_TRUE(server) << server.error().message;
    struct stat status;
    ASSERT_EQ(lstat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
    EXPECT_EQ(status.st_uid, getuid());
  }
  const mode_t usual = umask(0);
  umask(usual);
  EXPECT_NE(usual, 0u) << "the umask of the process is as it was";
}

TEST(Tls, SaysWhatIsWrongWithTheFiles) {
  const Certificates& files = certificates();
  const auto fault = [](const auto& certificate, const auto& key, const std::filesystem::path& ca = "") {
    auto tls = load_tls(certificate, key, ca);
    return tls ? "none" : fmt::format("{}: {}", code_name(tls.error().code), tls.error().message);
  };
  EXPECT_EQ(fault(files.pem("server"), files.key("server")), "none");
  EXPECT_THAT(fault(files.pem("server"), files.key("client")), HasSubstr("usage: the key "));
  EXPECT_THAT(fault(files.key("server"), files.key("server")), HasSubstr("holds no certificate"));
  EXPECT_THAT(fault(files.pem("server"), files.write("no.key", Certificates::read(files.pem("server")))),
              HasSubstr("holds no private key"));
  EXPECT_THAT(fault(files.pem("server"), files.key("server"), files.key("ca")), HasSubstr("holds no certificate"));
  EXPECT_THAT(fault(files.pem("absent"), files.key("server")), HasSubstr("not_found: "));
  EXPECT_THAT(fault(files.pem("server"), files.write("open.key", Certificates::read(files.key("server")), 0644)),
              HasSubstr("everybody may read"));
  const auto old = files.write("old.pem", "");
  const std::string key = files.key("server").string();
  Certificates::run(
      fmt::format("openssl req -new -key '{}' -subj /CN=old | openssl x509 -req -signkey '{}' -days -1 -out '{}'", key,
                  key, old.string()));
  EXPECT_THAT(fault(old, key), HasSubstr("has expired"));
}

TEST(Token, IsOneLine) {
  const Certificates& files = certificates();
  EXPECT_EQ(load_token(files.write("token", std::string(kToken) + "\nrest")).value(), kToken);
  EXPECT_EQ(load_token(files.write("token", std::string(kToken) + "\r\n")).value(), kToken);
  for (const char* bad : {"", "short", "\na-token-of-20-letter", "a token of 20 letter", "a-token-of-20-lett\xc3\xa9r"})
    EXPECT_EQ(load_token(files.write("token", bad)).error().code, Code::kUsage) << bad;
  EXPECT_EQ(load_token(files.write("token", std::string(4097, 'x'))).error().code, Code::kUsage);
  const auto open = files.write("open", kToken, 0604);
  EXPECT_THAT(load_token(open).error().message, HasSubstr("everybody may read"));
}

}  // namespace
}  // namespace cuzk::service
