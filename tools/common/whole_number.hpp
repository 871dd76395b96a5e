// Numbers on a command line.
#pragma once

#include <string>

namespace canopy::tools {

// What is wrong with it, for CLI11, which would take -1 for the largest number
// there is and cut what is larger; empty if nothing is.
std::string whole_number(const std::string& text);     // from 0 on
std::string counting_number(const std::string& text);  // from 1 on

}  // namespace canopy::tools
