// The --header options of a command line, taken apart.
#pragma once

#include <string>
#include <vector>

#include "wire/content.hpp"

namespace canopy::tools {

// Each word is KEY=VALUE. Throws UsageError, which names the command, also for more
// than a message may have.
wire::Headers parse_headers(const std::string& command, const std::vector<std::string>& words);

}  // namespace canopy::tools
