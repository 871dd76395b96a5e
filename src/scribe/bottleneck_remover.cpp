#include "scribe/bottleneck_remover.hpp"

#include <algorithm>

#include "pastry/proximity.hpp"
#include "scribe/relocations.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t drops_max = 16;  // on their way at a time, or a share of the excess
constexpr std::size_t drops_share = 64;
constexpr std::size_t drops_to_probe = 2;     // after those before have stayed
constexpr std::size_t distances_max = 4096;   // of children, while there are too many
constexpr std::size_t measurements_max = 64;  // begun in one round
constexpr std::size_t sample_min = 16;        // children to choose the farthest of
constexpr unsigned rounds_to_measure = 3;     // so many rounds are waited for their distances
constexpr std::size_t near_candidates = 12;
constexpr std::size_t named_candidates = 16;  // the others are drawn
constexpr double look_jitter = 0.3;

// How long one that did not go is left alone; also the longest pause.
Duration patience(const Config& config) { return 4 * config.child_refresh_interval; }

}  // namespace

std::size_t BottleneckRemover::excess() const {
  const std::size_t entries = core_.neighbors.children_entries();
  const std::size_t allowed = core_.config.children_entries_max;
  return allowed > 0 && entries > allowed ? entries - allowed : 0;
}

bool BottleneckRemover::overloaded() const {
  return excess() > 0 && core_.config.maintenance && !core_.departing;
}

void BottleneckRemover::watch() {
  if (look_at_ != never || !overloaded()) return;
  look_at_ = core_.now() + core_.env.random().jittered(pause_, look_jitter);
  core_.wake_at(look_at_);
}

void BottleneckRemover::measured(PeerRef peer, Duration round_trip) {
  const auto child = round_trips_us_.find(peer);
  if (child != round_trips_us_.end()) child->second = pastry::distance_of(round_trip);
}

void BottleneckRemover::tick() {
  if (look_at_ > core_.now()) return;
  look_at_ = never;
  review_drops();
  if (overloaded()) {
    relieve();
  } else if (dropped_.empty()) {
    rest();
  }
  if (!overloaded() && dropped_.empty()) return;
  look_at_ = core_.now() + core_.env.random().jittered(pause_, look_jitter);
}

void BottleneckRemover::rest() {
  round_trips_us_.clear();
  stayed_.clear();
  rounds_ = 0;
  core_.overload_stays = false;
  pause_ = core_.config.heartbeat_interval;
}

bool BottleneckRemover::is_child(const Place& place) const {
  const Group* group = core_.find(place.first);
  return group && group->children.contains(place.second);
}

// Who has gone, and who has not although there was time.
void BottleneckRemover::review_drops() {
  const MonoTime now = core_.now();
  std::erase_if(stayed_, [this](const auto& entry) { return !is_child(entry.first); });
  bool gone = false;
  bool stayed = false;
  for (auto entry = dropped_.begin(); entry != dropped_.end();) {
    const auto& [place, deadline] = *entry;
    if (!is_child(place)) {
      gone = true;
    } else if (deadline > now) {
      ++entry;
      continue;
    } else {
      stayed = true;
      ++core_.counters.drops_in_vain;
      stayed_.insert_or_assign(place, now);
    }
    entry = dropped_.erase(entry);
  }
  if (gone) {
    pause_ = core_.config.heartbeat_interval;
    core_.overload_stays = false;
  } else if (stayed) {
    pause_ = std::min(2 * pause_, patience(core_.config));
  }
}

void BottleneckRemover::relieve() {
  measurements_ = 0;
  ++rounds_;
  // Who has not answered is asked again; who is being asked is asked once.
  std::erase_if(round_trips_us_, [](const auto& entry) { return entry.second == 0; });
  std::vector<Load> loads = groups_by_load();
  if (rounds_ == 1) {
    // A child too many may be one that is about to leave: the first look measures.
    for (const Load& load : loads) farthest_child(load.group, *core_.find(load.group));
    return;
  }
  bool dropped = false;
  std::ranges::make_heap(loads);
  while (dropped_.size() < drops_now() && !loads.empty()) {
    std::ranges::pop_heap(loads);
    Load& costliest = loads.back();
    if (costliest.children < 2 || !drop_from(costliest.group)) {
      loads.pop_back();
      continue;
    }
    dropped = true;
    --costliest.children;
    std::ranges::push_heap(loads);
  }
  const bool waits = !dropped_.empty() || measurements_ > 0;
  if (dropped || waits) return;
  pause_ = std::min(2 * pause_, patience(core_.config));
  core_.overload_stays = true;
}

// Where nobody takes anybody, asking costs the same however many children there are.
std::size_t BottleneckRemover::drops_now() const {
  const bool in_vain = pause_ > core_.config.heartbeat_interval;
  const std::size_t most = in_vain ? drops_to_probe : std::max(drops_max, excess() / drops_share);
  return std::min(excess(), most);
}

// With the children that stay.
std::vector<BottleneckRemover::Load> BottleneckRemover::groups_by_load() const {
  std::vector<Load> loads;
  for (const auto& [id, group] : core_.groups) {
    if (!group.in_tree()) continue;
    std::size_t children = 0;
    for (const Child& child : group.children) {
      if (child.acknowledged && !on_its_way(id, child.peer)) ++children;
    }
    if (children >= 2) loads.push_back({children, id});
  }
  return loads;
}

bool BottleneckRemover::drop_from(const Id& id) {
  const Group& group = *core_.find(id);
  const auto child = farthest_child(id, group);
  if (!child) return false;
  ++core_.counters.children_dropped;
  core_.send(*child, relocation(id, group, *child));
  dropped_.emplace(Place{id, *child}, core_.now() + relocation_time_max(core_.config));
  return true;
}

// Of those whose distance is known, once they are many enough. Who has stayed comes
// after all the others, and among such who was asked longest ago: each gets its turn,
// for where one of them could go, room may have come meanwhile.
std::optional<PeerRef> BottleneckRemover::farthest_child(const Id& id, const Group& group) {
  std::optional<PeerRef> farthest;
  std::pair<Duration, std::uint32_t> best;  // since it stayed, how far
  std::size_t known = 0;
  bool measuring = false;
  for (const Child& child : group.children) {
    if (!child.acknowledged || on_its_way(id, child.peer)) continue;
    auto entry = round_trips_us_.find(child.peer);
    if (entry == round_trips_us_.end()) {
      const auto round_trip = core_.pastry.round_trip(child.peer);
      if (round_trips_us_.size() >= distances_max) continue;
      if (!round_trip && measurements_ == measurements_max) continue;
      entry = round_trips_us_.emplace(child.peer, 0).first;
      if (round_trip) {
        entry->second = pastry::distance_of(*round_trip);
      } else {
        ++measurements_;
        core_.pastry.measure(child.peer);
      }
    }
    if (entry->second == 0) {
      measuring = true;
      continue;
    }
    ++known;
    const auto stayed = stayed_.find({id, child.peer});
    const Duration since = stayed == stayed_.end() ? Duration::max() : core_.now() - stayed->second;
    if (since < patience(core_.config) || std::pair(since, entry->second) <= best) continue;
    farthest = child.peer;
    best = {since, entry->second};
  }
  if (measuring && known < sample_min && rounds_ <= rounds_to_measure) return std::nullopt;
  return farthest;
}

// The nearest siblings, which lengthen the way the least whatever the child's
// distance to them is, and some others.
wire::Relocation BottleneckRemover::relocation(const Id& id, const Group& group, PeerRef child) {
  struct Sibling {
    PeerRef peer;
    std::uint32_t round_trip_us = 0;
  };
  std::vector<Sibling> siblings;
  for (const Child& sibling : group.children) {
    if (sibling.peer == child || !sibling.acknowledged || on_its_way(id, sibling.peer)) continue;
    const auto known = round_trips_us_.find(sibling.peer);
    siblings.push_back({sibling.peer, known == round_trips_us_.end() ? 0 : known->second});
  }
  // 0, not known, wraps around to the farthest.
  std::ranges::stable_sort(siblings, {}, [](const Sibling& s) { return s.round_trip_us - 1; });
  for (std::size_t at = near_candidates; at < std::min(siblings.size(), named_candidates); ++at) {
    std::swap(siblings[at], siblings[at + core_.env.random().below(siblings.size() - at)]);
  }
  siblings.resize(std::min(siblings.size(), named_candidates));
  wire::Relocation message;
  message.group = id;
  message.entries = static_cast<std::uint32_t>(core_.neighbors.children_entries());
  for (const Sibling& sibling : siblings) {
    message.candidates.push_back(sibling.peer);
    message.round_trips_us.push_back(sibling.round_trip_us);
  }
  return message;
}

void BottleneckRemover::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [place, until] : dropped_) in_use.push_back(place.second);
  for (const auto& [place, until] : stayed_) in_use.push_back(place.second);
  for (const auto& [peer, round_trip] : round_trips_us_) in_use.push_back(peer);
}

}  // namespace canopy::scribe
