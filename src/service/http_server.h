#pragma once
// Pages over HTTP for people and machines that watch the service: /, /status, /metrics, /healthz, /readyz, /trace/ID.
// docs/operating.md describes them. GET and HEAD only; nothing here changes anything.

#include <chrono>
#include <memory>
#include <string>

#include "service/observer.h"

namespace cuzk::service {

struct HttpLimits {
  std::chrono::milliseconds deadline = std::chrono::seconds(10);  // of a connection, from its first byte to its last
  size_t threads = 8;                                             // connections served at a time
  size_t connections = 64;                                        // served or waiting for a thread; others queue up
};

class HttpServer {
 public:
  // `listen` as parse_http_listen() wants it. kIo where it cannot be had. The observer outlives the server.
  static Result<std::unique_ptr<HttpServer>> start(const Observer& observer, const std::string& listen,
                                                   HttpLimits limits = {});
  // Stops; connections under way end within the deadline.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // host:port, with the port that was chosen.
  const std::string& address() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cuzk::service
