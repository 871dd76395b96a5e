// The daemon's log: one line an event, as key=value pairs, to standard error.
#pragma once

#include "node/daemon_settings.hpp"

namespace canopy::node {

// Makes spdlog's default logger the daemon's while it lives. Lines are written
// by a thread of its own; where that does not keep up, the oldest are dropped, and
// the next line that is written follows one that tells how many.
class DaemonLog {
 public:
  explicit DaemonLog(LogLevel level);
  ~DaemonLog();  // writes what waits
  DaemonLog(const DaemonLog&) = delete;
  DaemonLog& operator=(const DaemonLog&) = delete;
};

}  // namespace canopy::node
