// What ordered groups promise, checked from outside: by what members are told,
// and by the positions that messages have on the wire.
//
// At every member positions only grow; whatever has a place between two of them,
// in whosever epoch, was told as a gap, or is a message that the member has had
// before, or that had another place before the member began; no message comes twice; no
// position has two messages; and what one publisher sent comes in its order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "scribe/operations.hpp"
#include "scribe/order_item.hpp"
#include "sim/checkers.hpp"

namespace canopy::sim {

class OrderChecker {
 public:
  using Member = std::pair<NodeIndex, std::uint64_t>;  // node, its incarnation

  // A multicast was sent from one peer to another.
  void seen(const wire::Multicast& multicast);
  void delivered(const Member& member, const wire::Multicast& multicast);
  void gap(const Member& member, const Id& group, const scribe::Missed& missed);
  // The membership is over: another one begins anywhere in the order.
  void left(const Member& member, const Id& group);
  // What it remembers for a time only, it remembers no more: messages may come again.
  void forgets(const Member& member);
  // What the publisher was told.
  void published(const Id& group, const scribe::PublishOutcome& outcome);

  // What is wrong, once everything has come to rest.
  Findings judge() const;

  std::uint64_t gaps() const noexcept { return gaps_; }
  std::uint64_t deliveries() const noexcept { return deliveries_; }

 private:
  struct Progress {
    std::size_t begun = 0;  // when so many places had been given
    std::optional<wire::Position> last;
    bool open_ended = false;  // a gap after it has no known end
    std::set<wire::MessageId> received;
    std::map<std::pair<Id, std::uint64_t>, std::uint64_t> latest_of;  // by publisher
  };
  // Passed over without a word; fine if the member has had what has its place there.
  struct PassedOver {
    Member member;
    Id group;
    wire::Position after;
    wire::Position to;
    std::size_t begun = 0;
  };
  struct Given {
    wire::Position position;
    std::size_t places = 0;  // that had been given before
  };
  using Place = std::pair<Id, wire::Position>;  // group

  void advance(Progress& progress, const Member& member, const Id& group, const wire::Position& to);
  void place(const Id& group, const wire::MessageId& id, const wire::Position& position);
  Progress& progress_of(const Member& member, const Id& group);
  bool had(const PassedOver& passed, const wire::MessageId& id) const;
  bool elsewhere_before(const PassedOver& passed, const Place& place,
                        const wire::MessageId& id) const;
  void find(const Member& member, const Id& group, const wire::Position& position,
            const char* what);

  std::map<std::pair<Member, Id>, Progress> progress_;
  std::map<std::pair<Member, Id>, std::set<wire::MessageId>>
      had_before_;  // in all memberships, and forgotten
  std::map<Place, wire::MessageId> places_;
  std::map<wire::MessageId, std::vector<Given>> places_of_;
  std::vector<PassedOver> passed_over_;
  Findings findings_;
  std::uint64_t gaps_ = 0;
  std::uint64_t deliveries_ = 0;
};

}  // namespace canopy::sim
