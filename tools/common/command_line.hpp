// Brings a program's option table together with the world: the words of its
// command line, its environment and its configuration file.
#pragma once

#include <optional>
#include <string>

#include "base/option_table.hpp"

namespace canopy::tools {

struct CommandLineText {
  std::string summary;   // what the program is, above the options
  std::string examples;  // below them
};

// Fills the table's variables. An option named "config" gives the path of the
// configuration file. Prints help and version to standard output, and problems
// to standard error.
// Returns the exit status if the program is to stop here (0 after --help or
// --version, 2 after a mistake), nothing if it is to go on.
std::optional<int> read_command_line(OptionTable& table, const CommandLineText& text, int argc,
                                     const char* const* argv);

}  // namespace canopy::tools
