// Scribe on one node: groups as multicast trees grown from the routes of JOINs.
//
// Castro, Druschel, Kermarrec, Rowstron (JSAC 2002), with heartbeats per
// neighbour, root state replicated on the k closest peers, and joins that
// complete only when the member is in the tree. Mode best-effort.
// Sans-I/O; driven through pastry's upcalls, receive and tick. Not thread-safe.
// Completions are called on the overlay's thread, never from within the call
// that started the operation, exactly once; errors are canopy::errc.
#pragma once

#include <boost/system/error_code.hpp>
#include <functional>
#include <vector>

#include "pastry/pastry.hpp"
#include "scribe/config.hpp"
#include "wire/env.hpp"

namespace canopy::scribe {

Id group_id(const wire::GroupName& name, unsigned id_bits);

// What the node's own members get.
class Events {
 public:
  // A multicast for a group that this node is a member of.
  virtual void multicast(const wire::Multicast& message) = 0;
  // An anycast reached this node, a member: whether it takes it.
  virtual bool anycast(const wire::Anycast& message) = 0;
  // The membership is over although nobody left (the root refuses the group).
  virtual void detached(const Id& group, boost::system::error_code reason) = 0;

 protected:
  ~Events() = default;
};

struct PublishOutcome {
  boost::system::error_code error;
  wire::MessageId id;  // zero if the message never left for want of room or size
  PeerRef root;  // empty if not known (ack none)
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
};

// This node's place in one group's tree.
struct GroupView {
  Id group;
  wire::GroupName name;
  bool member = false;
  bool root = false;
  bool attached = false;  // root, or acknowledged by a parent
  PeerRef parent;
  wire::Peers root_path;  // from the root down to the parent
  wire::Peers children;   // in the order of their adoption
};

class Scribe final : public pastry::Application {
 public:
  using Completion = std::function<void(boost::system::error_code)>;
  using PublishCompletion = std::function<void(const PublishOutcome&)>;
  using AnycastCompletion = std::function<void(boost::system::error_code, PeerRef member)>;
  using TreeCompletion = std::function<void(boost::system::error_code, const wire::TreeReply&)>;

  Scribe(const Config& config, pastry::Pastry& pastry, wire::Env& env, Events& events);

  void create(const wire::GroupName& name, Completion done);
  // Done when this node is in the tree: a publish made from then on reaches it.
  void join(const wire::GroupName& name, Completion done);
  void leave(const Id& group);
  // ack none: done when the message has left this node. ack root: when the
  // root has sent it to its children.
  void publish(const wire::GroupName& name, wire::AckMode ack, Buffer body, PublishCompletion done);
  void anycast(const wire::GroupName& name, Buffer body, AnycastCompletion done);
  // One node's place in the tree: of the root (peer empty) or of this peer.
  void tree(const Id& group, PeerRef peer, TreeCompletion done);
  // Leaves every tree and hands root states over, before Pastry departs.
  void depart();

  void receive(PeerRef from, wire::Message message);
  void tick();

  std::vector<Id> groups() const;  // all whose tree this node is in, in id order
  std::optional<GroupView> view(const Id& group) const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

  // pastry::Application
  pastry::ForwardAction forward(PeerRef from, wire::Routed& message, PeerRef& next_hop) override;
  void deliver(PeerRef from, const wire::Routed& message) override;
  void leaf_set_changed() override;
  void peer_failed(PeerRef peer) override;
  void activated() override;
  void join_stalled(std::string_view reason) override;
};

}  // namespace canopy::scribe
