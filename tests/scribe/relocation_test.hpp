// A small network in which parents send children to other parents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {

class RelocationTest : public TreeTest {
 protected:
  template <class Type>
  struct Sent {
    PeerRef from;
    PeerRef to;
    Type message;
  };

  RelocationTest() {
    net.config.scribe.path_collapse = false;
    net.config.scribe.children_entries_max = 0;
    net.lost = [this](PeerRef from, PeerRef to, const wire::Message& message) {
      if (const auto* move = std::get_if<wire::Relocation>(&message)) {
        told.push_back({from, to, *move});
      } else if (const auto* join = std::get_if<wire::GroupJoin>(&message)) {
        asked.push_back({from, to, *join});
      }
      return loses && loses(from, to, message);
    };
  }

  // Every third peer stays outside.
  void join_many(std::size_t count) {
    net.build(count);
    for (Box* box : net.live()) refs.push_back(box->ref);
    for (std::size_t i = 0; i < refs.size(); ++i) {
      if (i % 3 == 0) continue;
      ASSERT_FALSE(net.join(refs[i], prices));
    }
  }

  GroupView view(PeerRef ref) { return net[ref].scribe().view(group).value_or(GroupView{}); }
  bool has_child(PeerRef parent, PeerRef child) {
    return std::ranges::count(view(parent).children, child) > 0;
  }
  std::size_t entries(PeerRef ref) {
    std::size_t sum = 0;
    for (const Id& id : net[ref].scribe().groups()) {
      sum += net[ref].scribe().view(id)->children.size();
    }
    return sum;
  }
  std::size_t most_entries() {
    std::size_t most = 0;
    for (Box* box : net.live()) most = std::max(most, entries(box->ref));
    return most;
  }
  std::size_t depth_of_tree() {
    std::size_t most = 0;
    for (const PeerRef ref : net.members(group)) most = std::max(most, view(ref).root_path.size());
    return most;
  }
  std::uint64_t counted(std::uint64_t Counters::*counter) {
    std::uint64_t sum = 0;
    for (Box* box : net.live()) sum += box->scribe().counters().*counter;
    return sum;
  }
  // A parent that asks its child to move below these, whatever its own load is.
  void tell(PeerRef parent, PeerRef child, const wire::Peers& candidates,
            std::uint32_t most = UINT32_MAX) {
    const std::vector<std::uint32_t> round_trips(candidates.size(), 1);
    net[child].peer->receive(parent, wire::Relocation{group, most, candidates, round_trips});
  }
  // A member with at least so many siblings.
  PeerRef child_with_siblings(std::size_t siblings) {
    for (const PeerRef ref : refs) {
      for (const PeerRef child : view(ref).children) {
        if (view(ref).children.size() > siblings && view(child).member) return child;
      }
    }
    ADD_FAILURE() << "no such child";
    return {};
  }
  PeerRef sibling_of(PeerRef child) {
    for (const PeerRef ref : view(view(child).parent).children) {
      if (ref != child) return ref;
    }
    ADD_FAILURE() << "no sibling";
    return {};
  }
  void expect_nothing_lost_or_twice(const std::vector<PeerRef>& members, int from = 0) {
    net.run_for(200ms);
    expect_no_duplicates();
    for (const PeerRef member : members) expect_everything_at(member, from, published);
  }

  std::vector<Sent<wire::Relocation>> told;
  std::vector<Sent<wire::GroupJoin>> asked;  // direct JOINs
  std::function<bool(PeerRef from, PeerRef to, const wire::Message&)> loses;
};

}  // namespace canopy::scribe::test
