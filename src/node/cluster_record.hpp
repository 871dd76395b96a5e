// Puts the UUID of the cluster that a node has joined on disk; while the disk
// refuses (it is full), again after growing pauses. Says so once, and once more
// when it is there.
//
// On the overlay's thread; the timers must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/system/error_code.hpp>

#include "base/time.hpp"
#include "base/uuid.hpp"
#include "node/timer_queue.hpp"

namespace canopy::node {

class ClusterRecord {
 public:
  // Tries once, then calls `kept` on the overlay's thread.
  using Keep =
      std::function<void(const Uuid& cluster, std::function<void(boost::system::error_code)> kept)>;

  // `name`: this node's, for the log.
  ClusterRecord(std::string name, TimerQueue& timers, Keep keep);
  ~ClusterRecord() { timers_.cancel(retry_); }
  ClusterRecord(const ClusterRecord&) = delete;
  ClusterRecord& operator=(const ClusterRecord&) = delete;

  void store(const Uuid& cluster);

  std::uint64_t failures() const noexcept { return failures_; }  // tries, since the start

 private:
  void tried(const Uuid& cluster, boost::system::error_code error);

  static constexpr Duration pause_min = std::chrono::seconds(1);
  static constexpr Duration pause_max = std::chrono::seconds(60);

  const std::string name_;
  TimerQueue& timers_;
  const Keep keep_;
  TimerQueue::Entry retry_ = TimerQueue::none;
  Duration pause_ = pause_min;
  std::uint64_t failures_ = 0;
};

}  // namespace canopy::node
