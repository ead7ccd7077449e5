#pragma once
// cuzk.v1.ProvingEngine over gRPC, on Unix sockets and TCP.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "service/journal.h"
#include "service/listener.h"
#include "service/observer.h"
#include "service/tls.h"
#include "service/wiring.h"

namespace cuzk::service {

// Of one message, either way. A larger one is refused with RESOURCE_EXHAUSTED before its body is read.
inline constexpr int kMaxMessageBytes = 512 << 20;

struct GrpcOptions {
  std::vector<std::string> listen;  // as parse_listen() wants them
  SocketAccess socket = {};         // of Unix sockets
  std::optional<Tls> tls = {};      // of TCP addresses; absent: in clear
  std::string token = {};           // that every call over TLS must bring; empty: none
};
// Makes statements of what SubmitProof and Prove put into the journal.
Journal::Parse parse_recorded(MakeSource make_source);

class GrpcServer {
 public:
  // Binds every address or none. Engine and observer outlive the server.
  static Result<std::unique_ptr<GrpcServer>> start(engine::Engine& engine, const Observer& observer,
                                                   MakeSource make_source, FindCircuit find_circuit,
                                                   const GrpcOptions& options);
  // Stops.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Where it serves, in the form of the configuration, with the ports that were chosen.
  const std::vector<std::string>& addresses() const;
  // From the next call on; empty: none is asked for.
  void set_token(std::string_view token);
  // Takes no more calls, lets the running ones end within `grace`, and removes its own socket files.
  void stop(std::chrono::milliseconds grace);

 private:
  GrpcServer();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cuzk::service
