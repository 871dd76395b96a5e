// The text of a configuration file (TOML) as a flat list of option values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace canopy {

struct OptionFileEntry {
  std::string name;  // "leaf-set", "pastry.probe-timeout"
  std::vector<std::string> values;
  bool list = false;
  unsigned line = 0;
};

struct OptionFile {
  std::vector<OptionFileEntry> entries;  // in the file's order
  std::vector<std::string> problems;     // "canopy.toml:3: ..."
};

// Never throws for what the text holds.
OptionFile parse_option_file(std::string_view file_name, std::string_view text);

}  // namespace canopy
