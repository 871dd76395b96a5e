#include "pastry/proximity.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "pastry/routing_table.hpp"

namespace canopy::pastry {

namespace {

constexpr std::size_t records_growth = 16;
constexpr int variations_of_tcp = 4;
constexpr std::int64_t no_share = std::numeric_limits<std::int64_t>::max();
constexpr int tight_variations = 2;
constexpr std::int64_t tight_share = 8;

std::uint32_t coarse(MonoTime time) noexcept {
  return static_cast<std::uint32_t>(time.time_since_epoch().count() >> 10);
}

}  // namespace

std::uint32_t distance_of(Duration round_trip) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(round_trip.count(), 1, unknown_distance - 1));
}

const Proximity::Record* Proximity::find(PeerRef peer) const noexcept {
  const auto at = std::partition_point(records_.begin(), records_.end(),
                                       [peer](const Record& r) { return r.peer < peer; });
  return at != records_.end() && at->peer == peer ? &*at : nullptr;
}

Proximity::Record* Proximity::find(PeerRef peer) noexcept {
  return const_cast<Record*>(static_cast<const Proximity*>(this)->find(peer));
}

void Proximity::track(PeerRef peer, MonoTime now) { record(peer, now); }

// Of this peer, begun unless there is one.
Proximity::Record& Proximity::record(PeerRef peer, MonoTime now) {
  const auto at = std::partition_point(records_.begin(), records_.end(),
                                       [peer](const Record& r) { return r.peer < peer; });
  if (at != records_.end() && at->peer == peer) return *at;
  const auto offset = at - records_.begin();
  if (records_.size() == records_.capacity()) records_.reserve(records_.size() + records_growth);
  return *records_.insert(records_.begin() + offset, {peer, unknown_distance, 0, 0, coarse(now)});
}

void Proximity::remove(PeerRef peer) {
  std::erase_if(records_, [peer](const Record& r) { return r.peer == peer; });
}

bool Proximity::knows(PeerRef peer) const noexcept { return find(peer) != nullptr; }

bool Proximity::heard(PeerRef peer, MonoTime now) {
  Record* record = find(peer);
  if (record == nullptr) return false;
  record->heard = coarse(now);
  return true;
}

std::optional<Duration> Proximity::silence(PeerRef peer, MonoTime now) const noexcept {
  const Record* record = find(peer);
  if (record == nullptr) return std::nullopt;
  return Duration(std::int64_t{coarse(now) - record->heard} << 10);
}

void Proximity::sample(PeerRef peer, Duration round_trip, MonoTime now) {
  Record& record = this->record(peer, now);
  const std::uint32_t sampled = distance_of(round_trip);
  if (record.distance_us == unknown_distance) {
    record.smoothed_us = sampled;
    record.variation_us = sampled / 2;
  } else {
    const std::int64_t error = std::int64_t{sampled} - record.smoothed_us;
    const std::int64_t deviation = (error < 0 ? -error : error) - record.variation_us;
    record.smoothed_us = static_cast<std::uint32_t>(record.smoothed_us + error / 8);
    record.variation_us = static_cast<std::uint32_t>(record.variation_us + deviation / 4);
  }
  record.distance_us = std::min(record.distance_us, sampled);
}

std::uint32_t Proximity::distance(PeerRef peer) const noexcept {
  const Record* record = find(peer);
  return record == nullptr ? unknown_distance : record->distance_us;
}

std::optional<Duration> Proximity::round_trip(PeerRef peer) const noexcept {
  const Record* record = find(peer);
  if (record == nullptr || record->distance_us == unknown_distance) return std::nullopt;
  return Duration(record->smoothed_us);
}

std::vector<PeerRef> Proximity::about_as_far_as(std::uint32_t distance_us,
                                                std::size_t count) const {
  std::vector<std::pair<std::uint32_t, PeerRef>> ranked;
  for (const Record& record : records_) {
    if (record.distance_us == unknown_distance) continue;
    const auto [less, more] = std::minmax(record.distance_us, distance_us);
    ranked.emplace_back(more - less, record.peer);
  }
  const std::size_t wanted = std::min(count, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(wanted),
                    ranked.end());
  std::vector<PeerRef> peers;
  for (std::size_t i = 0; i < wanted; ++i) peers.push_back(ranked[i].second);
  return peers;
}

Duration Proximity::overdue(PeerRef peer, int variations, std::int64_t share, Duration floor,
                            Duration ceiling) const noexcept {
  const Record* record = find(peer);
  if (record == nullptr || record->distance_us == unknown_distance) return ceiling;
  const std::int64_t smoothed = record->smoothed_us;
  const std::int64_t slack =
      std::max(std::int64_t{variations} * record->variation_us, smoothed / share);
  return std::clamp(Duration(smoothed + slack), floor, ceiling);
}

Duration Proximity::timeout(PeerRef peer, Duration floor, Duration ceiling) const noexcept {
  return overdue(peer, variations_of_tcp, no_share, floor, ceiling);
}

Duration Proximity::tight_timeout(PeerRef peer, Duration floor, Duration ceiling) const noexcept {
  return overdue(peer, tight_variations, tight_share, floor, ceiling);
}

void Proximity::trim(const std::function<bool(PeerRef)>& keep) {
  std::erase_if(records_, [&keep](const Record& r) { return !keep(r.peer); });
  records_.shrink_to_fit();
}

void Proximity::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Record& record : records_) in_use.push_back(record.peer);
}

}  // namespace canopy::pastry
