// Who may found a cluster, and who may go on alone.
//
// Founding draws the cluster's UUID, and rings of different UUIDs never merge:
// so a node founds only if it was told of no seed and has no past, or if it was
// allowed to (found) and no seed answers. A node whose data directory names a
// cluster never founds; it waits for its seeds and for the peers that it knew, and
// forms a ring of one when none answers. Plain functions.
#pragma once

#include <cstdint>

#include "base/id.hpp"

namespace canopy::node {

struct FoundingFacts {
  bool has_seeds = false;    // --join
  bool may_found = false;    // --found
  bool is_member = false;    // the data directory names a cluster
  bool knows_peers = false;  // the data directory names peers of it
};

enum class FoundingStep : std::uint8_t {
  found,      // draw a UUID, be active
  resume,     // be the only one, for now, of the cluster that one belongs to
  ask_seeds,  // join by way of a seed, or of a peer known from before
};

constexpr FoundingStep first_step(const FoundingFacts& facts) noexcept {
  if (facts.has_seeds || (facts.is_member && facts.knows_peers)) return FoundingStep::ask_seeds;
  return facts.is_member ? FoundingStep::resume : FoundingStep::found;
}

// What to do when patience has run out and no seed has answered.
constexpr FoundingStep step_without_seeds(const FoundingFacts& facts) noexcept {
  if (facts.is_member) return FoundingStep::resume;
  return facts.may_found ? FoundingStep::found : FoundingStep::ask_seeds;
}

}  // namespace canopy::node
