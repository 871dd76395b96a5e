#include "gateway/http_server.hpp"

#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <fmt/format.h>

#include "base/option_value.hpp"
#include "gateway/http_connection.hpp"
#include "gateway/http_loop.hpp"
#include "net/tcp_listener.hpp"
#include "net/thread.hpp"

namespace canopy::gateway {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using Tcp = asio::ip::tcp;

namespace {

std::optional<ssl::context> tls_of(const HttpOptions& options) {
  if (options.certificate_file.empty() && options.key_file.empty()) return std::nullopt;
  ssl::context context(ssl::context::tls_server);
  boost::system::error_code error;
  context.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                      ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  context.use_certificate_chain_file(options.certificate_file, error);
  if (error)
    throw std::runtime_error(
        fmt::format("{}: not a certificate in PEM: {}", options.certificate_file, error.message()));
  context.use_private_key_file(options.key_file, ssl::context::pem, error);
  if (error)
    throw std::runtime_error(
        fmt::format("{}: not the certificate's key in PEM: {}", options.key_file, error.message()));
  return context;
}

}  // namespace

void check_tls(const HttpOptions& options) { tls_of(options); }

class HttpServer::Impl {
 public:
  Impl(HttpOptions options, FrontOptions front, Service& service)
      : options_(std::move(options)),
        shared_{std::move(front), {}, {}, service},
        tls_(tls_of(options_)) {
    const auto seed =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    for (unsigned i = 0; i < std::max(1U, options_.threads); ++i)
      loops_.push_back(std::make_unique<HttpLoop>(options_, shared_, counts_, seed + i));
    listener_ = std::make_unique<net::TcpListener>(
        loops_[0]->io, options_.listen, [this](Tcp::socket socket) { accept(std::move(socket)); },
        "--gateway");
    endpoint_ = listener_->endpoint();
    shared_.options.usual_host = format_endpoint(endpoint_);
    for (auto& loop : loops_)
      threads_.emplace_back([&loop = *loop] {
        net::begin_serving_thread("canopy-http");
        loop.io.run();
      });
  }

  ~Impl() {
    accept_no_more_and(&HttpLoop::stop);
    for (auto& thread : threads_) thread.join();
  }

  bool drain(std::chrono::milliseconds time_max) {
    accept_no_more_and(&HttpLoop::drain);
    return counts_.wait_until_all_closed(time_max);
  }

  HttpOptions options_;
  Shared shared_;
  HttpCounts counts_;
  std::optional<ssl::context> tls_;
  Endpoint endpoint_;

 private:
  // Behind the connections on their way to other loops, which only the first loop sends.
  void accept_no_more_and(void (HttpLoop::*then)()) {
    asio::post(loops_[0]->io, [this, then] {
      listener_.reset();
      for (auto& loop : loops_) asio::post(loop->io, [&loop = *loop, then] { (loop.*then)(); });
    });
  }

  // On the first loop's thread.
  void accept(Tcp::socket socket) {
    counts_.accepted.fetch_add(1, std::memory_order_relaxed);
    if (counts_.connections.load(std::memory_order_relaxed) >= options_.connections_max) {
      counts_.refused.fetch_add(1, std::memory_order_relaxed);
      return;  // the socket closes
    }
    counts_.connections.fetch_add(1, std::memory_order_relaxed);
    boost::system::error_code error;
    socket.set_option(Tcp::no_delay(true), error);
    HttpLoop& loop = *loops_[turn_++ % loops_.size()];
    if (&loop == loops_[0].get()) return serve(loop, std::move(socket));
    const Tcp protocol = socket.local_endpoint(error).protocol();
    const int descriptor = socket.release(error);
    asio::post(loop.io, [this, &loop, protocol, descriptor] {
      Tcp::socket moved(loop.io);
      boost::system::error_code ignored;
      moved.assign(protocol, descriptor, ignored);
      serve(loop, std::move(moved));
    });
  }

  void serve(HttpLoop& loop, Tcp::socket socket) {
    if (tls_) {
      using Stream = ssl::stream<Tcp::socket>;
      std::make_shared<HttpConnection<Stream>>(loop, Stream(std::move(socket), *tls_))->start();
    } else {
      std::make_shared<HttpConnection<Tcp::socket>>(loop, std::move(socket))->start();
    }
  }

  std::vector<std::unique_ptr<HttpLoop>> loops_;
  std::unique_ptr<net::TcpListener> listener_;  // of the first loop's thread
  std::size_t turn_ = 0;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(HttpOptions options, FrontOptions front, Service& service)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(front), service)) {}
HttpServer::~HttpServer() = default;

const Endpoint& HttpServer::endpoint() const noexcept { return impl_->endpoint_; }

void HttpServer::set_credentials(Credentials credentials) {
  impl_->shared_.keys.set(std::move(credentials));
}

const Statistics& HttpServer::statistics() const noexcept { return impl_->shared_.statistics; }

Shared& HttpServer::shared() noexcept { return impl_->shared_; }

HttpCounters HttpServer::counters() const noexcept {
  const HttpCounts& counts = impl_->counts_;
  return {counts.connections.load(), counts.accepted.load(),  counts.refused.load(),
          counts.requests.load(),    counts.malformed.load(), counts.shed.load(),
          counts.timed_out.load(),   counts.hung_up.load()};
}

bool HttpServer::drain(std::chrono::milliseconds time_max) { return impl_->drain(time_max); }

}  // namespace canopy::gateway
