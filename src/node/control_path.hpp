// Where a daemon's control socket lies when nobody says so.
#pragma once

#include <string>

namespace canopy::node {

// $XDG_RUNTIME_DIR/canopy/control.sock, or /tmp/canopy-UID/control.sock where
// there is no such directory: one daemon per user finds it without options.
std::string default_control_path();

// Makes the directory of that socket, for its owner only. Does nothing for any
// other path. Throws net::ListenError if somebody else could get at it.
void prepare_control_directory(const std::string& path);

}  // namespace canopy::node
