// Scribe on one node: groups as multicast trees grown from the routes of JOINs.
//
// Castro, Druschel, Kermarrec, Rowstron (JSAC 2002), with heartbeats per
// neighbour, root state replicated on the k closest peers, and joins that
// complete only when the member is in the tree. Modes best-effort and ordered.
// Sans-I/O; driven through pastry's upcalls, receive and tick. Not thread-safe.
// Completions are called on the overlay's thread, never from within the call
// that started the operation, exactly once; errors are canopy::errc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/system/error_code.hpp>

#include "pastry/application.hpp"
#include "pastry/pastry.hpp"
#include "scribe/access_control.hpp"
#include "scribe/config.hpp"
#include "scribe/counters.hpp"
#include "scribe/events.hpp"
#include "scribe/group_name.hpp"
#include "scribe/operations.hpp"
#include "scribe/order_history.hpp"
#include "wire/env.hpp"

namespace canopy::scribe {

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
  bool ordered = false;
  wire::Position position;  // ordered: up to here this node has everything
  wire::AccessRef access;   // as far as this node knows; null: everybody may everything
  MemberCount below;        // members in its subtree, itself included
  wire::Position last;      // the stamp of the latest message that is here; none if there is none
};

class Scribe final : public pastry::Application {
 public:
  // Config, Pastry, Env and Events must outlive it.
  Scribe(const Config& config, pastry::Pastry& pastry, wire::Env& env, Events& events);
  ~Scribe();
  Scribe(const Scribe&) = delete;
  Scribe& operator=(const Scribe&) = delete;

  void create(const wire::GroupName& name, wire::GroupMode mode, Completion done);
  // With an access list (null: everybody may everything). Keys are those of tokens,
  // here and below: shown where a list asks for one.
  void create(const wire::GroupName& name, wire::GroupMode mode, wire::AccessRef access,
              const TokenKey& key, CreateCompletion done);
  // Done when this node is in the tree: a publish made from then on reaches it.
  void join(const wire::GroupName& name, Completion done, const TokenKey& key = nullptr);
  void leave(const Id& group);
  // ack none: done when the message has left this node. ack root: when the
  // root has sent it to its children. ack members: when all have answered, or
  // the terms' time is over.
  void publish(const wire::GroupName& name, wire::AckMode ack, Buffer body, PublishCompletion done,
               const PublishTerms& terms = {});
  // A publish of this chain has failed before it came here.
  void break_chain(std::uint64_t chain);
  // The message's id; zero if it cannot be sent, which `done` is told.
  wire::MessageId anycast(const wire::GroupName& name, Buffer body, AnycastCompletion done,
                          const AnycastTerms& terms = {});
  // Asks members for replies. The request's id; zero if it cannot be sent, which
  // `done` is told.
  wire::MessageId request(const wire::GroupName& name, Buffer body, const RequestTerms& terms,
                          RequestCompletion done);
  // Nobody waits for replies any more; its completion is not called.
  void cancel_request(const wire::MessageId& id);
  // What the root knows of the group, and changes of it for those who may: see
  // administration.hpp.
  void look(const wire::GroupName& name, StateCompletion done);
  void set_access(const wire::GroupName& name, std::uint64_t expected, wire::AccessRef rights,
                  const TokenKey& key, StateCompletion done);
  void remove(const wire::GroupName& name, const TokenKey& key, StateCompletion done);
  // How many members the group has, as its root knows.
  void members(const wire::GroupName& name, MemberCountCompletion done,
               const TokenKey& key = nullptr);
  // Of a group that this node is a member of: whether Events::presence is to tell of
  // its members. Ends with the membership.
  void watch(const Id& group, bool wanted);
  // What watchers were told last; nothing before the first time.
  std::optional<Presence> presence(const Id& group) const;
  // The group's latest message, for a member of it. Done within Config::last_timeout.
  void last(const Id& group, LastCompletion done);

  // --- Requests that this node's members have ---
  // Of a multicast that has an asker, from within Events::multicast or after it.
  void expect_replies(const wire::Multicast& request, std::size_t replies);
  // One of them; or that there will be one less. See replier.hpp for errors.
  void reply(const wire::MessageId& request, std::uint32_t status, Buffer body, Completion done);
  void decline(const wire::MessageId& request);

  // One node's place in the tree: of the root (peer empty) or of this peer. `key` as for
  // members().
  void tree(const Id& group, PeerRef peer, const TokenKey& key, TreeCompletion done);
  // Hands root states over and tells children to look for another parent, but
  // serves them until they have moved: departed() turns true then, or after
  // Config::departure_timeout. Pastry's goodbye comes after that.
  void depart();
  bool departed() const;

  // --- Config::keeps_states ---
  // What the disk had at the start, before the ring is joined.
  void restore(const wire::GroupState& state);
  // The disk tells of an earlier life of this node in the ring. Before the ring is
  // joined: groups that nobody has created are not on disks, and may have members whom
  // the root and all that stood in for it, lost at once, have forgotten.
  void returned();
  // This is on the disk now.
  void written(const Id& group, std::uint64_t epoch, std::uint64_t version);

  void receive(PeerRef from, wire::Message message) override;
  void tick();
  // The transport cannot reach the peer.
  void unreachable(PeerRef peer);
  // Runs completions and events that have come due. receive and tick do so at
  // their end; who calls Pastry directly does it after that.
  void flush();

  // --- For the runner of worked examples (maintenance off), who tells about a
  // failure in an order of his own: peer_failed does nothing then. ---
  // If the peer was the parent in this group, sends a JOIN now.
  void parent_failed(PeerRef peer, const Id& group);
  // Strikes the peer from all children tables; leaves trees that it alone kept
  // this node in.
  void child_failed(PeerRef peer);

  std::vector<Id> groups() const;  // all whose tree this node is in, in id order
  std::optional<GroupView> view(const Id& group) const;
  // What is kept of an ordered group, for members that are not as far yet; null
  // if the group is not ordered. Not longer than until the next call.
  const OrderHistory* history(const Id& group) const;
  // Whether an edge of any tree runs between the peer and this node.
  bool is_tree_neighbor(PeerRef peer) const;
  const Counters& counters() const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

  // pastry::Application
  pastry::ForwardAction forward(PeerRef from, wire::Routed& message, PeerRef& next_hop) override;
  void deliver(PeerRef from, const wire::Routed& message) override;
  void leaf_set_changed() override;
  void leaf_failed(PeerRef peer) override;
  void peer_failed(PeerRef peer) override;
  void measured(PeerRef peer, Duration round_trip) override;
  void activated() override;
  void stalled() override;
  void join_stalled(std::string_view reason) override;
  void superseded(PeerRef by) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace canopy::scribe
