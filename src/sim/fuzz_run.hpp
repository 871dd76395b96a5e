// Carries a FuzzPlan out and judges what comes of it.
//
// While the ring grows without faults: a node that becomes active knows its
// active neighbours and they know it, and no key has two active deliverers.
// Always: no member gets a message twice, ordered groups keep their promises
// (order_checker.hpp), so do tracked publishes (track_checker.hpp), and so do anycasts and requests
// (request_checker.hpp). Once faults have ended and
// time to mend has passed: leaf sets exact, one deliverer per key (ties included), trees acyclic
// and reaching every member, nobody with too many children or in the way of one alone, roots and
// watchers know how many members there are (presence_checker.hpp), what is published then reaches
// every member once, and after the death of a root can still be asked for as the last message. The
// judgement uses global knowledge, never the protocol's.
#pragma once

#include <cstdint>

#include "sim/checkers.hpp"
#include "sim/simulation.hpp"

namespace canopy::sim {

struct FuzzOptions {
  std::uint64_t seed = 1;
  bool hard = false;  // half of the schedules are
  bool encode = false;
  std::ostream* trace = nullptr;  // must outlive the run
};

struct FuzzOutcome {
  Findings findings;  // nothing if all is well
  std::uint64_t trace_hash = 0;
  std::uint64_t events = 0;
  Duration virtual_time{};
  std::uint64_t ordered_deliveries = 0;
  std::uint64_t ordered_gaps = 0;
  std::uint64_t tracked_answers = 0;
  std::uint64_t tracked_complete = 0;
  std::uint64_t anycasts_taken = 0;
  std::uint64_t replies = 0;
};

FuzzOutcome run_fuzz(const FuzzOptions& options);

}  // namespace canopy::sim
