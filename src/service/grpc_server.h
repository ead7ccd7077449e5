#pragma once
// cuzk.v1.ProvingEngine over gRPC, on Unix sockets and TCP.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "service/journal.h"
#include "service/wiring.h"

namespace cuzk::service {

// Of one message, either way. A larger one is refused with RESOURCE_EXHAUSTED before its body is read.
inline constexpr int kMaxMessageBytes = 512 << 20;

// Makes statements of what SubmitProof and Prove put into the journal.
Journal::Parse parse_recorded(MakeSource make_source);

class GrpcServer {
 public:
  // Binds every address or none. The engine outlives the server.
  static Result<std::unique_ptr<GrpcServer>> start(engine::Engine& engine, MakeSource make_source,
                                                   FindCircuit find_circuit, const std::vector<std::string>& listen);
  // Stops.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Where it serves, in the form of the configuration, with the ports that were chosen.
  const std::vector<std::string>& addresses() const;
  // Takes no more calls, lets the running ones end within `grace`, and removes its own socket files.
  void stop(std::chrono::milliseconds grace);

 private:
  GrpcServer();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cuzk::service
