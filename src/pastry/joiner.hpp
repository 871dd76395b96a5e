// The way of a new node into the ring.
//
// 1. Nearest contact: ask the contact for its leaf set and measure it, then the
//    rows of the nearest peer found so far, deepest first, then the nearest
//    one's neighbourhood (Castro, Druschel, Hu, Rowstron, "Exploiting network
//    proximity", 2002). Probes of one step leave together, so the first answer
//    is the nearest peer of the step and nobody waits for the rest. What this
//    search misses, the Newcomer finds.
// 2. A JOIN routed to the node's own id through that peer, repeated with
//    backoff and jitter under a new nonce until a JoinReply comes.
// 3. Probes of all leaves named by the reply: the owner does that, and tells
//    fail() if nobody of them lives.
// Contacts that are silent, unreachable or not members yet are passed over; so is the nearest
// peer if it puts the JOIN off again and again, as it may have started anew itself.
// A part of a node; lives until the node is active.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pastry/node_state.hpp"

namespace canopy::pastry {

class Joiner {
 public:
  enum class Step : std::uint8_t {
    resting,     // until the deadline, then the next attempt
    asking,      // a StateRequest is out
    measuring,   // probes of candidates are out
    requesting,  // the JOIN is out
    probing,     // the JoinReply is here, the owner probes the leaves
  };

  struct Measured {
    PeerRef peer;
    std::uint32_t distance_us = 0;
  };

  Joiner(NodeState& state, wire::Peers contacts);

  void start();
  void add_contact(PeerRef peer);

  // Each tells whether the message was an answer that the joiner waited for.
  bool on_state_reply(PeerRef from, const wire::StateReply& reply);
  bool on_probe_reply(PeerRef from, const wire::ProbeReply& reply);
  bool on_hop_ack(PeerRef from, std::uint32_t hop_id);
  bool on_deferred(PeerRef from, const wire::JoinDeferred& deferred);
  // True: the join is accepted and the owner is to probe the leaves.
  bool on_join_reply(PeerRef from, const wire::JoinReply& reply);

  // The transport cannot reach the peer.
  void unreachable(PeerRef peer);
  // The attempt has come to nothing; another one follows after a rest.
  void fail(std::string_view reason);

  void tick();
  MonoTime deadline() const noexcept { return deadline_; }

  Step step() const noexcept { return step_; }
  // Who helps, once the step is `probing`, and under which nonce.
  PeerRef helper() const noexcept { return helper_; }
  std::uint32_t helper_nonce() const noexcept { return helper_nonce_; }
  // How far the peer is that the JOIN went through.
  std::uint32_t near_distance_us() const noexcept { return near_distance_us_; }
  // Peers worth measuring once active, and those measured on the way.
  const wire::Peers& candidates() const noexcept { return candidates_; }
  const std::vector<Measured>& measured() const noexcept { return measured_; }
  // Why no attempt succeeds; nothing if that was told already.
  std::optional<std::string_view> take_stall() noexcept;

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  // What the search for the nearest contact asks for next.
  enum class Stage : std::uint8_t { leaf_set, rows, neighborhood, done };

  struct OpenProbe {
    PeerRef peer;
    std::uint32_t nonce = 0;
    MonoTime sent;
  };

  void begin_attempt();
  void ask();
  void measure(const wire::Peers& peers);
  void search_on();
  void request();
  void send_request();
  void rest(Duration span, Step then);
  void pass_over_contact(std::string_view reason);
  void stalled(std::string_view reason);
  bool known(PeerRef peer) const;
  void note(PeerRef peer, Duration round_trip);

  NodeState& state_;
  wire::Peers contacts_;
  std::size_t next_contact_ = 0;
  std::size_t contacts_failed_ = 0;  // in a row
  unsigned failures_ = 0;            // attempts in a row that ended in a rest

  Step step_ = Step::resting;
  Step after_rest_ = Step::asking;
  MonoTime deadline_ = never;
  unsigned tries_ = 0;                     // of the message that is out
  std::optional<std::string_view> stall_;  // to be told
  std::string_view told_;                  // the latest reason

  Stage stage_ = Stage::leaf_set;
  std::uint8_t row_ = 0;
  PeerRef near_;
  std::uint32_t near_distance_us_ = unknown_distance;
  std::uint32_t ask_nonce_ = 0;
  MonoTime asked_at_;
  std::vector<OpenProbe> probes_;
  std::vector<Measured> measured_;

  std::vector<std::uint32_t> request_nonces_;  // of this attempt, the last one current
  bool acked_ = false;
  unsigned deferrals_ = 0;  // of the JOIN, in this attempt
  PeerRef helper_;
  std::uint32_t helper_nonce_ = 0;
  wire::Peers candidates_;
};

}  // namespace canopy::pastry
