// Anycasts and requests of a fuzz run: sends them, decides what members make of
// them, and has both watched by a RequestChecker. Members take their time to reply,
// decline, or say nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/random.hpp"
#include "sim/request_checker.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

class FuzzRequests {
 public:
  struct Host {
    std::function<void(MonoTime time, std::function<void()> what)> at;
    std::function<void(std::string finding)> find;
    std::function<scribe::TokenKey(NodeIndex node)> key_of;
  };
  using Told = std::function<void(const scribe::RequestOutcome&)>;
  static constexpr Duration time_max = std::chrono::seconds(21);  // until all is over

  // The simulation must outlive it.
  FuzzRequests(Simulation& simulation, std::uint64_t seed, Host host);

  void send_anycast(NodeIndex node, const wire::GroupName& group);
  void ask(NodeIndex node, const wire::GroupName& group, bool to_all, Told told);
  // From now on everybody is willing, and replies.
  void let_all_reply() { all_reply_ = true; }

  // --- As Observer has it ---
  bool anycast(NodeIndex node, const wire::Anycast& message);
  std::size_t asked(NodeIndex node, std::uint64_t membership, const wire::Multicast& message);
  void stopped(NodeIndex node) { checker_.stopped(process(node)); }

  // Everything is over.
  void judge_end();

  const RequestChecker& checker() const noexcept { return checker_; }

 private:
  using Member = RequestChecker::Member;

  Member process(NodeIndex node) const { return process_of(simulation_.ref(node)); }
  Member process_of(PeerRef peer) const;
  void reply_later(NodeIndex node, const wire::MessageId& id);
  void reply(NodeIndex node, const wire::MessageId& id, bool declines);
  void report();

  Simulation& simulation_;
  Host host_;
  RequestChecker checker_;
  Random random_;  // of its own: the rest of the run stays as it is
  bool all_reply_ = false;
};

}  // namespace canopy::sim
