// Peers in one process, each with its own table and links, on one loop and
// real loopback sockets. Tests wait for conditions, with a deadline.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/links.hpp"

namespace canopy::net::testing {

inline constexpr auto deadline = std::chrono::seconds(60);

// Runs the loop until the condition holds; false if it does not in time.
bool run_until(boost::asio::io_context& io, const std::function<bool()>& condition,
               std::chrono::steady_clock::duration time_max = deadline);

// Runs what is ready, and what that makes ready, until nothing is.
void run_ready(boost::asio::io_context& io);

struct PeerSettings {
  std::string name = "a";
  std::uint64_t incarnation = 1;
  std::uint8_t cluster = 1;  // 0: no member yet
  Endpoint listen{"127.0.0.1", 0};
  LinkOptions options{};
};

class TestPeer final : public LinkEvents {
 public:
  TestPeer(boost::asio::io_context& loop, const PeerSettings& settings);

  struct Received {
    PeerRef from;
    wire::Message message;
  };

  PeerTable peers;
  std::unique_ptr<Links> links;
  Endpoint endpoint;

  std::vector<Received> inbox;
  std::vector<PeerRef> connections;
  std::vector<std::pair<PeerRef, Disconnect>> disconnections;
  std::vector<PeerRef> unreachables;
  std::vector<Rejection> rejections;
  bool keep_messages = true;
  bool want_all = false;
  std::uint64_t received_count = 0;
  std::function<void(PeerRef, wire::Message&)> on_message;

  const PeerDescriptor& descriptor() const { return links->self().peer; }
  PeerRef ref_of(const TestPeer& other) { return peers.intern(other.descriptor()); }
  PeerRef ref_of(PeerDescriptor other) { return peers.intern(std::move(other)); }

  // Nonces of the probes received, in order.
  std::vector<std::uint32_t> nonces() const;

 private:
  void received(PeerRef from, wire::Message message) override;
  void connected(PeerRef peer, const wire::Hello& hello) override;
  void disconnected(PeerRef peer, Disconnect reason) override;
  void unreachable(PeerRef peer, std::string_view text) override;
  void rejected(const Rejection& rejection) override;
  bool wanted(PeerRef) override { return want_all; }
};

wire::Message probe(std::uint32_t nonce);                      // control
wire::Message multicast(std::uint64_t sequence, Buffer body);  // bulk

// A socket without manners, for what no peer would send.
class RawClient {
 public:
  RawClient(boost::asio::io_context& io, const Endpoint& to);

  // As much as the socket takes now; returns how much.
  std::size_t write(std::string_view bytes);

  // Reads what is there; whether the other side has closed.
  bool closed();

  const std::string& input() const noexcept { return input_; }
  boost::asio::ip::tcp::socket& socket() noexcept { return socket_; }
  void close();

 private:
  boost::asio::ip::tcp::socket socket_;
  std::string input_;
  bool closed_ = false;
};

// A port on which nobody answers: connecting neither succeeds nor fails.
class SilentPort {
 public:
  explicit SilentPort(boost::asio::io_context& io);
  const Endpoint& endpoint() const noexcept { return endpoint_; }

 private:
  boost::asio::ip::tcp::acceptor acceptor_;
  std::vector<boost::asio::ip::tcp::socket> fillers_;
  Endpoint endpoint_;
};

// A port of this machine that refuses connections.
Endpoint closed_port(boost::asio::io_context& io);

// Resident memory says something about the code, which it does not where a
// sanitizer keeps what was freed.
bool memory_is_measurable();
std::uint64_t resident_bytes();

}  // namespace canopy::net::testing
