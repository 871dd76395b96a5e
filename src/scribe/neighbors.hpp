// The peers that this node shares tree edges with: heartbeats per neighbour,
// however many groups run over the edge.
//
// A parent lets a child hear from it every heartbeat_interval; a child reports
// to its parent every child_refresh_interval. Both say which groups they share,
// and by which paths from the root, by an EdgeSet per direction, so that a
// difference between the two ends is noticed. Multicasts do a heartbeat's work, except that every
// few seconds one is sent nevertheless, for its sets. About a hundred bytes a neighbour. No I/O:
// says what is due, and to whom. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "scribe/config.hpp"
#include "scribe/edge_set.hpp"
#include "scribe/traffic_watch.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

enum class Side : std::uint8_t {
  parent_of,  // this node is the neighbour's parent
  child_of,   // the neighbour is this node's parent
};

class Neighbors {
 public:
  explicit Neighbors(const Config& config) : config_(config) {}

  void add(PeerRef peer, Side side, const Edge& edge, MonoTime now);
  void remove(PeerRef peer, Side side, const Edge& edge);
  // The same group's edge, by another path from the root.
  void change(PeerRef peer, Side side, const Edge& before, const Edge& after);

  // A word of members goes to the neighbour, the parent: what it says next may be older.
  void word_sent_to(PeerRef peer) noexcept;

  // Tree traffic went to the neighbour, or came from it as a parent.
  void sent_to(PeerRef peer, MonoTime now) noexcept;
  void heard_from_parent(PeerRef peer, MonoTime now) noexcept;

  // The sides on which the sender's view has differed from this node's twice in
  // a row, which is longer than a message under way can explain.
  struct Mismatch {
    bool parent_of = false;
    bool child_of = false;
    bool words = false;  // what the sender, as the parent, was told and has shown of members
  };
  Mismatch on_heartbeat(PeerRef from, const wire::TreeHeartbeat& heartbeat, MonoTime now);

  wire::TreeHeartbeat heartbeat_for(PeerRef peer) const noexcept;

  struct Due {
    std::vector<PeerRef> heartbeats;        // to send
    std::vector<PeerRef> quiet_parents;     // sent all the time until now: to be asked
    std::vector<PeerRef> mute_parents;      // have not spoken since they were
    std::vector<PeerRef> doubtful_parents;  // one more missed heartbeat and they are lost
    std::vector<PeerRef> silent_parents;    // lost; told once until heard again
    std::vector<PeerRef> silent_children;   // expired
    std::uint64_t suppressed = 0;           // heartbeats that multicasts stood in for
  };
  // A process that was stopped finds everybody silent: it listens anew first.
  Due take_due(MonoTime now);
  MonoTime next_deadline() const noexcept { return next_deadline_; }

  std::size_t size() const noexcept { return table_.size(); }
  // Edges from it as a parent, over all groups.
  std::size_t edges_from(PeerRef parent) const noexcept;
  // Edges to children, over all groups.
  std::size_t children_entries() const noexcept { return children_entries_; }
  // And of one peer.
  std::size_t children_entries_of(PeerRef peer) const noexcept {
    const Neighbor* neighbor = find(peer);
    return neighbor ? neighbor->parent_of.count : 0;
  }
  bool contains(PeerRef peer) const noexcept { return find(peer) != nullptr; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Neighbor {
    PeerRef peer;
    std::uint8_t parent_of_mismatches = 0;
    std::uint8_t child_of_mismatches = 0;
    std::uint8_t words_mismatches = 0;
    bool doubted : 1 = false;     // as a parent, since it was heard last
    bool words_sent : 1 = false;  // to it, since its latest heartbeat
    EdgeSet parent_of;
    EdgeSet child_of;
    MonoTime sent{};          // the latest sign of life to it
    MonoTime told{};          // the latest heartbeat to it
    MonoTime heard_parent{};  // from it as a parent
    MonoTime heard_child{};   // from it as a child
    TrafficWatch traffic;     // from it as a parent
  };

  static bool words_lost(Neighbor& neighbor, const EdgeSet& theirs) noexcept;
  void heard(Neighbor& neighbor, MonoTime now) const noexcept;
  void watch_traffic(Neighbor& neighbor, MonoTime now, Due& due) const;
  static EdgeSet& edges(Neighbor& neighbor, Side side) noexcept;
  void start_over(MonoTime now) noexcept;
  Neighbor* find(PeerRef peer) noexcept;
  const Neighbor* find(PeerRef peer) const noexcept;
  MonoTime heartbeat_due(const Neighbor& neighbor) const noexcept;
  // When a parent that stays silent has missed that many heartbeats.
  MonoTime parent_missed_at(const Neighbor& neighbor, unsigned heartbeats) const noexcept;
  MonoTime parent_doubtful_at(const Neighbor& neighbor) const noexcept;
  MonoTime parent_silent_at(const Neighbor& neighbor) const noexcept;
  MonoTime parent_quiet_at(const Neighbor& neighbor) const noexcept;
  MonoTime child_silent_at(const Neighbor& neighbor) const noexcept;
  MonoTime deadline_of(const Neighbor& neighbor) const noexcept;

  const Config& config_;
  std::vector<Neighbor> table_;  // by PeerRef
  std::size_t children_entries_ = 0;
  // At the latest, but for the first pause of a parent that has been sending for less
  // than a heartbeat interval; may be earlier than need be.
  MonoTime next_deadline_ = never;
};

}  // namespace canopy::scribe
