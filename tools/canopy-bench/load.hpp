// All threads of a load, and what they share. A progress bar shows each phase;
// SIGINT and SIGTERM end it early. One at a time; belongs to one thread.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "canopy-bench/ledger.hpp"
#include "canopy-bench/load_plan.hpp"
#include "canopy-bench/load_worker.hpp"

namespace canopy::tools {

class Load {
 public:
  // The plan must outlive it. Connects. Throws std::runtime_error.
  explicit Load(const LoadPlan& plan);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Starts it now. Throws std::runtime_error when going on makes no sense.
  Counts run(std::string_view what, Phase phase, double seconds_max);

  Ledger& ledger() noexcept { return ledger_; }
  // By a signal: start nothing more.
  bool interrupted() const noexcept;

 private:
  Ledger ledger_;
  std::vector<std::unique_ptr<LoadWorker>> workers_;
};

}  // namespace canopy::tools
