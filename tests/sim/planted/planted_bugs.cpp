// Plants the bug that the environment variable CANOPY_PLANTED_BUG names.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "pastry/planted_bug.hpp"
#include "scribe/planted_bug.hpp"

namespace canopy {

namespace {

struct Planted {
  std::string_view name;
  pastry::PlantedBug in_pastry = pastry::PlantedBug::none;
  scribe::PlantedBug in_scribe = scribe::PlantedBug::none;
};

constexpr Planted bugs[] = {
    {.name = "activation-skipped", .in_pastry = pastry::PlantedBug::activation_skipped},
    {.name = "tie-broken-wrongly", .in_pastry = pastry::PlantedBug::tie_broken_wrongly},
    {.name = "table-passed-over", .in_pastry = pastry::PlantedBug::table_passed_over},
    {.name = "lease-not-waited-for", .in_pastry = pastry::PlantedBug::lease_not_waited_for},
    {.name = "evicted-by-hearsay", .in_pastry = pastry::PlantedBug::evicted_by_hearsay},
    {.name = "leave-not-pruned", .in_scribe = scribe::PlantedBug::leave_not_pruned},
    {.name = "gap-not-told", .in_scribe = scribe::PlantedBug::gap_not_told},
    {.name = "lost-forgotten", .in_scribe = scribe::PlantedBug::lost_forgotten},
    {.name = "word-not-repeated", .in_scribe = scribe::PlantedBug::word_not_repeated},
    {.name = "last-not-fetched", .in_scribe = scribe::PlantedBug::last_not_fetched},
    {.name = "right-not-checked", .in_scribe = scribe::PlantedBug::right_not_checked},
    {.name = "anycast-retaken", .in_scribe = scribe::PlantedBug::anycast_retaken},
    {.name = "moves-forgotten", .in_scribe = scribe::PlantedBug::moves_forgotten},
};

const Planted& chosen() {
  const char* const name = std::getenv("CANOPY_PLANTED_BUG");
  for (const Planted& bug : bugs) {
    if (name != nullptr && bug.name == name) return bug;
  }
  std::fputs("CANOPY_PLANTED_BUG is to name one of:\n", stderr);
  for (const Planted& bug : bugs) std::fprintf(stderr, "  %s\n", bug.name.data());
  std::exit(2);
}

}  // namespace

const pastry::PlantedBug pastry::planted_bug = chosen().in_pastry;
const scribe::PlantedBug scribe::planted_bug = chosen().in_scribe;

}  // namespace canopy
