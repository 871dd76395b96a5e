// Measures an SQS endpoint with queues of its own, which it creates, and deletes
// at the end.
#pragma once

#include <cstdint>
#include <optional>

#include "canopy-bench/load_plan.hpp"

namespace canopy::tools {

struct BenchSettings {
  Mode mode = Mode::send;
  Batch batch;
  double seconds = 5;
  double warm_up_seconds = 1;
  std::optional<double> rate;
  // What the queues hold before it receives. Without it: what can be sent in
  // the time of the run, up to 100,000.
  std::optional<std::uint64_t> backlog;
  // Messages of one more group before all others, whose first is being received; FIFO only.
  std::uint64_t blocked = 0;
  unsigned queues = 1;
};

struct BenchResult {
  Counts counts;
  // Messages in the queues in the end, if the server says so.
  std::optional<std::uint64_t> reported;
  std::uint64_t expected = 0;

  // The server did not do what it acknowledged.
  bool wrong(bool fifo) const;
};

// Throws std::runtime_error.
BenchResult run_queue_bench(LoadPlan plan, const BenchSettings& settings);

// The same load on a server that answers with what it is sent.
BenchResult run_echo_bench(const LoadPlan& plan, const BenchSettings& settings);

}  // namespace canopy::tools
