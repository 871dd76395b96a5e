#include "node/boot_timer.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <sys/timerfd.h>
#include <utility>

#include <boost/system/system_error.hpp>
#include <time.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace canopy::node {
namespace {

int open_timer() {
  int timer = ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer < 0)
    throw boost::system::system_error(errno, boost::system::system_category(), "timerfd_create");
  return timer;
}

timespec to_timespec(MonoTime time) {
  auto since_boot = time.time_since_epoch();
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot - seconds);
  return {static_cast<time_t>(seconds.count()), static_cast<long>(rest.count())};
}

}  // namespace

struct BootTimer::State : std::enable_shared_from_this<State> {
  State(boost::asio::io_context& loop, std::function<void()> call)
      : descriptor(loop, open_timer()), expired(std::move(call)) {}

  void wait() {
    descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [self = shared_from_this()](boost::system::error_code error) {
                            if (!error && !self->stopped) self->on_readable();
                          });
  }

  void on_readable() {
    std::uint64_t expirations = 0;
    // Nothing to read: it was set anew after it had expired.
    bool real = ::read(descriptor.native_handle(), &expirations, sizeof expirations) > 0;
    wait();
    if (real) expired();
  }

  boost::asio::posix::stream_descriptor descriptor;
  std::function<void()> expired;
  bool stopped = false;
};

BootTimer::BootTimer(boost::asio::io_context& loop, std::function<void()> expired)
    : state_(std::make_shared<State>(loop, std::move(expired))) {
  state_->wait();
}

BootTimer::~BootTimer() {
  state_->stopped = true;
  boost::system::error_code ignored;
  state_->descriptor.close(ignored);
}

void BootTimer::set(MonoTime deadline) {
  itimerspec when{};
  // All zero would stop it.
  if (deadline != never) when.it_value = to_timespec(std::max(deadline, MonoTime(Duration(1))));
  CANOPY_ASSERT(::timerfd_settime(state_->descriptor.native_handle(), TFD_TIMER_ABSTIME, &when,
                                  nullptr) == 0);
}

}  // namespace canopy::node
