#include "canopy-bench/load.hpp"

#include <algorithm>
#include <csignal>
#include <future>
#include <stop_token>

#include "common/progress_bar.hpp"

namespace canopy::tools {

namespace {

constexpr auto look_interval = std::chrono::milliseconds(50);

volatile std::sig_atomic_t signalled = 0;

void note_signal(int /*signal*/) { signalled = 1; }

Clock::duration in_seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// How far the phase is, 0 to 1.
double progress(const Phase& phase) {
  const std::chrono::duration<double> gone = Clock::now() - phase.start;
  return std::min(1.0, gone / std::chrono::duration<double>(phase.end - phase.start));
}

}  // namespace

Load::Load(const LoadPlan& plan) : ledger_(plan.size, plan.connections) {
  for (unsigned i = 0; i < plan.threads; ++i)
    workers_.push_back(std::make_unique<LoadWorker>(plan, ledger_, i));
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
}

Load::~Load() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Load::interrupted() const noexcept { return signalled != 0; }

Counts Load::run(std::string_view what, Phase phase, double seconds_max) {
  ProgressBar bar;
  std::stop_source stop;
  if (phase.rate) *phase.rate /= static_cast<double>(workers_.size());
  phase.start = Clock::now();
  phase.end = phase.start + in_seconds(seconds_max);
  std::vector<std::future<Counts>> results;
  for (const auto& worker : workers_)
    results.push_back(std::async(std::launch::async, [&worker = *worker, &phase, &stop] {
      return worker.run(phase, stop.get_token());
    }));
  Counts counts;
  try {
    for (auto& result : results) {
      while (result.wait_for(look_interval) != std::future_status::ready) {
        bar.show(what, progress(phase));
        if (interrupted()) stop.request_stop();
      }
      counts.add(result.get());
    }
  } catch (...) {
    stop.request_stop();
    throw;
  }
  return counts;
}

}  // namespace canopy::tools
