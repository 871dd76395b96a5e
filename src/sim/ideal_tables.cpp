#include "sim/ideal_tables.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace canopy::sim {

namespace {

constexpr std::uint32_t nobody = 0xffffffff;

// A host of each site, and the distance between sites.
double site_distance(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
                     const RingOrder& ring, const Topology& topology) {
  const NodeIndex from = ring[a.front()].node;
  const NodeIndex to = ring[&a == &b ? b.back() : b.front()].node;
  return topology.distance(from, to);
}

}  // namespace

void IdealTables::PerSite::clear(std::size_t sites) {
  written_.resize(sites, 0);
  values_.resize(sites, 0);
  ++round_;
}

std::uint32_t& IdealTables::PerSite::operator[](std::size_t site) {
  written_[site] = round_;
  return values_[site];
}

IdealTables::IdealTables(const RingOrder& ring, const Topology& topology,
                         const pastry::Config& config)
    : ring_(ring), topology_(topology), config_(config) {
  find_sites();
  find_table_entries();
  find_neighbors();
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
  candidates_seen_.clear(at_site_.size());
  for (std::size_t position = block.part_begin; position < block.part_end; ++position) {
    if (candidates_seen_.has(site_of(position))) continue;
    candidates_seen_[site_of(position)] = 1;
    candidates.push_back(position);
  }
  closest_to_site_.clear(at_site_.size());
  for (std::size_t position = block.begin; position < block.end; ++position) {
    if (position >= block.part_begin && position < block.part_end) continue;
    const std::size_t site = site_of(position);
    if (!closest_to_site_.has(site)) closest_to_site_[site] = closest_of(candidates, position);
    entries_[filled[position]++] = closest_to_site_[site];
  }
}

std::uint32_t IdealTables::closest_of(const std::vector<std::size_t>& candidates,
                                      std::size_t position) const {
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

void IdealTables::find_neighbors() {
  const std::size_t wanted = config_.neighborhood_size + 1;
  neighbors_.resize(at_site_.size());
  std::vector<std::pair<double, std::size_t>> sites(at_site_.size());
  for (std::size_t here = 0; here < at_site_.size(); ++here) {
    for (std::size_t there = 0; there < at_site_.size(); ++there) {
      sites[there] = {site_distance(at_site_[here], at_site_[there], ring_, topology_), there};
    }
    // A heap, closest first: no more than a few of thousands of sites are wanted.
    std::make_heap(sites.begin(), sites.end(), std::greater<>());
    std::vector<std::pair<double, std::uint32_t>> found;
    for (auto end = sites.end(); end != sites.begin(); --end) {
      const auto [distance, site] = sites.front();
      if (found.size() >= wanted && distance > found.back().first) break;
      for (const std::size_t position : at_site_[site]) {
        found.emplace_back(distance, static_cast<std::uint32_t>(position));
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
