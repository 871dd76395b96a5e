// Messages from publishers to roots, and from roots down the trees.
//
// A publisher sends to the root that it has cached, or routes. One that asks
// for the root's ack sends again, by routing and under the same id, until the
// ack comes or time is up; the root recognises what it has had. Without an ack,
// the cached root's word is asked for about once a heartbeat_interval, and what
// was sent since is sent again if it does not come: so a dead or hung root costs
// a publisher no more than that.
//
// One that asks for the members' acks is told first that the root has it, and
// then what came of that (tracking.hpp). Between the two the publisher sends it
// again from time to time: a root that has taken over has to be told.
//
// In an ordered group, what one node publishes is ordered as it was published,
// except that a message whose publish has failed may come later, or never. Each
// says which one before it is still without the root's word (`after`), and the
// root keeps it for a while if it does not have that one.
//
// What is too much for the root (publish_rate.hpp) waits at its publisher, and what
// is published to the group meanwhile waits behind it (publish_lines.hpp). If one does
// not get its turn within the time of a publish, those behind it fail with it; from its
// turn on it has that time once more. Those that are nothing without the one before them
// form a chain (publish_chains.hpp).
//
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <algorithm>
#include <vector>

#include <canopy/error.hpp>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"
#include "scribe/publish_chains.hpp"
#include "scribe/publish_lines.hpp"
#include "scribe/publish_table.hpp"
#include "scribe/root_cache.hpp"
#include "wire/message.hpp"

namespace canopy::scribe {

class Ordering;
class Roots;
class TrackedRound;
class Tracking;
class Tree;

class Dissemination {
 public:
  Dissemination(Core& core, Roots& roots, Tree& tree, Ordering& ordering, Tracking& tracking);

  // The message's id; zero if it cannot be sent, which `done` is told. The proof of a
  // token goes with each message, as whoever is the root has to know it. With a time
  // until which it waits for replies, it asks for them.
  wire::MessageId publish(const wire::GroupName& name, wire::AckMode ack, Buffer body,
                          PublishCompletion done, const PublishTerms& terms);
  void break_chain(std::uint64_t chain) { chains_.break_at(chain); }
  // What forbids to publish this now; errc{} if nothing does.
  errc refusal(const wire::GroupName& name, wire::AckMode ack, const Buffer& body) const;

  // --- At the root ---
  enum class Way { routed, direct };
  // This node serves the group.
  void serve(const wire::Publish& publish, Way way);
  // Ordered: it has its position, if that is known.
  void placed(const wire::Publish& publish, const wire::Position& position);
  // A tracked one's round is over.
  void report(const TrackedRound& round);
  // This node is the group's root, and nobody knows the group.
  void refuse_unknown(const wire::Publish& publish);
  // A publisher took this node for the root.
  void on_direct_publish(PeerRef from, const wire::Publish& publish);

  // --- At tree nodes ---
  void on_multicast(PeerRef from, const wire::Multicast& message);

  // --- At the publisher ---
  void on_publish_ack(PeerRef from, const wire::PublishAck& ack);
  void on_root_address(const wire::RootAddress& address);
  void peer_failed(PeerRef peer);
  // Routes what would go, or went, straight to this peer.
  void avoid(PeerRef peer);
  void shut_down();
  void tick();
  MonoTime next_deadline() const { return std::min(pending_.next_deadline(), loss_timers_.next()); }

  bool acceptable(const Buffer& body) const { return body.size() <= core_.config.body_max; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  bool may_publish(const wire::Publish& publish, Way way);
  void serve_allowed(const wire::Publish& publish, Way way);
  bool back_off(PendingPublish& pending, const wire::PublishAck& ack);
  void leave_line(const Id& group, std::uint64_t sequence);
  void refuse_behind(const Id& group, std::uint64_t sequence, const wire::PublishAck& ack);
  void fail_behind(const PendingPublish& failed, std::uint64_t sequence, errc error);
  bool is_over(const PendingPublish& pending, std::uint64_t sequence) const;
  void review(std::uint64_t sequence);
  void give_up(const PendingPublish& pending, std::uint64_t sequence);
  std::optional<PendingPublish> conclude(std::uint64_t sequence, const wire::PublishAck& ack);
  bool doubtful(const Id& group, const CachedRoot* cached, std::uint64_t after) const;
  bool is_closest(PeerRef peer, const Id& group) const;
  void send(const wire::Publish& publish, PeerRef root);
  void send_again(std::uint64_t sequence);
  void finish(std::uint64_t sequence, const wire::PublishAck& ack);
  void tell(PendingPublish& pending, const wire::PublishAck& ack);
  void take_answer(const wire::PublishAck& ack);
  void mark_overtaken(std::uint64_t sequence);
  void wait_on(PendingPublish& pending, const wire::PublishAck& ack);
  void answer(PeerRef origin, const wire::PublishAck& ack);
  std::uint32_t time_left(const PendingPublish& pending) const;
  void acknowledge(const wire::Publish& publish, boost::system::error_code error, Way way,
                   const wire::Position& position = {}, Duration retry_after = Duration::zero());
  void spread(const wire::Multicast& message, Group& group, PeerRef except, bool fresh);
  std::size_t window_of(const Group& group) const;
  void note(Group& group, const Id& id, std::uint64_t number);
  void tell_losses(Group& group, const Id& id);
  Duration loss_patience() const { return 2 * core_.config.heartbeat_interval; }

  Core& core_;
  Roots& roots_;
  Tree& tree_;
  Ordering& ordering_;
  Tracking& tracking_;
  PublishTable pending_;
  PublishLines lines_;  // of those, what a root is to have later
  PublishChains chains_;
  RootCache roots_known_;
  DeadlineSet<Id> loss_timers_;
};

}  // namespace canopy::scribe
