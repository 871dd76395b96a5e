#include "node/control_values.hpp"

#include <algorithm>
#include <memory>

#include <canopy/error.hpp>

#include "node/access_text.hpp"
#include "node/values.hpp"

namespace canopy::node {

namespace control = wire::control;

namespace {

control::Peer to_answer(const PeerInfo& peer) {
  return {to_id(peer.id), peer.name, peer.addresses, peer.incarnation, peer.zone};
}

std::vector<control::Peer> to_answer(const std::vector<PeerInfo>& peers) {
  std::vector<control::Peer> out;
  out.reserve(peers.size());
  for (const PeerInfo& peer : peers) out.push_back(to_answer(peer));
  return out;
}

wire::GroupName to_answer(const GroupName& group) { return {group.name, group.creator}; }

wire::MessageId to_answer(const MessageId& id) {
  return {to_id(id.publisher), id.incarnation, id.sequence};
}

control::Group to_answer(const GroupInfo& group) {
  control::Group out;
  out.name = to_answer(group.name);
  out.id = to_id(group.id);
  out.member = group.member;
  out.root = group.root;
  out.attached = group.attached;
  if (group.parent) out.parent = to_answer(*group.parent);
  out.depth = static_cast<std::uint32_t>(group.root_path.size());
  out.children = group.children.size();
  out.subscriptions = group.subscriptions;
  out.mode = static_cast<wire::GroupMode>(group.mode);
  return out;
}

control::TreeNode to_answer(const TreeNode& node) {
  control::TreeNode out;
  out.peer = to_answer(node.peer);
  if (node.parent) out.parent = static_cast<std::uint32_t>(*node.parent);
  out.member = node.member;
  out.answered = node.answered;
  out.denied = node.denied;
  if (node.round_trip) out.round_trip_us = static_cast<std::uint32_t>(node.round_trip->count());
  return out;
}

control::Bridge to_answer(const BridgeInfo& bridge) {
  return {to_answer(bridge.group), bridge.queue,   bridge.queue_url,
          bridge.joined,           bridge.problem, bridge.counts};
}

Buffer to_buffer(const Payload& payload) {
  const std::string_view bytes = payload.view();
  return {std::shared_ptr<const char[]>(payload.owner(), bytes.data()), 0, bytes.size()};
}

// Cuts a list into pages; `page` makes the empty answer that `list_of` fills.
template <class Item, class Page, class ListOf>
std::vector<control::Answer> paged(const std::vector<Item>& items, const Page& page, ListOf list_of,
                                   std::size_t size = control::page_size) {
  std::vector<control::Answer> answers;
  std::size_t next = 0;
  do {
    Page part = page;
    const std::size_t end = std::min(items.size(), next + size);
    for (; next < end; ++next) list_of(part).push_back(to_answer(items[next]));
    answers.emplace_back(std::move(part));
  } while (next < items.size());
  return answers;
}

}  // namespace

control::Status to_answer(const NodeStatus& status) {
  control::Status out;
  out.self = to_answer(status.self);
  out.state = to_string(status.state);
  out.version = CANOPY_VERSION;
  out.cluster = status.cluster;
  out.cluster_uuid = status.cluster_uuid;
  out.founded = status.founded;
  out.digit_bits = status.digit_bits;
  out.leaf_set_size = status.leaf_set_size;
  out.uptime = status.uptime;
  // In a small ring a peer may stand on both sides.
  for (const PeerInfo& leaf : status.leaves) {
    control::Peer peer = to_answer(leaf);
    if (std::find(out.leaves.begin(), out.leaves.end(), peer) == out.leaves.end())
      out.leaves.push_back(std::move(peer));
  }
  out.table_entries = status.table_entries;
  out.neighbors = status.neighbors;
  out.links = status.links;
  out.groups = status.groups;
  out.subscriptions = status.subscriptions;
  for (const Counter& counter : status.counters)
    out.counters.push_back({counter.name, counter.value});
  return out;
}

control::Published to_answer(const PublishResult& result) {
  control::Published out;
  out.id = to_answer(result.id);
  if (result.root) out.root = to_answer(*result.root);
  out.epoch = result.epoch;
  out.position = result.position;
  out.members = result.members_reached;
  out.complete = result.complete;
  for (const UnreachableSubtree& subtree : result.unreachable)
    out.unreachable.push_back(to_answer(subtree.peer));
  out.unreachable_more = result.unreachable_more;
  return out;
}

control::Route to_answer(const Route& route, const PeerInfo& self) {
  return {to_id(route.key), to_answer(self), to_answer(route.hops)};
}

control::Message to_answer(const Message& message) {
  control::Message out;
  out.id = to_answer(message.id);
  out.epoch = message.epoch;
  out.position = message.position;
  out.anycast = message.anycast;
  out.last = message.last;
  out.content = {message.headers, to_buffer(message.payload)};
  if (message.request) out.reply_within = message.request->within;
  return out;
}

control::Access to_answer(const GroupDefinition& group) {
  control::Access out;
  out.group = to_answer(group.name);
  out.group_id = to_id(group.id);
  out.mode = static_cast<wire::GroupMode>(group.mode);
  out.created = group.created;
  if (group.access) {
    out.access = {to_wire(group.access->publish), to_wire(group.access->join),
                  to_wire(group.access->manage)};
  }
  out.version = group.access_version;
  return out;
}

control::Presence to_answer(const Presence& presence) {
  const auto names = [](const std::vector<MemberName>& from) {
    std::vector<control::MemberName> to;
    for (const MemberName& one : from) to.push_back({to_id(one.id), one.name});
    return to;
  };
  return {presence.members,     presence.complete,    names(presence.joined),
          names(presence.left), presence.more_joined, presence.more_left};
}

control::Taken to_answer(const AnycastResult& result) {
  return {to_answer(result.id), to_answer(result.member)};
}

control::RequestEnded to_answer(const RequestEnded& ended) {
  const control::Failure failure = to_answer(ended.reason);
  return {to_answer(ended.id), failure.error, failure.text};
}

std::vector<control::Answer> to_answers(const RequestResult& result,
                                        const boost::system::error_code& error) {
  std::vector<control::Answer> answers;
  for (const Reply& reply : result.replies) {
    control::Replied part;
    part.id = to_answer(result.id);
    part.peer = to_answer(reply.peer);
    part.status = reply.status;
    part.content = {reply.headers, to_buffer(reply.payload)};
    answers.emplace_back(std::move(part));
  }
  control::Replied end;
  end.id = to_answer(result.id);
  end.members = result.members;
  end.complete = result.complete;
  end.declined = result.declined;
  end.dropped = result.dropped;
  if (error) {
    end.error = static_cast<std::uint16_t>(error.value());
    end.text = error.message();
  }
  answers.emplace_back(std::move(end));
  return answers;
}

control::Failure to_answer(const boost::system::error_code& error) {
  return {static_cast<std::uint16_t>(error.value()), error.message()};
}

std::vector<control::Answer> to_answers(const Ring& ring) {
  return paged(
      ring.peers, control::Ring{{}, ring.complete},
      [](control::Ring & part) -> auto& { return part.peers; });
}

std::vector<control::Answer> to_answers(const Tree& tree) {
  return paged(
      tree.nodes,
      control::Tree{to_answer(tree.group),
                    to_id(tree.group_id),
                    {},
                    tree.complete,
                    static_cast<wire::GroupMode>(tree.mode)},
      [](control::Tree & part) -> auto& { return part.nodes; });
}

std::vector<control::Answer> to_answers(const std::vector<GroupInfo>& groups) {
  return paged(
      groups, control::Groups{}, [](control::Groups & part) -> auto& { return part.groups; });
}

std::vector<control::Answer> to_answers(const std::vector<BridgeInfo>& bridges) {
  return paged(
      bridges, control::Bridges{}, [](control::Bridges & part) -> auto& { return part.bridges; },
      control::bridge_page_size);
}

}  // namespace canopy::node
