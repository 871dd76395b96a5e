// Bugs planted on purpose, to test that the simulator's checkers find them.
//
// A program of the tests (tests/sim/planted) is built with CANOPY_PLANTED_BUGS
// defined and chooses one of the values below; everything else is built without, and
// the branches vanish.
#pragma once

namespace canopy::scribe {

enum class PlantedBug {
  none = 0,
  leave_not_pruned = 1,   // a forwarder stays when its last child has left
  gap_not_told = 2,       // a member of an ordered group is not told what it misses
  lost_forgotten = 3,     // a lost child is not missing in tracked multicasts
  word_not_repeated = 4,  // a word of members that got lost stays lost
  last_not_fetched = 5,   // a new root does not ask its children for a later message
  right_not_checked = 6,  // access lists keep nobody out
  anycast_retaken = 7,    // a member does not know what it has taken
  moves_forgotten = 8,    // numbers of members are complete while some are on the move
};

#ifdef CANOPY_PLANTED_BUGS
extern const PlantedBug planted_bug;
#else
inline constexpr PlantedBug planted_bug = PlantedBug::none;
#endif

}  // namespace canopy::scribe
