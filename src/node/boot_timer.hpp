// A timer that follows the machine's boot clock (net/clock.hpp), also while the
// machine sleeps. One of an event loop, used on its thread.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/time.hpp"

namespace canopy::node {

class BootTimer {
 public:
  // Throws boost::system::system_error if the system gives no timer.
  BootTimer(boost::asio::io_context& loop, std::function<void()> expired);
  BootTimer(const BootTimer&) = delete;
  BootTimer& operator=(const BootTimer&) = delete;
  ~BootTimer();

  // Expires at this time, at the earliest in the next turn of the loop; replaces
  // what was set before. `never` stops it.
  void set(MonoTime deadline);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace canopy::node
