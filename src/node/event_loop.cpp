#include "node/event_loop.hpp"

#include <csignal>

#include <pthread.h>

namespace canopy::node {

void EventLoop::start() {
  // Signals belong to the application's threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { context_.run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
