#include "common/parse_error.hpp"

#include <string_view>

#include <CLI/Error.hpp>

namespace canopy::tools {

std::string words_for(const CLI::ParseError& error) {
  const std::string text = error.what();
  // "--name: 1 required TEXT missing"
  if (error.get_name() == "ArgumentMismatch" && text.ends_with(" missing"))
    return text.substr(0, text.find(':')) + ": no value is given";
  if (text == "A subcommand is required") return "no command";
  return text;
}

}  // namespace canopy::tools
