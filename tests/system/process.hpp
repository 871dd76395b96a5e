// A child process with its output, for tests: killed and reaped at the latest
// when its object goes. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace canopy::system_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Process {
 public:
  // `arguments` begin with the program's path. Both outputs go to files
  // `stem`.out and `stem`.err.
  Process(const std::vector<std::string>& arguments, const std::string& stem);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  bool running();

  // The exit status, 128 + N for one that signal N ended; nothing if it still
  // runs after that time.
  std::optional<int> wait(milliseconds time_max);

  // Starts anew with the same arguments, after an end.
  void start();

  std::string out() const;
  std::string err() const;
  pid_t pid() const noexcept { return pid_; }

  // Resident memory, its part that is shared with nobody, in KiB.
  long resident_kib() const;

 private:
  std::vector<std::string> arguments_;
  std::string stem_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// Polls until the condition holds; false if it does not within that time.
template <class Condition>
bool eventually(milliseconds time_max, Condition condition);

void pause_briefly();

template <class Condition>
bool eventually(milliseconds time_max, Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + time_max;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    pause_briefly();
  }
  return true;
}

}  // namespace canopy::system_test
