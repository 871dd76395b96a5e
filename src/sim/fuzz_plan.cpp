#include "sim/fuzz_plan.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::array<unsigned, 3> digit_bits{1, 2, 4};
constexpr std::array<unsigned, 3> leaf_set_sizes{4, 8, 16};
constexpr std::array<unsigned, 3> id_lengths{16, 32, 160};
constexpr std::array<std::uint32_t, 5> children_limits{2, 3, 4, 8, 64};

template <class Choices>
auto one_of(Random& random, const Choices& choices) {
  return choices[random.below(choices.size())];
}

bool stops_a_process(ActKind kind) {
  return kind == ActKind::crash || kind == ActKind::hang || kind == ActKind::depart;
}

}  // namespace

Duration notice_time(const pastry::Config& config) {
  return 2 * config.heartbeat_interval + config.probe_timeout * (2 * config.probe_retries + 4);
}

FuzzPlan::FuzzPlan(std::uint64_t s, bool may_be_hard)
    : seed(s),
      random(s),
      order_random_(s * 3 + 1),
      several_random_(~s),
      several_(several_random_.chance(0.7)),
      load_random_(~s ^ s << 32),
      request_random_(s * 5 + 29),
      disk_random_(s * 7 + 31),
      hard_random_(s * 11 + 37),
      // With which the schedules that tests name have no such acts.
      stand_in_random_(s * 87431 + 41),
      link_random_(s * 6151 + 43) {
  choose_constants();
  plan_growth();
  plan_use(MonoTime(10s), healed, 60);
  plan_faults();
  plan_load();
  plan_bursts();
  plan_requests();
  disks = disk_random_.chance(0.5);
  if (may_be_hard) plan_hardships();
  std::stable_sort(acts.begin(), acts.end(),
                   [](const Act& a, const Act& b) { return a.at < b.at; });
}

Duration FuzzPlan::about(Duration span) { return random.jittered(span, 0.6); }

MonoTime FuzzPlan::within(MonoTime from, MonoTime to) {
  const auto length = static_cast<std::uint64_t>((to - from).count());
  return from + Duration(static_cast<std::int64_t>(random.below(length)));
}

void FuzzPlan::choose_constants() {
  wan = random.chance(0.3);
  overlay.pastry = wan ? pastry::Config::wan() : pastry::Config::lan();
  overlay.scribe = wan ? scribe::Config::wan() : scribe::Config::lan();
  overlay.pastry.id_bits = one_of(random, id_lengths);
  overlay.pastry.b = one_of(random, digit_bits);
  overlay.pastry.leaf_set_size = one_of(random, leaf_set_sizes);
  overlay.pastry.neighborhood_size = 2 * overlay.pastry.leaf_set_size;
  nodes = static_cast<std::uint32_t>(30 + random.below(31));
  groups = static_cast<std::uint32_t>(2 + random.below(4));
  calm = MonoTime(wan ? 4min : 2min);
  healed = calm + (wan ? 10min : 5min);
  end = healed + (wan ? 10min : 5min);
}

// Two thirds of the nodes start before the first fault: one after the other, in
// bunches through one contact, or in bunches through different ones.
void FuzzPlan::plan_growth() {
  acts.push_back({.at = MonoTime(), .kind = ActKind::start});
  const std::uint32_t early = nodes * 2 / 3;
  const MonoTime last = calm - (wan ? 90s : 60s);
  MonoTime at(1s);
  for (std::uint32_t node = 1; node < nodes;) {
    const MonoTime until = node < early ? last : healed - 1min;
    at = within(node < early ? MonoTime(1s) : calm, until);
    const auto bunch = random.chance(0.4) ? 1 + random.below(8) : 1;
    const bool one_contact = random.chance(0.5);
    const auto contact = static_cast<std::uint32_t>(random.below(node));
    for (std::uint64_t i = 0; i < bunch && node < nodes; ++i, ++node) {
      const auto other = static_cast<std::uint32_t>(random.below(nodes));
      acts.push_back(
          {.at = at, .kind = ActKind::start, .node = node, .other = one_contact ? contact : other});
    }
  }
}

void FuzzPlan::plan_use(MonoTime from, MonoTime to, unsigned count) {
  constexpr std::array kinds{ActKind::join_group,  ActKind::join_group, ActKind::join_group,
                             ActKind::leave_group, ActKind::publish,    ActKind::publish};
  for (unsigned i = 0; i < count; ++i) {
    acts.push_back({.at = within(from, to),
                    .kind = one_of(random, kinds),
                    .node = static_cast<std::uint32_t>(random.below(nodes)),
                    .other = static_cast<std::uint32_t>(random.below(groups))});
  }
}

// Into ordered groups far more is published, so that every fault strikes messages
// on their way.
void FuzzPlan::plan_bursts() {
  ordered_groups = static_cast<std::uint32_t>(order_random_.below(groups + 1));
  if (ordered_groups == 0) return;
  for (MonoTime at(20s); at < healed; at += order_random_.jittered(2s, 0.9)) {
    acts.push_back({.at = at,
                    .kind = ActKind::burst,
                    .node = static_cast<std::uint32_t>(order_random_.below(nodes)),
                    .other = static_cast<std::uint32_t>(order_random_.below(ordered_groups)),
                    .amount = static_cast<double>(1 + order_random_.below(5))});
  }
}

// In half of the schedules.
void FuzzPlan::plan_requests() {
  requests = request_random_.chance(0.5);
  if (!requests) return;
  constexpr std::array kinds{ActKind::anycast, ActKind::anycast, ActKind::ask_one,
                             ActKind::ask_all};
  for (MonoTime at(20s); at < healed; at += request_random_.jittered(2s, 0.9)) {
    acts.push_back({.at = at,
                    .kind = one_of(request_random_, kinds),
                    .node = static_cast<std::uint32_t>(request_random_.below(nodes)),
                    .other = static_cast<std::uint32_t>(request_random_.below(groups))});
  }
}

void FuzzPlan::plan_faults() {
  // Stops keep their distance in time; each has its slot.
  const Duration notice = notice_time(overlay.pastry);
  MonoTime next_stop = calm;
  const auto plan_stop = [&](ActKind kind) {
    const MonoTime at = next_stop;
    if (at + notice >= healed) return;
    plan_fault(kind, at);
    next_stop = at + (kind == ActKind::hang ? acts.back().span : Duration(0)) +
                random.jittered(notice * 3 / 2, 0.3);
  };
  std::vector<ActKind> kinds;
  for (std::size_t kind = static_cast<std::size_t>(first_fault); kind < act_kinds; ++kind) {
    kinds.push_back(static_cast<ActKind>(kind));
  }
  for (std::uint64_t extra = random.below(20); extra > 0; --extra) {
    kinds.push_back(one_of(random, std::vector<ActKind>(kinds)));
  }
  for (const ActKind kind : kinds) {
    if (kind == ActKind::restart) continue;  // follows each crash and departure
    if (stops_a_process(kind)) {
      plan_stop(kind);
    } else {
      plan_fault(kind, within(calm, healed));
    }
  }
}

void FuzzPlan::plan_fault(ActKind kind, MonoTime at) {
  const pastry::Config& config = overlay.pastry;
  Act act{.at = at,
          .kind = kind,
          .node = static_cast<std::uint32_t>(random.below(nodes)),
          .other = static_cast<std::uint32_t>(random.below(nodes))};
  // Shorter than a peer's three probes take to fail.
  const Duration blink = random.jittered(config.probe_timeout * config.probe_retries / 2, 0.9);
  switch (kind) {
    case ActKind::hang:
      act.span = about(config.heartbeat_interval + config.probe_timeout * 4);
      break;
    case ActKind::clock_jump: act.span = about(1min); break;
    case ActKind::clock_drift: act.amount = (random.unit() - 0.5) * 400; break;
    case ActKind::loss: act.amount = random.unit() * 0.2; break;
    case ActKind::duplication:
    case ActKind::reordering: act.amount = random.unit() * 0.5; break;
    case ActKind::delay_tail: act.amount = random.unit() * 0.1; break;
    case ActKind::clog:
    case ActKind::cut_both_ways:
    case ActKind::cut_one_way: act.span = blink; break;
    default: break;
  }
  if (stops_a_process(kind)) choose_struck(act);
  if (kind >= ActKind::loss && act.span == Duration(0)) act.span = about(20s);
  acts.push_back(act);
  if (kind != ActKind::crash && kind != ActKind::depart) return;
  // At once, soon, or well after everybody has noticed.
  const std::array<Duration, 3> pauses{Duration(1ms), about(config.probe_timeout),
                                       about(notice_time(config))};
  const MonoTime back = std::min(at + one_of(random, pauses), healed - 1s);
  const bool comes_back = random.chance(0.8);
  // The first crash is followed by a restart in all schedules.
  if (comes_back || (kind == ActKind::crash && !std::exchange(restarts_, true))) {
    acts.push_back({.at = back, .kind = ActKind::restart, .node = act.node, .other = act.other});
    std::swap(acts[acts.size() - 1], acts[acts.size() - 2]);
  }
}

void FuzzPlan::choose_struck(Act& act) {
  if (!several_ || several_random_.chance(0.5)) return;
  const unsigned neighbors_max = overlay.pastry.leaf_set_size / 2 - 1;
  act.apart = neighbors_max < 2 || several_random_.chance(0.3);
  const unsigned most = act.apart ? 4 : neighbors_max;
  act.struck = static_cast<std::uint32_t>(2 + several_random_.below(most - 1));
}

void FuzzPlan::plan_load() {
  overlay.scribe.children_entries_max = one_of(load_random_, children_limits);
  overlay.scribe.path_collapse = load_random_.chance(0.8);
  if (load_random_.chance(0.5)) plan_crowds();
}

// Most nodes want to be in the same group or two, some in bunches.
void FuzzPlan::plan_crowds() {
  const std::uint64_t popular = 1 + load_random_.below(2);
  const auto time = static_cast<std::uint64_t>((healed - MonoTime(10s)).count());
  for (std::uint64_t i = 0; i < popular * nodes; ++i) {
    acts.push_back({.at = MonoTime(10s) + Duration(load_random_.below(time)),
                    .kind = ActKind::join_group,
                    .node = static_cast<std::uint32_t>(load_random_.below(nodes)),
                    .other = static_cast<std::uint32_t>(load_random_.below(popular))});
  }
}

}  // namespace canopy::sim
