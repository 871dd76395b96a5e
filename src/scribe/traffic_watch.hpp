// Notices that a parent that was sending all the time has fallen silent.
//
// Heartbeats tell after seconds that a parent is gone. Where multicasts come
// every few milliseconds, a pause says it sooner, though not surely: the
// publisher may have stopped. So the parent is asked, and only one that does not
// answer in time is given up. It is asked once a pause. Sixteen bytes, no I/O.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace canopy::scribe {

class TrafficWatch {
 public:
  // Everything is measured in shares of the heartbeat interval.
  // The parent is heard from, so long after the time before.
  void heard(Duration since_last, Duration interval) noexcept {
    average_ = std::min(average_, interval);
    average_ += (std::min(since_last, interval) - average_) / samples;
    listen_anew();
  }
  void listen_anew() noexcept { asked_ = never; }

  // When a parent that was heard from last then is to be asked.
  MonoTime quiet_at(MonoTime heard, Duration interval) const noexcept {
    if (asked_ != never || average_ > interval / busy_share) return never;
    return heard + std::max(interval / patience_share, quiet_gaps * average_);
  }
  void ask(MonoTime now) noexcept { asked_ = now; }
  // When it should have answered.
  MonoTime answer_due(Duration interval) const noexcept {
    return asked_ == never || asked_ == answered_for ? never : asked_ + interval / patience_share;
  }
  // Nothing more comes of this pause.
  void conclude() noexcept { asked_ = answered_for; }

  static constexpr int patience_share = 10;  // the least of a pause, and for an answer

 private:
  static constexpr int samples = 8;      // that the average goes back to, about
  static constexpr int busy_share = 20;  // more often than this is traffic
  static constexpr int quiet_gaps = 16;  // of the usual length make a pause
  static constexpr MonoTime answered_for = MonoTime::min();

  Duration average_ = Duration::max();  // between two signs of life
  MonoTime asked_ = never;
};

}  // namespace canopy::scribe
