// Numbers on a command line.
#pragma once

#include <string>

namespace canopy::tools {

// What is wrong with it as a number from 1 on, for CLI11, which would take -1 for
// the largest number there is and cut what is larger; empty if nothing is.
std::string counting_number(const std::string& text);

}  // namespace canopy::tools
