// A random schedule of everything that may befall a small ring, as data.
//
// The seed decides all of it: the constants of the cluster, who joins when and
// through whom, which groups there are, and which fault strikes whom when.
// Some schedules have large groups, and nodes that may have few children each.
// Every schedule has at least 30 nodes, 10 virtual minutes and every kind of
// fault. They keep within what the protocol promises to survive without a trace: of
// neighbours on the ring, fewer than |L|/2 stop within the time that it takes to
// notice one, and cuts are shorter than it takes to give a peer up. Hard ones do not:
// their ring parts and has to meet again, roots are struck while much is published, and
// constants are cramped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/time.hpp"
#include "scribe/overlay_peer.hpp"
#include "sim/network.hpp"

namespace canopy::sim {

enum class ActKind : std::uint8_t {
  // What users do.
  start,        // a node starts and joins through another
  join_group,   //
  leave_group,  //
  publish,      //
  burst,        // `amount` messages at once, into an ordered group
  stream,       // messages one after the other, `amount` a second for `span`
  change_list,  // of some closed group, by whoever is there
  anycast,      // a message to one member
  ask_one,      // a request
  ask_all,      //
  // Faults of processes.
  crash,       //
  restart,     // of a crashed or departed one
  hang,        // for `span`
  depart,      //
  clock_jump,  // ahead by `span`
  clock_drift,
  // Faults of the network, for `span`.
  loss,
  duplication,
  reordering,
  delay_tail,
  clog,  // what `other` sends to `node`, or whoever if that is the same
  cut_both_ways,
  cut_one_way,
  // Of hard schedules only.
  cut_link,  // between two that are next to each other on the ring, one way or both
};
inline constexpr ActKind first_fault = ActKind::crash;
// Without those of hard schedules only.
inline constexpr std::size_t act_kinds = static_cast<std::size_t>(ActKind::cut_one_way) + 1;

struct Act {
  MonoTime at;
  ActKind kind = ActKind::start;
  std::uint32_t node = 0;   // whom it concerns, by order of starting
  std::uint32_t other = 0;  // contact, group or other end
  Duration span{};
  double amount = 0;  // probability, parts per million of drift, or messages
  // A crash, hang or departure may strike several at once: `node` and those next
  // to it on the ring, or as many of which no two are neighbours.
  std::uint32_t struck = 1;
  bool apart = false;
  bool at_root = false;  // strikes not `node`, but the root of the group `other`
};

// How long it takes, at the most, until everybody has noticed that a peer has
// stopped, and has mended its leaf set.
Duration notice_time(const pastry::Config& config);

struct FuzzPlan {
  // `may_be_hard`: about half of the seeds are.
  explicit FuzzPlan(std::uint64_t seed, bool may_be_hard = false);

  std::uint64_t seed = 0;
  scribe::OverlayConfig overlay;
  bool wan = false;
  std::uint32_t nodes = 0;
  std::uint32_t groups = 0;
  std::uint32_t ordered_groups = 0;  // the first ones of them
  bool requests = false;             // and anycasts
  bool hard = false;                 // more than is to be survived without a trace
  bool disks = false;                // what groups are outlives crashes
  std::vector<Act> acts;             // in the order of their times
  MonoTime calm;                     // growth is over: faults begin
  MonoTime healed;                   // all faults end
  MonoTime end;                      // everything must have come right by now
  Random random;                     // for what the run decides on the way

 private:
  Duration about(Duration span);  // within a factor of two of it
  MonoTime within(MonoTime from, MonoTime to);
  void choose_constants();
  void plan_growth();
  void plan_use(MonoTime from, MonoTime to, unsigned acts);
  void plan_bursts();
  void plan_requests();
  void plan_faults();
  void plan_fault(ActKind kind, MonoTime at);
  void choose_struck(Act& act);
  void plan_load();
  void plan_crowds();
  // Of hard schedules (fuzz_hardships.cpp).
  void plan_hardships();
  void cramp_constants();
  void plan_hardship(ActKind kind, MonoTime at, std::uint32_t group);
  void plan_stream(MonoTime at, Duration span, std::uint32_t group);
  void plan_slow_links(MonoTime at, Duration span);
  void plan_crowd(MonoTime at, Duration span, std::uint32_t group);
  void plan_loss(MonoTime at, Duration span);
  void plan_changes(MonoTime at, Duration span);
  void plan_fickle_users();
  void plan_stand_in();
  void plan_cut_links();
  void plan_wipe_out();

  Random order_random_;     // of its own, too
  Random several_random_;   // of its own: the rest of the schedule stays as it is
  bool several_ = false;    // some acts strike several nodes
  bool restarts_ = false;   // there was a crash
  Random load_random_;      // of its own, too
  Random request_random_;   // likewise
  Random disk_random_;      // likewise
  Random hard_random_;      // likewise
  Random stand_in_random_;  // likewise
  Random link_random_;      // likewise
};

}  // namespace canopy::sim
