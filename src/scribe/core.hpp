// What the parts of a Scribe node share: the world outside, the groups that
// this node is in the tree of, its tree neighbours, counters. Each part keeps
// the rest of its state to itself.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pastry/pastry.hpp"
#include "scribe/access_control.hpp"
#include "scribe/config.hpp"
#include "scribe/counters.hpp"
#include "scribe/events.hpp"
#include "scribe/group.hpp"
#include "scribe/last_store.hpp"
#include "scribe/neighbors.hpp"
#include "scribe/time_left.hpp"
#include "scribe/upcalls.hpp"
#include "wire/env.hpp"

namespace canopy::scribe {

class MemberCounts;

struct Core {
  Core(const Config& configuration, pastry::Pastry& pastry_below, wire::Env& environment,
       Events& users)
      : config(configuration),
        pastry(pastry_below),
        env(environment),
        events(users),
        self(pastry_below.self()),
        order_room{HistoryRoom(configuration.history_node_bytes_max),
                   Quota(configuration.held_items_max, configuration.held_items_bytes_max)},
        neighbors(configuration),
        access(configuration, environment, pastry_below.self()) {}

  const Config& config;
  pastry::Pastry& pastry;
  wire::Env& env;
  Events& events;
  const PeerRef self;

  Counters counters;
  Upcalls upcalls;
  OrderStream::Room order_room;
  std::map<Id, Group> groups;
  Neighbors neighbors;
  AccessControl access;
  std::uint32_t last_nonce = 0;  // of JOINs; 0 is never drawn
  MonoTime stale_until{};        // what arrives may be from before this process was stopped
  Duration stale_by{};           // and so much older than it would be, at the most
  MonoTime active_at{};          // when this node did something last
  MonoTime next_wake = never;
  bool departing = false;
  bool overload_stays = false;  // this node has tried to get rid of children, in vain
  // Groups in which this node has got a child, a parent or a role, or lost it,
  // since PathCollapse looked last.
  std::vector<Id> changed_places;

  struct MemberNews {
    Id group;
    PeerRef left;
  };
  std::unique_ptr<std::vector<MemberNews>> member_news;  // since MemberCounts looked last
  MemberCounts* counts = nullptr;                        // told before a tree is left
  LastStore last;

  std::uint64_t last_sequence = 0;  // of messages that this node has named

  MonoTime now() const { return env.now(); }
  wire::MessageId next_message_id() {
    const PeerDescriptor& descriptor = env.peers()[self];
    return {descriptor.id, descriptor.incarnation, ++last_sequence};
  }
  std::uint32_t next_nonce() noexcept {
    if (++last_nonce == 0) ++last_nonce;
    return last_nonce;
  }

  Group* find(const Id& id) {
    const auto found = groups.find(id);
    return found == groups.end() ? nullptr : &found->second;
  }
  const Group* find(const Id& id) const {
    const auto found = groups.find(id);
    return found == groups.end() ? nullptr : &found->second;
  }

  // The members in this node's subtree may be others now. `left`: a child that has.
  void members_changed(const Id& id, PeerRef left = {}) {
    if (!config.maintenance) return;
    if (!member_news) member_news = std::make_unique<std::vector<MemberNews>>();
    member_news->push_back({id, left});
  }

  // What has changed in a tree is known all the way up after so long: word of it takes
  // a moment for each level, and a lost one is told again after two heartbeats.
  Duration settling_time() const { return 4 * config.heartbeat_interval; }
  // For so long members of the subtree may be counted elsewhere, too, or nowhere.
  void unsettle(Group& group, const Id& id, Duration span) {
    group.unsettled_until = std::max(group.unsettled_until, now() + span);
    members_changed(id);
  }
  void unsettle(Group& group, const Id& id) { unsettle(group, id, settling_time()); }

  // A message of the group has come through the tree, or begins here.
  void passed(const wire::Multicast& message) {
    last.passed(message, config, now(), counters);
    if (config.maintenance && last.settle_at() != never) wake_at(last.settle_at());
  }

  void place_changed(const Id& id) {
    if (config.path_collapse && config.maintenance) changed_places.push_back(id);
  }

  void add_edge(PeerRef peer, Side side, const Edge& edge) {
    neighbors.add(peer, side, edge, now());
    if (config.maintenance) wake_at(neighbors.next_deadline());
  }

  void send(PeerRef to, wire::Message message) { pastry.send(to, std::move(message)); }

  // Unknown, it is measured for whoever asks next.
  std::optional<Duration> round_trip_to(PeerRef peer) {
    const auto known = pastry.round_trip(peer);
    if (!known && config.maintenance) pastry.measure(peer);
    return known;
  }

  // This process was stopped, since it did something last.
  void stalled() {
    const Duration asleep = now() - active_at;
    stale_by = now() < stale_until ? std::max(stale_by, asleep) : asleep;
    stale_until = now() + pastry.config().probe_timeout;
    // Children may have moved, and a parent may have given this node up.
    for (auto& [id, group] : groups) unsettle(group, id);
  }
  // Notices by itself, too: what Pastry has to do next may be long after that.
  void look_at_clock() {
    if (next_wake == never || now() <= next_wake + pastry.config().probe_timeout) return;
    next_wake = never;
    stalled();
  }
  // Of a time that was left when a message was sent that has come now, or came then.
  std::uint32_t left_of(std::uint32_t within_ms) { return left_of(within_ms, now()); }
  std::uint32_t left_of(std::uint32_t within_ms, MonoTime came) {
    look_at_clock();
    if (within_ms == 0 || came >= stale_until) return within_ms;
    return left_after(within_ms, stale_by);
  }

  // Asks to be woken for a deadline that has come up between two ticks.
  void wake_at(MonoTime deadline) {
    if (deadline == never) return;
    next_wake = std::min(next_wake, deadline);
    env.wake_at(deadline);
  }
};

}  // namespace canopy::scribe
