// The daemon: a Node, its control socket, signals and log.
#pragma once

#include "node/daemon_settings.hpp"

namespace canopy::node {

// Runs until SIGTERM, SIGINT or a Shutdown over the control socket: departs
// cleanly then, and at once upon a second signal. Prints the daemon's addresses
// to standard output as soon as it listens, problems that end it in one line to
// standard error, and the log there as well, by a thread of its own so that
// nobody waits for it. The exit status: 0, or 1 for failure.
// Takes over signals, standard output and spdlog's default logger.
int run_daemon(const DaemonSettings& settings);

}  // namespace canopy::node
