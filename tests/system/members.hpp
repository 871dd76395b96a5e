// Members of a group at several daemons, and what arrives at each.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "system/cluster.hpp"

namespace canopy::system_test {

class Members {
 public:
  using Clock = std::chrono::steady_clock;

  Members(Cluster& cluster, std::string group) : cluster_(cluster), group_(std::move(group)) {}

  void join(std::size_t daemon);
  void leave();  // all who have joined
  std::size_t joined() const noexcept { return joined_; }

  // Payloads that arrived at this daemon, and when the last one did.
  const std::set<std::string>& received(std::size_t daemon) { return received_[daemon]; }
  Clock::time_point last(std::size_t daemon) { return last_[daemon]; }

  std::uint64_t duplicates() const noexcept { return duplicates_; }

 private:
  Cluster& cluster_;
  std::string group_;
  std::map<std::size_t, std::uint64_t> joins_;  // the request of each daemon's membership
  std::size_t joined_ = 0;
  std::uint64_t duplicates_ = 0;
  std::map<std::size_t, std::set<std::string>> received_;
  std::map<std::size_t, Clock::time_point> last_;
};

// Asks for a publish and does not wait; `done` gets the answer.
void publish(
    Daemon& daemon, const std::string& group, const std::string& text,
    Client::OnAnswer done = [](const control::AnswerEnvelope&) {},
    wire::AckMode ack = wire::AckMode::root);

}  // namespace canopy::system_test
