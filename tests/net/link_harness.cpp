#include "net/link_harness.hpp"

#include <array>
#include <fstream>

#include <boost/asio/ip/address.hpp>
#include <unistd.h>

namespace canopy::net::testing {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

bool run_until(asio::io_context& io, const std::function<bool()>& condition,
               std::chrono::steady_clock::duration time_max) {
  const auto end = std::chrono::steady_clock::now() + time_max;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    if (io.stopped()) io.restart();
    io.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

void run_ready(asio::io_context& io) {
  if (io.stopped()) io.restart();
  while (io.poll() > 0) {
  }
}

TestPeer::TestPeer(asio::io_context& loop, const PeerSettings& settings) {
  wire::Hello self;
  self.cluster.bytes[0] = settings.cluster;
  self.cluster_name = "test";
  self.peer.id = Id::hash_of(settings.name);
  self.peer.incarnation = settings.incarnation;
  self.peer.name = settings.name;
  links = std::make_unique<Links>(loop, peers, *this, self, settings.options,
                                  self.peer.id.high64() + settings.incarnation);
  endpoint = links->listen(settings.listen);
  self.peer.addresses = {endpoint};
  links->set_self(self);
}

std::vector<std::uint32_t> TestPeer::nonces() const {
  std::vector<std::uint32_t> found;
  for (const Received& received : inbox) {
    if (const auto* message = std::get_if<wire::Probe>(&received.message))
      found.push_back(message->nonce);
  }
  return found;
}

void TestPeer::received(PeerRef from, wire::Message message) {
  ++received_count;
  if (on_message) on_message(from, message);
  if (keep_messages) inbox.push_back({from, std::move(message)});
}

void TestPeer::connected(PeerRef peer, const wire::Hello&) { connections.push_back(peer); }

void TestPeer::disconnected(PeerRef peer, Disconnect reason) {
  disconnections.emplace_back(peer, reason);
}

void TestPeer::unreachable(PeerRef peer, std::string_view) { unreachables.push_back(peer); }

void TestPeer::rejected(const Rejection& rejection) { rejections.push_back(rejection); }

wire::Message probe(std::uint32_t nonce) { return wire::Probe{nonce}; }

wire::Message multicast(std::uint64_t sequence, Buffer body) {
  wire::Multicast message;
  message.group = Id::hash_of("group");
  message.id = {Id::hash_of("publisher"), 1, sequence};
  message.body = std::move(body);
  return message;
}

RawClient::RawClient(asio::io_context& io, const Endpoint& to) : socket_(io) {
  socket_.connect({asio::ip::make_address(to.host), to.port});
  socket_.non_blocking(true);
}

std::size_t RawClient::write(std::string_view bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    error_code error;
    written += socket_.write_some(asio::buffer(bytes.substr(written)), error);
    if (error) break;
  }
  return written;
}

bool RawClient::closed() {
  std::array<char, 4096> room;
  while (!closed_) {
    error_code error;
    const std::size_t size = socket_.read_some(asio::buffer(room), error);
    input_.append(room.data(), size);
    if (error == asio::error::would_block) break;
    closed_ = static_cast<bool>(error);
  }
  return closed_;
}

void RawClient::close() {
  error_code ignored;
  socket_.close(ignored);
}

SilentPort::SilentPort(asio::io_context& io) : acceptor_(io, Tcp::v4()) {
  acceptor_.bind({asio::ip::address_v4::loopback(), 0});
  acceptor_.listen(0);
  const auto address = acceptor_.local_endpoint();
  endpoint_ = {"127.0.0.1", address.port()};
  // The queue of a port that never accepts takes this many, and drops the rest.
  for (int i = 0; i < 2; ++i) {
    fillers_.emplace_back(io, Tcp::v4());
    fillers_.back().async_connect(address, [](error_code) {});
  }
}

Endpoint closed_port(asio::io_context& io) {
  Tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  return {"127.0.0.1", acceptor.local_endpoint().port()};
}

bool memory_is_measurable() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace canopy::net::testing
