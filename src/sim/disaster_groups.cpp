#include "sim/disaster_groups.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "scribe/group_name.hpp"

namespace canopy::sim {

DisasterGroups::DisasterGroups(Simulation& simulation, std::size_t groups, std::uint64_t seed)
    : simulation_(simulation), groups_(groups), random_(seed) {
  simulation_.observe(*this);
}

DisasterGroups::~DisasterGroups() { simulation_.stop_observing(*this); }

wire::GroupName DisasterGroups::name(std::size_t group) const {
  return {fmt::format("group-{}", group), "disaster"};
}

Id DisasterGroups::id(std::size_t group) const {
  return scribe::group_id(name(group), simulation_.overlay_config().pastry.id_bits);
}

OrderChecker::Member DisasterGroups::member(NodeIndex node) const {
  return {node, simulation_.peers()[simulation_.ref(node)].incarnation};
}

void DisasterGroups::create(NodeIndex creator) {
  const bool ordered = members_.size() % 2 == 1;
  auto& scribe = simulation_.peer(creator).scribe();
  scribe.create(name(members_.size()),
                ordered ? wire::GroupMode::ordered : wire::GroupMode::best_effort,
                [](boost::system::error_code) {});
  scribe.flush();
  members_.emplace_back();
}

void DisasterGroups::join(const std::vector<NodeIndex>& nodes) {
  const std::size_t group = members_.size() - 1;
  for (const NodeIndex node : nodes) {
    if (std::ranges::count(members_.back(), node) != 0) continue;
    members_.back().push_back(node);
    auto& scribe = simulation_.peer(node).scribe();
    scribe.join(name(group), [](boost::system::error_code) {});
    scribe.flush();
  }
}

// no_node if none runs.
NodeIndex DisasterGroups::some_member(std::size_t group) {
  std::vector<NodeIndex> running;
  for (const NodeIndex node : members_[group]) {
    if (simulation_.state(node) == NodeState::running) running.push_back(node);
  }
  return running.empty() ? no_node : running[random_.below(running.size())];
}

void DisasterGroups::publish(std::size_t messages) {
  for (; messages > 0 && !members_.empty(); --messages) {
    const std::size_t group = next_++ % members_.size();
    const NodeIndex node = some_member(group);
    if (node == no_node) continue;
    auto& scribe = simulation_.peer(node).scribe();
    scribe.publish(name(group), wire::AckMode::root, Buffer::copy_of("news"),
                   [this, group](const scribe::PublishOutcome& outcome) {
                     order_.published(id(group), outcome);
                   });
    scribe.flush();
  }
}

void DisasterGroups::publish_last() {
  for (std::size_t group = 0; group < members_.size(); ++group) {
    const NodeIndex node = some_member(group);
    if (node == no_node) continue;
    auto& scribe = simulation_.peer(node).scribe();
    scribe.publish(name(group), wire::AckMode::root, Buffer::copy_of("last"),
                   [this, group](const scribe::PublishOutcome& outcome) {
                     order_.published(id(group), outcome);
                     last_[outcome.id] = group;
                   });
    scribe.flush();
  }
}

DisasterGroups::Reach DisasterGroups::reach() const {
  Reach reach;
  for (const auto& members : members_) {
    reach.members += static_cast<std::size_t>(std::ranges::count_if(
        members, [this](NodeIndex m) { return simulation_.state(m) == NodeState::running; }));
  }
  for (const auto& [id, group] : last_) {
    const auto received = received_.find(id);
    if (received == received_.end()) continue;
    for (const auto& [node, times] : received->second) {
      if (std::ranges::count(members_[group], node) == 0) continue;
      ++reach.reached;
      if (times > 1) ++reach.twice;
    }
  }
  return reach;
}

bool DisasterGroups::all_reached(const RingOrder& ring) const {
  for (std::size_t group = 0; group < members_.size(); ++group) {
    if (!reached(ring, id(group), members_[group])) return false;
  }
  return true;
}

bool DisasterGroups::reached(const RingOrder& ring, const Id& group,
                             const std::vector<NodeIndex>& members) const {
  std::vector<bool> absent(simulation_.size(), true);
  for (const auto& member : ring.members()) absent[member.node] = false;
  std::vector<bool> seen = absent;
  std::vector<NodeIndex> places{ring.closest(group)};
  seen[places.front()] = true;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto view = simulation_.peer(places[i]).scribe().view(group);
    if (!view || view->root != (i == 0)) return false;
    for (const PeerRef child : view->children) {
      const NodeIndex node = simulation_.node_of(child);
      if (seen[node]) continue;
      seen[node] = true;
      places.push_back(node);
    }
  }
  for (const auto& member : ring.members()) {
    if (member.node == places.front()) continue;
    const auto view = simulation_.peer(member.node).scribe().view(group);
    if (view && view->root) return false;
  }
  return std::ranges::all_of(members,
                             [&](NodeIndex member) { return absent[member] || seen[member]; });
}

void DisasterGroups::said(NodeIndex, NodeIndex, const wire::Message& message) {
  if (const auto* multicast = std::get_if<wire::Multicast>(&message)) order_.seen(*multicast);
}

void DisasterGroups::multicast(NodeIndex node, const wire::Multicast& message) {
  order_.delivered(member(node), message);
  if (message.body.view() == "last") ++received_[message.id][node];
}

void DisasterGroups::gap(NodeIndex node, const Id& group, const scribe::Missed& missed) {
  order_.gap(member(node), group, missed);
}

}  // namespace canopy::sim
