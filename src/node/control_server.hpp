// A daemon's side of the control socket: carries out what `canopy` asks for, on
// a Node, through its public interface only, and on the queues of its gateway.
//
// Bounded: the number of clients, each one's requests under way and groups
// joined, and the bytes queued for it. A client that asks too much at once is
// read no further, one that does not read gets nothing more; neither costs more
// memory. Bytes that are no request close the connection and are logged.
// Closing a connection gives up all that was started through it, memberships
// included.
// One thread, the one that runs the io_context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <canopy/gateway.hpp>
#include <canopy/node.hpp>

#include "net/local_socket.hpp"
#include "net/log_limit.hpp"

namespace canopy::node {

struct ControlLimits {
  std::size_t clients_max = 64;
  std::size_t requests_max = 64;   // under way per client, joined groups not counted
  std::size_t joins_max = 16'384;  // per client
  // Between the tree and a client that does not read: per joined group, of all its
  // groups together, and in the socket's queue.
  std::size_t subscription_messages_max = 16'384;
  std::size_t subscription_bytes_max = std::size_t{4} << 20;
  std::size_t client_bytes_max = std::size_t{64} << 20;
  std::size_t queue_bytes_max = std::size_t{1} << 20;
};

struct ControlCounters {
  std::uint64_t clients = 0;  // accepted
  std::uint64_t refused = 0;  // told to come back, beyond clients_max, or another user's
  std::uint64_t requests = 0;
  std::uint64_t accept_errors = 0;
  std::uint64_t malformed = 0;  // connections closed for bytes that made no sense
};

class ControlQueues;
class ControlSession;

// What sessions share with their server.
struct ControlHost {
  Node& node;
  boost::asio::io_context& io;
  std::function<void()> shutdown;
  ControlLimits limits;
  std::function<ControlCounters()> all_counters;  // the server's
  ControlCounters counters = {};                  // what sessions count
  std::shared_ptr<ControlQueues> queues = {};     // none: no gateway
};

class ControlServer {
 public:
  // Listens on `path`. A Shutdown request calls `shutdown`, on the
  // io_context's thread; the connection stays open until the server is gone.
  // The node must outlive the server. Throws net::ListenError.
  ControlServer(boost::asio::io_context& io, Node& node, std::string path,
                std::function<void()> shutdown, ControlLimits limits = {});

  // Accepts no more, and closes the connections once what is queued for them
  // has been written, or after two seconds: let the io_context run until then.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  // Clients can call the queues from now on, until close_queues(), which has to
  // come before the gateway's end and gives up what is under way.
  void serve_queues(Gateway& gateway);
  void close_queues();

  const std::string& path() const noexcept { return listener_.path(); }
  ControlCounters counters() const noexcept;
  std::size_t clients() const noexcept;  // connected now

 private:
  void accept(std::shared_ptr<net::FrameChannel> channel);
  void turn_away(net::FrameChannel& channel);

  std::shared_ptr<ControlHost> host_;
  std::vector<std::weak_ptr<ControlSession>> sessions_;
  std::uint64_t malformed_seen_ = 0;
  net::LogLimit log_;
  net::LocalListener listener_;
};

}  // namespace canopy::node
