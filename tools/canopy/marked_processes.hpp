// Processes that have a certain entry in their environment, which what they start
// inherits, whatever group or session it is in.
#pragma once

#include <string>

namespace canopy::tools {

// Kills all that have `entry`, NAME=VALUE, until there are none. Not found: who was
// started with an environment without it, or belongs to another user.
void kill_marked_processes(const std::string& entry) noexcept;

}  // namespace canopy::tools
