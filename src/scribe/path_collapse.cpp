#include "scribe/path_collapse.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "pastry/proximity.hpp"

namespace canopy::scribe {

namespace {

constexpr int settling_intervals = 5;  // heartbeats, before the first time
constexpr unsigned collapse_doublings_max = 4;
constexpr double collapse_jitter = 0.3;
constexpr Duration memory = std::chrono::minutes(20);
constexpr std::size_t memories_max = 4096;

}  // namespace

bool PathCollapse::superfluous(const Id& id) const {
  const Group* group = core_.find(id);
  return group && !group->member && group->standing() == Standing::attached &&
         group->children.size() == 1 && group->children.begin()->acknowledged;
}

void PathCollapse::watch() {
  if (core_.changed_places.empty()) return;
  const std::vector<Id> changed = std::exchange(core_.changed_places, {});
  if (core_.departing || !core_.config.maintenance || !core_.config.path_collapse) return;
  for (const Id& id : changed) {
    if (!core_.find(id)) {
      due_.cancel(id);
    } else if (!due_.contains(id) && superfluous(id)) {
      schedule(id);
    }
  }
}

void PathCollapse::schedule(const Id& id) {
  unsigned times = 0;
  const auto known = memories_.find(id);
  if (known != memories_.end() && known->second.until > core_.now()) {
    times = known->second.times;
    known->second.until = core_.now() + memory;
  }
  const Duration wait = settling_intervals * core_.config.heartbeat_interval * (1 << times);
  due_.schedule(id, core_.now() + core_.env.random().jittered(wait, collapse_jitter));
  core_.wake_at(due_.next());
}

void PathCollapse::tick() {
  for (const Id& id : due_.take_due(core_.now())) {
    if (!superfluous(id) || core_.departing) continue;
    collapse(id);
    remember(id);
    schedule(id);
  }
}

// Its parent has one child less as soon as this node has left, and takes it
// whatever it has now.
void PathCollapse::collapse(const Id& id) {
  const Group& group = *core_.find(id);
  ++core_.counters.collapses_started;
  const auto round_trip = core_.pastry.round_trip(group.parent());
  core_.send(group.children.begin()->peer,
             wire::Relocation{id,
                              std::numeric_limits<std::uint32_t>::max(),
                              {group.parent()},
                              {round_trip ? pastry::distance_of(*round_trip) : 0}});
}

void PathCollapse::remember(const Id& id) {
  const MonoTime now = core_.now();
  if (memories_.size() >= memories_max && !memories_.contains(id)) {
    std::erase_if(memories_, [now](const auto& entry) { return entry.second.until <= now; });
    if (memories_.size() >= memories_max) return;
  }
  Memory& entry = memories_[id];
  if (entry.until <= now) entry.times = 0;
  entry.times = std::min(entry.times + 1, collapse_doublings_max);
  entry.until = now + memory;
}

}  // namespace canopy::scribe
