#include "sim/network.hpp"

#include <algorithm>

namespace canopy::sim {

namespace {

bool contains(const std::vector<bool>& side, NodeIndex node) {
  return node < side.size() && side[node];
}

}  // namespace

PartitionId Network::partition(const std::vector<NodeIndex>& side, Cut cut, MonoTime now,
                               Duration least) {
  Partition added;
  added.id = next_partition_++;
  added.cut = cut;
  added.least_until = now + least;
  for (const NodeIndex node : side) {
    if (node >= added.side.size()) added.side.resize(node + 1, false);
    added.side[node] = true;
  }
  partitions_.push_back(std::move(added));
  return partitions_.back().id;
}

void Network::heal(PartitionId id, MonoTime now) {
  for (auto& partition : partitions_) {
    if (partition.id != id) continue;
    partition.healed_at = std::min(partition.healed_at, std::max(now, partition.least_until));
  }
}

void Network::heal_all(MonoTime now) {
  for (auto& partition : partitions_) {
    partition.healed_at = std::min(partition.healed_at, std::max(now, partition.least_until));
  }
  std::erase_if(partitions_, [now](const Partition& p) { return p.healed_at <= now; });
  severed_.clear();
}

void Network::sever(NodeIndex from, NodeIndex to, MonoTime until) {
  severed_.push_back({from, to, until});
}

bool Network::cut(NodeIndex from, NodeIndex to, MonoTime now) const {
  const bool severed = std::ranges::any_of(severed_, [&](const Severed& link) {
    return link.from == from && link.to == to && now < link.until;
  });
  return severed ||
         std::any_of(partitions_.begin(), partitions_.end(), [&](const Partition& partition) {
           if (partition.healed_at <= now) return false;
           const bool from_side = contains(partition.side, from);
           if (from_side == contains(partition.side, to)) return false;
           return partition.cut == Cut::both_ways || from_side == (partition.cut == Cut::from_side);
         });
}

void Network::clog(NodeIndex from, NodeIndex to, MonoTime until) {
  std::erase_if(clogs_, [&](const Clog& c) { return c.from == from && c.to == to; });
  clogs_.push_back({from, to, until, {}});
}

Duration Network::clogged(NodeIndex from, NodeIndex to, MonoTime now) {
  std::erase_if(clogs_, [now](const Clog& c) { return c.until <= now; });
  Duration longest(0);
  for (const Clog& clog : clogs_) {
    if (clog.holds_up(from, to)) longest = std::max(longest, clog.until - now);
  }
  return longest;
}

void Network::wait_at_clogs(NodeIndex from, NodeIndex to, std::size_t bytes) {
  for (Clog& clog : clogs_) {
    if (clog.holds_up(from, to)) clog.waiting[from] += bytes;
  }
}

std::size_t Network::backlog(NodeIndex from, NodeIndex to, MonoTime now) const {
  std::size_t most = 0;
  for (const Clog& clog : clogs_) {
    if (clog.until <= now || !clog.holds_up(from, to)) continue;
    const auto found = clog.waiting.find(from);
    if (found != clog.waiting.end()) most = std::max(most, found->second);
  }
  return most;
}

Network::Fate Network::fate(NodeIndex from, NodeIndex to, MonoTime now, std::size_t bytes) {
  Fate fate;
  if (!partitions_.empty() && cut(from, to, now)) {
    fate.copies = 0;
    return fate;
  }
  if (faults_.loss > 0 && random_.chance(faults_.loss)) {
    fate.copies = 0;
    return fate;
  }
  fate.delay[0] = faulty_delay(from, to, now);
  if (!clogs_.empty()) wait_at_clogs(from, to, bytes);
  if (faults_.duplication > 0 && random_.chance(faults_.duplication)) {
    fate.copies = 2;
    fate.delay[1] = fate.delay[0] + faulty_delay(from, to, now);
  }
  return fate;
}

Duration Network::faulty_delay(NodeIndex from, NodeIndex to, MonoTime now) {
  Duration delay = topology_.delay(from, to);
  if (!clogs_.empty()) delay += clogged(from, to, now);
  if (faults_.reordering > 0 && random_.chance(faults_.reordering)) {
    delay += Duration(static_cast<std::int64_t>(
        random_.below(static_cast<std::uint64_t>(faults_.reordering_max.count()) + 1)));
  }
  if (faults_.tail > 0 && random_.chance(faults_.tail)) {
    const double extra = random_.exponential(static_cast<double>(faults_.tail_mean.count()));
    delay += Duration(static_cast<std::int64_t>(extra));
  }
  return delay;
}

}  // namespace canopy::sim
