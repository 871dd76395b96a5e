#include "node/event_loop.hpp"

#include <pthread.h>

#include "node/signal_guard.hpp"

namespace canopy::node {

void EventLoop::start() {
  const SignalGuard guard;
  thread_ = std::thread([this] { context_.run(); });
  ::pthread_setname_np(thread_.native_handle(), name_);
}

void EventLoop::stop() {
  context_.stop();
  if (thread_.joinable()) thread_.join();
}

void EventLoop::drain() {
  work_.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace canopy::node
