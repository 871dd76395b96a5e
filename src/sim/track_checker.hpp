// What tracked publishes promise, checked from outside: by who was told that he
// is a member, and by who got what.
//
// When a publisher is told that its message is complete, every process that was
// a member before it was published, and is one still, has got it (unless the group
// has two roots, which is not asked about here); and it is never
// told of more members than have got it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/checkers.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::sim {

class TrackChecker {
 public:
  using Member = std::pair<NodeIndex, std::uint64_t>;  // node, its incarnation
  // The memberships of one group at some moment, by member.
  using Memberships = std::map<Member, std::uint64_t>;

  void joined(const Member& member, const Id& group);
  void left(const Member& member, const Id& group);
  void stopped(const Member& member);
  // In one of its memberships: who has left and come back gets a message again.
  void delivered(const Member& member, std::uint64_t membership, const wire::MessageId& id) {
    received_[id][member].insert(membership);
  }

  Memberships members(const Id& group) const;
  // The publisher is told so, of a message that it published when these were members.
  void answered(const Memberships& before, const Id& group, const wire::MessageId& id,
                const wire::Reach& reach);

  // What was found since the last call.
  Findings take_findings() { return std::exchange(findings_, {}); }
  std::uint64_t answers() const noexcept { return answers_; }
  std::uint64_t complete() const noexcept { return complete_; }

 private:
  std::map<Id, Memberships> members_;
  std::uint64_t memberships_ = 0;
  std::map<wire::MessageId, std::map<Member, std::set<std::uint64_t>>> received_;
  Findings findings_;
  std::uint64_t answers_ = 0;
  std::uint64_t complete_ = 0;
};

}  // namespace canopy::sim
