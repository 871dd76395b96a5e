// What CLI11 has against a command line, in words that say what to do.
#pragma once

#include <string>

namespace CLI {
class ParseError;
}  // namespace CLI

namespace canopy::tools {

std::string words_for(const CLI::ParseError& error);

}  // namespace canopy::tools
