// Text of others on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace canopy::tools {

// Fit for a terminal: control characters and bytes that are no UTF-8 become
// \n, \t, \x1b and the like.
std::string escaped(std::string_view text);

}  // namespace canopy::tools
