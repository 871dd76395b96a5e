// Bugs planted on purpose, to test that the simulator's checkers find them.
//
// A program of the tests (tests/sim/planted) is built with CANOPY_PLANTED_BUGS
// defined and chooses one of the values below; everything else is built without, and
// the branches vanish.
#pragma once

namespace canopy::pastry {

enum class PlantedBug {
  none = 0,
  activation_skipped = 1,    // a joiner is active before it has probed its leaves
  tie_broken_wrongly = 2,    // of two peers as close to a key, the larger id wins
  table_passed_over = 3,     // the next hop is never the routing table's entry
  lease_not_waited_for = 4,  // whoever is given up is replaced at once
  evicted_by_hearsay = 5,    // whoever is named as failed is given up unasked
};

#ifdef CANOPY_PLANTED_BUGS
extern const PlantedBug planted_bug;
#else
inline constexpr PlantedBug planted_bug = PlantedBug::none;
#endif

}  // namespace canopy::pastry
