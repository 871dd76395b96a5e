// A storage loop for tests: what is posted runs when the test runs it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/log.hpp"

namespace canopy::store {

class Loop {
 public:
  Post post() {
    return [this](std::function<void()> call) {
      std::lock_guard lock(mutex_);
      calls_.push_back(std::move(call));
      ++posted_;
      arrived_.notify_one();
    };
  }

  // Runs what is there.
  void run_ready() { run_once(std::chrono::steady_clock::now()); }

  // Runs what comes until `done`; false if that takes too long.
  template <typename Done>
  bool run_until(Done done) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      if (!run_once(deadline)) return false;
    }
    return true;
  }

  std::uint64_t posted() const {
    std::lock_guard lock(mutex_);
    return posted_;
  }

 private:
  bool run_once(std::chrono::steady_clock::time_point deadline) {
    std::vector<std::function<void()>> calls;
    {
      std::unique_lock lock(mutex_);
      if (!arrived_.wait_until(lock, deadline, [this] { return !calls_.empty(); })) return false;
      calls.swap(calls_);
    }
    for (const auto& call : calls) call();
    return true;
  }

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::function<void()>> calls_;
  std::uint64_t posted_ = 0;
};

// Keeps what a log said.
struct Told final : LogEvents {
  struct Failure {
    std::uint64_t first = 0;
    boost::system::error_code error;
  };
  void persisted(std::uint64_t index) override {
    EXPECT_GT(index, last);
    last = index;
  }
  void failed(std::uint64_t first, boost::system::error_code error) override {
    failures.push_back({first, error});
  }

  std::uint64_t last = 0;
  std::vector<Failure> failures;
};

}  // namespace canopy::store
