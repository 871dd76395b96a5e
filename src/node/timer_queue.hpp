// Calls at points of the boot clock, all by one system timer.
//
// Calls due at the same time run in the order in which they were set, never
// within at(). One thread, the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/time.hpp"
#include "net/clock.hpp"
#include "node/boot_timer.hpp"

namespace canopy::node {

class TimerQueue {
 public:
  using Call = std::function<void()>;
  using Entry = std::pair<MonoTime, std::uint64_t>;  // names a call that waits

  // Names no call.
  static constexpr Entry none{never, 0};

  explicit TimerQueue(boost::asio::io_context& loop) : timer_(loop, [this] { expire(); }) {}

  Entry at(MonoTime deadline, Call call);
  Entry after(Duration span, Call call) { return at(net::mono_now() + span, std::move(call)); }

  // Nothing happens if it has run, or is none.
  void cancel(const Entry& entry);

 private:
  void expire();
  void arm();

  std::map<Entry, Call> calls_;
  std::uint64_t last_ = 0;
  MonoTime armed_ = never;
  BootTimer timer_;
};

}  // namespace canopy::node
