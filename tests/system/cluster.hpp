// Daemons on the loopback, in a directory of their own that goes with them.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "system/client.hpp"
#include "system/process.hpp"

namespace canopy::system_test {

class Daemon {
 public:
  Daemon(boost::asio::io_context& io, const std::string& name, const std::string& directory,
         std::vector<std::string> arguments);

  // Has said where it listens; false when it ended instead.
  bool up(milliseconds time_max = seconds(20));

  const std::string& name() const noexcept { return name_; }
  std::string address() const;  // HOST:PORT, once up
  std::uint16_t port() const;
  const std::string& control_path() const noexcept { return control_path_; }
  Process& process() noexcept { return process_; }
  Client& client() noexcept { return client_; }

  control::Status status();
  std::uint64_t counter(const std::string& name);
  bool active();
  // Being up, it is soon.
  bool becomes_active();
  std::vector<control::Peer> ring();
  std::vector<control::TreeNode> tree(const std::string& group);

 private:
  std::string name_;
  std::string control_path_;
  Process process_;
  Client client_;
};

class Cluster {
 public:
  // Every daemon gets `arguments`, too.
  explicit Cluster(std::vector<std::string> arguments = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Without `join`, the first one's address is used for all that come later.
  Daemon& add(const std::string& name, std::vector<std::string> arguments = {});
  Daemon& add_stranger(const std::string& name, std::vector<std::string> arguments = {});

  // The first alone, then all others at the same moment.
  void start(std::size_t count);

  std::size_t size() const noexcept { return daemons_.size(); }
  Daemon& operator[](std::size_t index) { return *daemons_.at(index); }
  void remove(std::size_t index);

  boost::asio::io_context& io() noexcept { return io_; }
  const std::string& directory() const noexcept { return directory_; }

  // Whether every running daemon sees exactly the running ones as the ring.
  bool is_one_ring();
  bool becomes_one_ring(milliseconds time_max);

  // Runs the io_context until the condition holds; false if it does not in time.
  template <class Condition>
  bool until(milliseconds time_max, Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + time_max;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      io_.restart();
      io_.run_one_for(milliseconds(10));
    }
    return true;
  }

  // The last lines of the daemons' logs, for messages.
  std::string logs() const;

 private:
  boost::asio::io_context io_;
  std::string directory_;
  std::vector<std::string> arguments_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

// A port of the loopback that nobody listens on.
std::uint16_t free_port();

}  // namespace canopy::system_test
