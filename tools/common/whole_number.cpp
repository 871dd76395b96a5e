#include "common/whole_number.hpp"

#include <cstdint>

#include "base/option_value.hpp"

namespace canopy::tools {

std::string counting_number(const std::string& text) {
  const auto value = OptionValue<std::uint64_t>::parse(text);
  if (value && *value >= 1) return "";
  return "'" + text + "' is no number from 1 to " + std::to_string(UINT64_MAX);
}

}  // namespace canopy::tools
