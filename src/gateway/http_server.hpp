// The gateway's HTTP server: accepts connections, reads requests, asks the
// service, writes answers. N threads of its own, each with an event loop and the
// connections given to it in turn.
//
// A request never occupies a thread while it waits. Connections are bounded in
// number, in time and in memory; what is refused is counted. Requests of one
// connection are answered one after the other, so that pipelining works. While a
// receive waits, a client that hangs up is noticed, and its call is cancelled.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/peer.hpp"
#include "gateway/credentials.hpp"
#include "gateway/front.hpp"
#include "gateway/http_parser.hpp"
#include "gateway/service.hpp"

namespace canopy::gateway {

struct HttpOptions {
  Endpoint listen{"127.0.0.1", 9324};
  unsigned threads = 2;
  HttpLimits limits;
  std::size_t connections_max = 20'000;
  // Of requests that are still arriving, over all connections; at least twice a body's.
  std::size_t arriving_bytes_max = 256U << 20;
  // A connection without a request; a head, and a body's or an answer's least
  // speed, from their first byte on; what is left to say when one side closes.
  std::chrono::seconds idle_max{90};
  std::chrono::seconds head_max{10};
  std::chrono::seconds transfer_max{30};
  std::size_t transfer_bytes_per_second_min = 16 * 1'024;
  std::chrono::seconds closing_max{2};
  // PEM files; both or none.
  std::string certificate_file;
  std::string key_file;
};

// Throws std::runtime_error if certificate and key cannot be used.
void check_tls(const HttpOptions& options);

struct HttpCounters {
  std::uint64_t connections = 0;  // at the moment
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;    // because there were too many
  std::uint64_t requests = 0;   // that were understood as HTTP
  std::uint64_t malformed = 0;  // and that were not
  std::uint64_t shed = 0;       // because too much was arriving at once
  std::uint64_t timed_out = 0;
  std::uint64_t hung_up = 0;  // while the service had their call
};

class HttpServer {
 public:
  // Listens at once; throws net::ListenError, and std::runtime_error for files
  // that cannot be used. The service must outlive the server.
  HttpServer(HttpOptions options, FrontOptions front, Service& service);
  // Ends every connection.
  ~HttpServer();

  // With the port in use.
  const Endpoint& endpoint() const noexcept;
  // Any thread; requests from now on are checked against these.
  void set_credentials(Credentials credentials);
  const Statistics& statistics() const noexcept;
  // For a Front on another thread.
  Shared& shared() noexcept;
  HttpCounters counters() const noexcept;

  // Accepts no more, lets requests under way end, answers waiting receives with
  // no messages, and returns when all connections are closed, or false when the
  // time is up. Idle connections are closed at once.
  bool drain(std::chrono::milliseconds time_max);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace canopy::gateway
