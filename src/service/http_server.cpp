#include "service/http_server.h"

#include <httplib.h>
#include <poll.h>

#include <charconv>
#include <latch>
#include <nlohmann/json.hpp>
#include <semaphore>

#include "base/log.h"
#include "service/listener.h"
#include "service/metrics.h"
#include "service/panel.h"
#include "service/reports.h"

namespace cuzk::service {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMaxRequestBytes = 64 << 10;

// A connection that ends at a point in time, however it trickles, and that does not take in more than a request may
// have: the library's own timeouts begin anew at each byte, and it lets in any number of headers.
class DeadlineStream final : public httplib::Stream {
 public:
  DeadlineStream(socket_t socket, steady_clock::time_point end) : socket_(socket), end_(end) {}

  bool is_readable() const override { return ready(POLLIN); }
  bool is_writable() const override { return ready(POLLOUT); }
  ssize_t read(char* to, size_t size) override {
    if (next_ == filled_) {  // the library reads heads byte by byte
      if (taken_in_ > kMaxRequestBytes || !is_readable()) return -1;
      next_ = filled_ = 0;
      const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), 0);
      if (got <= 0) return got;
      filled_ = static_cast<size_t>(got);
      taken_in_ += filled_;
    }
    const size_t taken = std::min(size, filled_ - next_);
    std::copy_n(buffer_.begin() + static_cast<ptrdiff_t>(next_), taken, to);
    next_ += taken;
    return static_cast<ssize_t>(taken);
  }
  ssize_t write(const char* from, size_t size) override {
    return is_writable() ? send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool ready(short event) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - steady_clock::now()).count();
    pollfd waiting{socket_, event, 0};
    return left > 0 && poll(&waiting, 1, static_cast<int>(left)) > 0;
  }

  const socket_t socket_;
  const steady_clock::time_point end_;
  std::array<char, 4096> buffer_;
  size_t next_ = 0, filled_ = 0, taken_in_ = 0;
};

// Lets no more connections in than there are places; the others stay in the backlog of the system.
class BoundedPool final : public httplib::ThreadPool {
 public:
  BoundedPool(size_t threads, size_t places) : ThreadPool(threads), places_(static_cast<ptrdiff_t>(places)) {}

  void enqueue(std::function<void()> task) override {
    places_.acquire();
    ThreadPool::enqueue([this, task = std::move(task)] {
      task();
      places_.release();
    });
  }

 private:
  std::counting_semaphore<> places_;
};

class Listener final : public httplib::Server {
 public:
  explicit Listener(std::chrono::milliseconds deadline) : deadline_(deadline) {}

 private:
  bool process_and_close_socket(socket_t socket) override {
    DeadlineStream stream(socket, steady_clock::now() + deadline_);
    bool closed = false;
    const bool done = process_request(stream, true, closed, nullptr);
    shutdown(socket, SHUT_RDWR);
    close(socket);
    return done;
  }

  const std::chrono::milliseconds deadline_;
};

void answer(httplib::Response& response, int status, const std::string& text,
            const char* type = "text/plain; charset=utf-8") {
  response.status = status;
  response.set_content(text, type);
}

void answer(httplib::Response& response, const nlohmann::json& report) {
  answer(response, 200, report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace), "application/json");
}

// What ?limit= and ?offset= ask for.
Result<engine::Page> page_of(const httplib::Request& request) {
  constexpr size_t kRows = 100, kMostRows = 1000;
  engine::Page page{.offset = 0, .limit = kRows};
  for (const auto& [name, number] : {std::pair("offset", &page.offset), std::pair("limit", &page.limit)}) {
    if (!request.has_param(name)) continue;
    const std::string text = request.get_param_value(name);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (error != std::errc() || *end != '\0') return fail(Code::kUsage, "{} is no number", name);
  }
  page.limit = std::min(page.limit, kMostRows);
  return page;
}

void serve(const Observer& observer, const httplib::Request& request, httplib::Response& response) {
  constexpr std::string_view kTrace = "/trace/";
  if (request.method != "GET" && request.method != "HEAD") {
    response.set_header("Allow", "GET, HEAD");
    return answer(response, 405, "only GET and HEAD are served\n");
  }
  if (request.path == "/") {
    response.set_header(
        "Content-Security-Policy",
        "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'");
    return answer(response, 200, kPanel, "text/html; charset=utf-8");
  }
  if (request.path == "/status") {
    const Result<engine::Page> page = page_of(request);
    return page ? answer(response, status_report(observer.read(*page)))
                : answer(response, 400, page.error().message + "\n");
  }
  if (request.path == "/metrics")
    return answer(response, 200, metrics_text(observer.read()), "text/plain; version=0.0.4; charset=utf-8");
  const Status ready = observer.ready();
  if (request.path == "/healthz") return answer(response, 200, "alive\n");  // the engine answered
  if (request.path == "/readyz")
    return ready ? answer(response, 200, "ready\n") : answer(response, 503, ready.error().message + "\n");
  if (!request.path.starts_with(kTrace))
    return answer(response, 404, "there are /, /status, /metrics, /healthz, /readyz and /trace/JOB\n");
  auto job = observer.job(request.path.substr(kTrace.size()));
  if (!job) return answer(response, 404, job.error().message + "\n");
  answer(response, trace_report(*job, observer.read().engine.devices));
}

}  // namespace

struct HttpServer::State {
  explicit State(const HttpLimits& limits) : listener(limits.deadline) {}

  Listener listener;
  std::string address;
  std::latch running{1};
  std::jthread thread;
};

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const Observer& observer, const std::string& listen,
                                                      HttpLimits limits) {
  CUZK_TRY_ASSIGN(const ListenAddress address, parse_http_listen(listen));
  std::unique_ptr<HttpServer> self(new HttpServer(std::make_unique<State>(limits)));
  State& state = *self->state_;
  httplib::Server& server = state.listener;
  // All routes are here, before the library reads a body or matches a pattern against what a stranger sent.
  server.set_pre_routing_handler([&observer](const httplib::Request& request, httplib::Response& response) {
    serve(observer, request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  server.set_socket_options([](socket_t socket) {  // without SO_REUSEPORT: two daemons could share a port unnoticed
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  });
  server.new_task_queue = [&state, limits] {
    state.running.count_down();
    return new BoundedPool(limits.threads, limits.connections);
  };
  std::string host = address.host;
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const int port = address.port == 0                         ? server.bind_to_any_port(host)
                   : server.bind_to_port(host, address.port) ? address.port
                                                             : -1;
  if (port < 0) return fail(Code::kIo, "cannot listen on '{}'; is the address free and allowed?", listen);
  state.address = fmt::format("{}:{}", address.host, port);
  state.thread = std::jthread([&server] { server.listen_after_bind(); });
  state.running.wait();  // before that, stop() would do nothing
  return self;
}

HttpServer::~HttpServer() {
  if (state_->thread.joinable()) state_->listener.stop();
}

const std::string& HttpServer::address() const { return state_->address; }

}  // namespace cuzk::service
