// What anycasts and requests promise, checked from outside: by what members are
// given, and by what senders are told.
//
// No process takes one twice, nor gets one long after its sender has stopped
// waiting; but a request to all is for each subscriber, so who has left and come back
// may get it once more. Who is said to have taken a message, or to have replied, has been given
// it. Every request ends as long as its asker lives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "sim/checkers.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::sim {

class RequestChecker {
 public:
  using Member = std::pair<NodeIndex, std::uint64_t>;  // node, its incarnation

  // Its sender, a process, waits until then. The sender's own member may have had it before,
  // within the call that sends it.
  void sent(const wire::MessageId& id, const Member& sender, MonoTime deadline);
  // The member takes an anycast; or owes a reply to a request to all, in this one of
  // its memberships.
  void had(const wire::MessageId& id, const Member& member, MonoTime now,
           std::uint64_t membership = 0);
  // What the sender is told.
  void said_taken(const wire::MessageId& id, const Member& member);
  void said_replied(const wire::MessageId& id, const Member& member);
  void ended(const wire::MessageId& id);
  void stopped(const Member& process);

  // Nothing is under way any more.
  void judge_end();

  // What was found since the last call.
  Findings take_findings() { return std::exchange(findings_, {}); }
  std::uint64_t taken() const noexcept { return taken_; }
  std::uint64_t replies() const noexcept { return replies_; }

 private:
  struct Sent {
    std::optional<Member> sender;  // none yet
    MonoTime deadline{};
    bool ended = false;
    std::set<std::pair<Member, std::uint64_t>> had;
  };
  void find(const wire::MessageId& id, const char* finding, const Member& member);
  void expect_had(const wire::MessageId& id, const Member& member, const char* finding);

  std::map<wire::MessageId, Sent> sent_;
  Findings findings_;
  std::uint64_t taken_ = 0;
  std::uint64_t replies_ = 0;
};

}  // namespace canopy::sim
