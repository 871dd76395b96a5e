// A progress bar on standard error, where that is a terminal; nothing elsewhere.
#pragma once

#include <chrono>
#include <string_view>

namespace canopy::tools {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Draws at most ten times a second, or when `what` is another; that has to stay
  // until the next call. `done`: 0 to 1.
  void show(std::string_view what, double done);
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::string_view what_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace canopy::tools
