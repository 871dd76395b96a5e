// Keeps signals from the threads that are started while it lives: they belong to
// the application's. Of the thread that made it.
#pragma once

#include <csignal>

#include <pthread.h>

namespace canopy::node {

class SignalGuard {
 public:
  SignalGuard() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalGuard() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  sigset_t before_;
};

}  // namespace canopy::node
