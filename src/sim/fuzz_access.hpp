// Access lists in a random schedule: some of its groups are closed, their lists
// change now and then while faults strike, and what must hold of them afterwards.
//
// Of a closed group anybody may manage; some nodes may join by their ids, some have a
// token, and some neither. So it is with publishing in a part of them, and there some
// nodes never have the right. Judged by the list that the root has in the end, since
// parts of a ring that were apart may have changed it both: whoever it does not name is
// no member, and whoever it names can be one; what it allows to publish comes to all,
// and what it does not, to nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "scribe/access_control.hpp"
#include "sim/checkers.hpp"
#include "sim/ring_order.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

class FuzzAccess {
 public:
  // What the judgement sends to one member: no other checker knows of it.
  static constexpr std::string_view anycast_text = "by right";
  using NameOf = std::function<wire::GroupName(std::uint32_t group)>;

  // A part of the groups of some schedules, chosen by the seed; the first `ordered`
  // of all are ordered.
  FuzzAccess(std::uint64_t seed, std::uint32_t groups, std::uint32_t ordered, NameOf name_of,
             Simulation& simulation);

  void create(NodeIndex founder);
  // When to change(), before `until`.
  std::vector<MonoTime> times(MonoTime from, MonoTime until);
  // Some list, by some node.
  void change(const std::vector<NodeIndex>& active);
  // What the node shows when it joins.
  scribe::TokenKey key_of(NodeIndex node) const;

  // Whether no list of the group ever lets this node publish.
  bool is_mute(const Id& group, const Id& node) const;
  // By the root's list.
  bool may_publish(const RingOrder& ring, std::uint32_t group, NodeIndex node) const;
  // To a member.
  void delivered(const wire::MessageId& id) { ++deliveries_[id]; }

  // Of a ring at rest. May let time pass. A list may be gone if all who kept it went
  // at the same moment (`may_be_gone`).
  Findings judge(const RingOrder& ring, bool may_be_gone);

 private:
  Id id_of(std::uint32_t group) const;
  wire::AccessRef some_list(std::uint32_t group);
  wire::Grant some_nodes();
  bool is_mute(std::uint32_t group, NodeIndex node) const;
  bool grants(const wire::AccessRef& list, wire::Right right, NodeIndex node) const;
  wire::AccessRef list_at_root(const RingOrder& ring, std::uint32_t group) const;
  bool is_member(NodeIndex node, std::uint32_t group) const;
  Findings judge_joins(const RingOrder& ring, std::uint32_t group, const wire::AccessRef& list);
  Findings judge_publishing(const RingOrder& ring, std::uint32_t group,
                            const wire::AccessRef& list);
  Findings judge_anycasts(const RingOrder& ring, std::uint32_t group, const wire::AccessRef& list);

  Random random_;
  NameOf name_of_;
  Simulation& simulation_;
  std::uint32_t ordered_;
  std::set<std::uint32_t> closed_;
  std::set<std::uint32_t> muted_;  // of these: where not everybody may publish
  std::map<wire::MessageId, std::size_t> deliveries_;
  scribe::TokenKey token_;
};

}  // namespace canopy::sim
