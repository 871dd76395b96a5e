#include "node/event_loop.hpp"

#include "net/thread.hpp"
#include "node/signal_guard.hpp"

namespace canopy::node {

void EventLoop::start() {
  const SignalGuard guard;
  thread_ = std::thread([this] {
    net::begin_serving_thread(name_);
    context_.run();
  });
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
