#include "sim/ideal_tables.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace canopy::sim {

namespace {

constexpr std::uint32_t nobody = 0xffffffff;

constexpr std::size_t near_sites_max = 128;

}  // namespace

void IdealTables::PerSite::clear(std::size_t sites) {
  written_.resize(sites, 0);
  values_.resize(sites, 0);
  ++round_;
}

void IdealTables::PerSite::set(std::size_t site, std::uint32_t value) {
  written_[site] = round_;
  values_[site] = value;
}

IdealTables::IdealTables(const RingOrder& ring, const Topology& topology,
                         const pastry::Config& config)
    : ring_(ring), topology_(topology), config_(config) {
  find_sites();
  find_nearest();
  find_table_entries();
}

void IdealTables::find_sites() {
  std::vector<std::size_t> numbers;  // dense, by the topology's number
  for (std::size_t position = 0; position < ring_.size(); ++position) {
    const std::size_t site = topology_.site(ring_[position].node);
    if (site >= numbers.size()) numbers.resize(site + 1, nobody);
    if (numbers[site] == nobody) {
      numbers[site] = at_site_.size();
      at_site_.emplace_back();
    }
    site_of_.push_back(numbers[site]);
    at_site_[numbers[site]].push_back(position);
  }
}

void IdealTables::find_table_entries() {
  unsigned rows = 0;
  for (std::size_t i = 1; i < ring_.size(); ++i) {
    rows = std::max(rows, shared_prefix_length(ring_[i - 1].id, ring_[i].id, config_.b) + 1);
  }
  // How many entries each has, before the search for them: they share one array.
  entries_begin_.assign(ring_.size() + 1, 0);
  for (unsigned row = 0; row < rows; ++row) {
    visit_blocks(row, [this](const Block& block) {
      for (std::size_t i = block.begin; i < block.part_begin; ++i) ++entries_begin_[i + 1];
      for (std::size_t i = block.part_end; i < block.end; ++i) ++entries_begin_[i + 1];
    });
  }
  std::partial_sum(entries_begin_.begin(), entries_begin_.end(), entries_begin_.begin());
  entries_.resize(entries_begin_.back());
  std::vector<std::size_t> filled = entries_begin_;
  for (unsigned row = 0; row < rows; ++row) {
    visit_blocks(row, [&](const Block& block) { find_entries_towards(block, filled); });
  }
}

// Members that share `row` digits lie side by side, and among them those with
// the same next digit.
template <class Visit>
void IdealTables::visit_blocks(unsigned row, Visit&& visit) const {
  const unsigned b = config_.b;
  for (std::size_t begin = 0; begin < ring_.size();) {
    std::size_t end = begin + 1;
    while (end < ring_.size() && shared_prefix_length(ring_[begin].id, ring_[end].id, b) >= row) {
      ++end;
    }
    for (std::size_t from = begin; from < end;) {
      std::size_t to = from + 1;
      while (to < end && ring_[to].id.digit(row, b) == ring_[from].id.digit(row, b)) ++to;
      visit(Block{begin, end, from, to});
      from = to;
    }
    begin = end;
  }
}

// For each member of the block outside of the part: the closest inside.
void IdealTables::find_entries_towards(const Block& block, std::vector<std::size_t>& filled) {
  if (block.part_begin == block.begin && block.part_end == block.end) return;
  std::vector<std::size_t> candidates;  // of each site the one of smallest id
  candidate_at_.clear(at_site_.size());
  for (std::size_t position = block.part_begin; position < block.part_end; ++position) {
    if (candidate_at_.has(site_of(position))) continue;
    candidate_at_.set(site_of(position), static_cast<std::uint32_t>(position));
    candidates.push_back(position);
  }
  closest_to_site_.clear(at_site_.size());
  for (std::size_t position = block.begin; position < block.end; ++position) {
    if (position >= block.part_begin && position < block.part_end) continue;
    const std::size_t site = site_of(position);
    if (!closest_to_site_.has(site)) closest_to_site_.set(site, closest_of(candidates, position));
    entries_[filled[position]++] = closest_to_site_[site];
  }
}

std::uint32_t IdealTables::closest_of(const std::vector<std::size_t>& candidates,
                                      std::size_t position) const {
  // Many candidates: one of them lives near by, and that is faster to find.
  if (candidates.size() * candidates.size() > at_site_.size()) {
    const std::uint32_t near = closest_near(site_of(position));
    if (near != nobody) return near;
  }
  std::uint32_t closest = nobody;
  double best = 0;
  for (const std::size_t candidate : candidates) {
    const double distance = topology_.distance(ring_[position].node, ring_[candidate].node);
    if (closest != nobody && distance >= best) continue;
    best = distance;
    closest = static_cast<std::uint32_t>(candidate);
  }
  return closest;
}

// Nobody, if there is none at the near sites, or if there may be others as close at
// sites that are not among them.
std::uint32_t IdealTables::closest_near(std::size_t site) const {
  const auto& near = near_sites_[site];
  const auto taken = [this](std::uint32_t other) { return candidate_at_.has(other); };
  const auto first = std::find_if(near.begin(), near.end(), taken);
  if (first == near.end()) return nobody;
  std::uint32_t closest = candidate_at_[*first];
  const double distance = site_distance(site, *first);
  for (auto next = first + 1;; ++next) {
    if (next == near.end()) return near.size() == at_site_.size() ? closest : nobody;
    if (site_distance(site, *next) > distance) return closest;
    if (taken(*next)) closest = std::min(closest, candidate_at_[*next]);
  }
}

double IdealTables::site_distance(std::size_t a, std::size_t b) const {
  const NodeIndex from = ring_[at_site_[a].front()].node;
  const NodeIndex to = ring_[a == b ? at_site_[b].back() : at_site_[b].front()].node;
  return topology_.distance(from, to);
}

void IdealTables::find_nearest() {
  const std::size_t wanted = config_.neighborhood_size + 1;
  neighbors_.resize(at_site_.size());
  near_sites_.resize(at_site_.size());
  std::vector<std::pair<double, std::uint32_t>> sites(at_site_.size());
  for (std::uint32_t here = 0; here < at_site_.size(); ++here) {
    for (std::uint32_t there = 0; there < at_site_.size(); ++there) {
      sites[there] = {site_distance(here, there), there};
    }
    // A heap, closest first: no more than a few of thousands of sites are wanted.
    std::make_heap(sites.begin(), sites.end(), std::greater<>());
    std::vector<std::pair<double, std::uint32_t>> found;
    auto& near_sites = near_sites_[here];
    for (auto end = sites.end(); end != sites.begin(); --end) {
      const auto [distance, site] = sites.front();
      const bool all_found = found.size() >= wanted && distance > found.back().first;
      if (all_found && near_sites.size() >= near_sites_max) break;
      if (near_sites.size() < near_sites_max) near_sites.push_back(site);
      for (std::size_t i = 0; i < at_site_[site].size() && !all_found; ++i) {
        found.emplace_back(distance, static_cast<std::uint32_t>(at_site_[site][i]));
      }
      std::pop_heap(sites.begin(), end, std::greater<>());
    }
    // Positions are in id order, which is how ties are broken.
    std::sort(found.begin(), found.end());
    found.resize(std::min(found.size(), wanted));
    for (const auto& entry : found) neighbors_[here].push_back(entry.second);
  }
}

std::vector<std::size_t> IdealTables::peers_of(std::size_t position) const {
  std::vector<std::size_t> peers = ring_.leaves(position, config_.leaf_set_size / 2);
  peers.insert(peers.end(), entries(position).begin(), entries(position).end());
  const auto& near = neighbors_[site_of(position)];
  std::size_t taken = 0;
  for (std::size_t i = 0; i < near.size() && taken < config_.neighborhood_size; ++i) {
    if (near[i] == position) continue;
    peers.push_back(near[i]);
    ++taken;
  }
  std::vector<std::pair<double, std::size_t>> ranked;
  for (const std::size_t peer : peers) {
    ranked.emplace_back(topology_.distance(ring_[position].node, ring_[peer].node), peer);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  peers.clear();
  for (const auto& entry : ranked) peers.push_back(entry.second);
  return peers;
}

void teach_leaves(Simulation& simulation, const RingOrder& ring, std::size_t position) {
  auto& pastry = simulation.peer(ring[position].node).pastry();
  const std::size_t half = pastry.config().leaf_set_size / 2;
  for (const std::size_t leaf : ring.leaves(position, half)) {
    pastry.learn_leaf(simulation.ref(ring[leaf].node));
  }
  if (ring.size() - 1 > 2 * half) {
    pastry.learn_leaf(simulation.ref(ring[(position + half + 1) % ring.size()].node));
  }
}

void fill_ideal_tables(Simulation& simulation, const RingOrder& ring) {
  const IdealTables tables(ring, simulation.topology(), simulation.overlay_config().pastry);
  for (std::size_t position = 0; position < ring.size(); ++position) {
    const NodeIndex node = ring[position].node;
    simulation.found(node);
    std::int64_t rank = 0;
    for (const std::size_t peer : tables.peers_of(position)) {
      simulation.peer(node).pastry().learn(simulation.ref(ring[peer].node), Duration(++rank));
    }
    teach_leaves(simulation, ring, position);
  }
}

}  // namespace canopy::sim
