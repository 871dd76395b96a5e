// The choice of the next hop: Rowstron and Druschel (2001), section 2.3.
//
// (1) A key within the range of the leaf set goes to the leaf numerically
// closest to it, or ends here. (2) Otherwise the routing table's entry for the
// key's next digit. (3) Where that is empty or suspected, of all known peers
// that share at least as long a prefix with the key and are numerically closer
// to it than this node, the numerically closest.
//
// A suspect is avoided in (2) and (3) only. In (1) it stays the root until it
// is evicted: to pass it over would put two roots on one key for as long as the
// suspicion is wrong.
#pragma once

#include <cstdint>

#include "pastry/node_state.hpp"
#include "pastry/prober.hpp"

namespace canopy::pastry {

class Router {
 public:
  Router(const NodeState& state, const Prober& prober) : state_(state), prober_(prober) {}

  enum class Rule : std::uint8_t { leaf_set, table, rare };
  struct Hop {
    PeerRef peer;  // empty: this node is the root
    Rule rule = Rule::leaf_set;
  };

  Hop next_hop(const Id& key, const Except& except) const;

 private:
  PeerRef rare_case(const Id& key, const Except& except, bool suspects) const;

  const NodeState& state_;
  const Prober& prober_;
};

}  // namespace canopy::pastry
