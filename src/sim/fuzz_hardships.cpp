// What makes a fuzz schedule hard: faults that the ring does not bear without a trace,
// and constants so small that they are met.
#include <algorithm>
#include <array>
#include <chrono>

#include "sim/fuzz_plan.hpp"

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

constexpr double hard_share = 0.5;      // of all schedules
constexpr double stand_in_share = 0.4;  // of hard ones
constexpr unsigned hardships = 6;
constexpr std::uint64_t cut_links_max = 4;
constexpr unsigned crowd = 10;
constexpr unsigned slow_links = 6;
constexpr unsigned fickle_users = 20;
constexpr std::array<Duration, 3> moments{1ms, 10ms, 100ms};
constexpr int streams_a_heartbeat = 30;  // messages: what counts as traffic
constexpr std::array<unsigned, 3> replicas{2, 3, 5};
constexpr std::array<std::uint32_t, 2> few_children{2, 3};
constexpr std::array<std::size_t, 3> backlogs{256, 4096, std::size_t{2} << 20};
constexpr std::array<std::size_t, 3> histories{2048, 65'536, std::size_t{16} << 20};

template <class Choices>
auto one_of(Random& random, const Choices& choices) {
  return choices[random.below(choices.size())];
}

}  // namespace

void FuzzPlan::plan_hardships() {
  hard = hard_random_.chance(hard_share);
  if (!hard) return;
  cramp_constants();
  const Duration notice = notice_time(overlay.pastry);
  constexpr std::array kinds{ActKind::cut_both_ways, ActKind::cut_both_ways, ActKind::cut_one_way,
                             ActKind::hang,          ActKind::hang,          ActKind::crash,
                             ActKind::depart,        ActKind::depart};
  // Some come one soon after the other, to the same group.
  for (unsigned times = 0; times < hardships; ++times) {
    const auto group = static_cast<std::uint32_t>(hard_random_.below(groups));
    const auto length = static_cast<std::uint64_t>((healed - calm).count());
    MonoTime at = calm + Duration(hard_random_.below(length));
    plan_slow_links(at, 2 * notice);
    plan_crowd(at, 2 * notice, group);
    if (hard_random_.chance(0.5)) plan_loss(at, 2 * notice);
    for (auto more = 1 + hard_random_.below(3); more > 0 && at + 2 * notice < healed; --more) {
      plan_hardship(one_of(hard_random_, kinds), at, group);
      at += hard_random_.jittered(notice, 0.9);
    }
  }
  plan_fickle_users();
  if (stand_in_random_.chance(stand_in_share)) {
    plan_stand_in();
    plan_wipe_out();
  }
  plan_cut_links();
}

// For longer than it takes to give a peer up.
void FuzzPlan::plan_cut_links() {
  const Duration notice = notice_time(overlay.pastry);
  const auto length = static_cast<std::uint64_t>((healed - calm).count());
  for (std::uint64_t times = link_random_.below(cut_links_max + 1); times > 0; --times) {
    const MonoTime at = calm + Duration(link_random_.below(length));
    const auto group = static_cast<std::uint32_t>(link_random_.below(groups));
    const Duration span = std::min(link_random_.jittered(notice * 3, 0.9), healed - at);
    acts.push_back({.at = at,
                    .kind = ActKind::cut_link,
                    .node = static_cast<std::uint32_t>(link_random_.below(nodes)),
                    .other = group,
                    .span = span,
                    .at_root = link_random_.chance(0.5)});
    plan_stream(at, span, group);
  }
}

// A root dies, and comes back while its stand-in hangs, or soon after.
void FuzzPlan::plan_stand_in() {
  const Duration notice = notice_time(overlay.pastry);
  const auto length = static_cast<std::uint64_t>((healed - calm - 6 * notice).count());
  const MonoTime at = calm + Duration(stand_in_random_.below(length));
  const auto group = static_cast<std::uint32_t>(stand_in_random_.below(groups));
  const auto node = static_cast<std::uint32_t>(stand_in_random_.below(nodes));
  acts.push_back({.at = at, .kind = ActKind::crash, .node = node, .other = group, .at_root = true});
  const MonoTime hangs = at + 2 * notice;
  const Duration span = stand_in_random_.jittered(notice, 0.9);
  acts.push_back({.at = hangs,
                  .kind = ActKind::hang,
                  .node = node,
                  .other = group,
                  .span = span,
                  .at_root = true});
  const auto hung = static_cast<std::uint64_t>((span + notice).count());
  acts.push_back({.at = hangs + Duration(stand_in_random_.below(hung)),
                  .kind = ActKind::restart,
                  .node = node,
                  .other = static_cast<std::uint32_t>(stand_in_random_.below(nodes))});
  plan_stream(hangs, span + notice, group);
}

// More at once than know what a group is.
void FuzzPlan::plan_wipe_out() {
  const auto struck = static_cast<std::uint32_t>(overlay.scribe.root_replicas + 2);
  if (struck >= overlay.pastry.leaf_set_size / 2) return;
  const Duration notice = notice_time(overlay.pastry);
  const auto length = static_cast<std::uint64_t>((healed - calm - 4 * notice).count());
  const MonoTime at = calm + Duration(stand_in_random_.below(length));
  const auto group = static_cast<std::uint32_t>(stand_in_random_.below(groups));
  const auto node = static_cast<std::uint32_t>(stand_in_random_.below(nodes));
  acts.push_back({.at = at,
                  .kind = ActKind::crash,
                  .node = node,
                  .other = group,
                  .struck = struck,
                  .at_root = true});
  plan_stream(at, notice, group);
  acts.push_back({.at = at + stand_in_random_.jittered(2 * notice, 0.9),
                  .kind = ActKind::restart,
                  .node = node,
                  .other = node});
}

void FuzzPlan::cramp_constants() {
  scribe::Config& scribe = overlay.scribe;
  scribe.root_replicas = one_of(hard_random_, replicas);
  if (hard_random_.chance(0.5)) scribe.children_entries_max = one_of(hard_random_, few_children);
  scribe.child_backlog_max = one_of(hard_random_, backlogs);
  scribe.tree_duplicate_window = 1024;  // a stream fits in
  scribe.history_bytes_max = one_of(hard_random_, histories);
  // Hardly longer than it takes to give a peer up.
  pastry::Config& pastry = overlay.pastry;
  if (hard_random_.chance(0.5)) {
    pastry.hop_patience = pastry.probe_timeout * (pastry.probe_retries + 2);
  }
}

// While a group is busy; many of them strike its root.
void FuzzPlan::plan_hardship(ActKind kind, MonoTime at, std::uint32_t group) {
  const Duration notice = notice_time(overlay.pastry);
  Act act{.at = at,
          .kind = kind,
          .node = static_cast<std::uint32_t>(hard_random_.below(nodes)),
          .other = group};
  act.at_root = hard_random_.chance(0.6);
  const bool leaves = kind == ActKind::crash || kind == ActKind::depart;
  if (!leaves) act.span = std::min(notice + hard_random_.jittered(notice * 3, 0.9), healed - at);
  // All around somebody say goodbye.
  const unsigned leaf_set = overlay.pastry.leaf_set_size;
  if (kind == ActKind::depart && hard_random_.chance(0.5)) {
    act.struck = static_cast<std::uint32_t>(2 + hard_random_.below(leaf_set + 4));
  }
  acts.push_back(act);
  plan_stream(at, std::max(act.span, notice), group);
  if (!leaves) return plan_changes(at, act.span * 3 / 2);
  const MonoTime back = at + hard_random_.jittered(notice * 2, 0.9);
  if (back < healed) {
    acts.push_back({.at = back, .kind = ActKind::restart, .node = act.node, .other = act.node});
  }
}

// Users come, and some go, while others are struck.
void FuzzPlan::plan_crowd(MonoTime at, Duration span, std::uint32_t group) {
  for (unsigned i = 0; i < crowd; ++i) {
    const MonoTime when =
        at + Duration(hard_random_.below(static_cast<std::uint64_t>(span.count())));
    if (when >= healed) continue;
    acts.push_back({.at = when,
                    .kind = hard_random_.chance(0.8) ? ActKind::join_group : ActKind::leave_group,
                    .node = static_cast<std::uint32_t>(hard_random_.below(nodes)),
                    .other = group});
  }
}

void FuzzPlan::plan_loss(MonoTime at, Duration span) {
  acts.push_back(
      {.at = at, .kind = ActKind::loss, .span = span, .amount = hard_random_.unit() * 0.3});
}

// What is sent to some takes its time, not so long that they are given up.
void FuzzPlan::plan_slow_links(MonoTime at, Duration span) {
  const Duration longest = overlay.pastry.probe_timeout * overlay.pastry.probe_retries;
  for (unsigned i = 0; i < slow_links; ++i) {
    const MonoTime when =
        at + Duration(hard_random_.below(static_cast<std::uint64_t>(span.count())));
    const auto node = static_cast<std::uint32_t>(hard_random_.below(nodes));
    if (when >= healed) continue;
    acts.push_back({.at = when,
                    .kind = ActKind::clog,
                    .node = node,
                    .other = node,
                    .span = hard_random_.jittered(longest / 2, 0.9)});
  }
}

// From a little before the fault on.
void FuzzPlan::plan_stream(MonoTime at, Duration span, std::uint32_t group) {
  const Duration heartbeat = overlay.scribe.heartbeat_interval;
  const MonoTime begin = std::max(MonoTime(10s), at - 2 * heartbeat);
  const double rate = streams_a_heartbeat / std::chrono::duration<double>(heartbeat).count();
  acts.push_back({.at = begin,
                  .kind = ActKind::stream,
                  .node = static_cast<std::uint32_t>(hard_random_.below(nodes)),
                  .other = group,
                  .span = std::min(span, 4 * heartbeat) + 2 * heartbeat,
                  .amount = rate});
}

// Of lists, on whichever side of a cut.
void FuzzPlan::plan_changes(MonoTime at, Duration span) {
  constexpr unsigned changes = 10;
  for (unsigned i = 0; i < changes; ++i) {
    const MonoTime when =
        at + Duration(hard_random_.below(static_cast<std::uint64_t>(span.count())));
    if (when < healed) acts.push_back({.at = when, .kind = ActKind::change_list});
  }
}

// They leave before they have quite joined, some of groups that nobody has heard of.
void FuzzPlan::plan_fickle_users() {
  for (unsigned i = 0; i < fickle_users; ++i) {
    const auto length = static_cast<std::uint64_t>((healed - MonoTime(10s)).count());
    const bool fresh = hard_random_.chance(0.5);
    Act act{.at = MonoTime(10s) + Duration(hard_random_.below(length)),
            .kind = ActKind::join_group,
            .node = static_cast<std::uint32_t>(hard_random_.below(nodes)),
            .other = fresh ? groups + i : static_cast<std::uint32_t>(hard_random_.below(groups))};
    acts.push_back(act);
    act.kind = ActKind::leave_group;
    act.at = std::min(act.at + hard_random_.jittered(one_of(hard_random_, moments), 0.5), healed);
    acts.push_back(act);
  }
}

}  // namespace canopy::sim
