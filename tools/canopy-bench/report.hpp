// What a bench of requests prints: a table, or one object with --json.
#pragma once

#include "canopy-bench/queue_bench.hpp"

namespace canopy::tools {

void print_report(const LoadPlan& plan, const BenchSettings& settings, const BenchResult& result);
void print_json(const LoadPlan& plan, const BenchSettings& settings, const BenchResult& result);

}  // namespace canopy::tools
