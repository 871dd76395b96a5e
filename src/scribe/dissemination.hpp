// Messages from publishers to roots, and from roots down the trees.
//
// A publisher sends to the root that it has cached, or routes. One that asks
// for the root's ack sends again, by routing and under the same id, until the
// ack comes or time is up; the root recognises what it has had. Without an ack,
// the cached root's word is asked for about once a heartbeat_interval, and what
// was sent since is sent again if it does not come: so a dead or hung root costs
// a publisher no more than that.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <vector>

#include "scribe/core.hpp"
#include "scribe/operations.hpp"
#include "scribe/publish_table.hpp"
#include "scribe/root_cache.hpp"
#include "wire/message.hpp"

namespace canopy::scribe {

class Roots;
class Tree;

class Dissemination {
 public:
  Dissemination(Core& core, Roots& roots, Tree& tree);

  void publish(const wire::GroupName& name, wire::AckMode ack, Buffer body, PublishCompletion done);

  // --- At the root ---
  enum class Way { routed, direct };
  // This node serves the group.
  void serve(const wire::Publish& publish, Way way);
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
  MonoTime next_deadline() const { return pending_.next_deadline(); }

  bool acceptable(const Buffer& body) const { return body.size() <= core_.config.body_max; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  void send(const wire::Publish& publish, PeerRef root);
  void send_again(std::uint64_t sequence);
  void finish(std::uint64_t sequence, const wire::PublishAck& ack);
  void acknowledge(const wire::Publish& publish, boost::system::error_code error, Way way);
  void spread(const wire::Multicast& message, const Group& group, PeerRef except);
  std::size_t window_of(const Group& group) const;

  Core& core_;
  Roots& roots_;
  Tree& tree_;
  PublishTable pending_;
  RootCache roots_known_;
};

}  // namespace canopy::scribe
