// Keeps the peers that a node remembers across restarts on disk: looks at the ring now
// and then, and writes when there is news of whom to remember.
//
// On the overlay's thread; the timers must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/time.hpp"
#include "node/known_peers.hpp"
#include "node/timer_queue.hpp"

namespace canopy::node {

class PeerRecord {
 public:
  // Tries once, then calls `kept` on the overlay's thread.
  using Keep =
      std::function<void(KnownPeers peers, std::function<void(boost::system::error_code)> kept)>;
  // The addresses of the ring's peers, nearest first; none if it is alone.
  using Look = std::function<std::vector<std::string>()>;

  // `name`: this node's, for the log.
  PeerRecord(std::string name, TimerQueue& timers, Keep keep, Look look);
  ~PeerRecord() { stop(); }
  PeerRecord(const PeerRecord&) = delete;
  PeerRecord& operator=(const PeerRecord&) = delete;

  // What the disk had, before start().
  void restore(KnownPeers peers);

  void start();     // looks at once and from then on
  void look_now();  // where the next look would be too late
  void stop() { timers_.cancel(next_look_); }

  std::uint64_t failures() const noexcept { return failures_; }  // tries, since the start

 private:
  static constexpr Duration pause = std::chrono::seconds(5);

  void write();
  void tried(const KnownPeers& peers, boost::system::error_code error);

  const std::string name_;
  TimerQueue& timers_;
  const Keep keep_;
  const Look look_;
  KnownPeers peers_;
  KnownPeers on_disk_;
  bool under_way_ = false;
  bool failing_ = false;
  std::uint64_t failures_ = 0;
  TimerQueue::Entry next_look_ = TimerQueue::none;
};

}  // namespace canopy::node
