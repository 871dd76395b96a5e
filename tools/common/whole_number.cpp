#include "common/whole_number.hpp"

#include <cstdint>

#include "base/option_value.hpp"

namespace canopy::tools {

namespace {

std::string problem_with(const std::string& text, std::uint64_t min) {
  const auto value = OptionValue<std::uint64_t>::parse(text);
  if (value && *value >= min) return "";
  return "'" + text + "' is no number from " + std::to_string(min) + " to " +
         std::to_string(UINT64_MAX);
}

}  // namespace

std::string whole_number(const std::string& text) { return problem_with(text, 0); }

std::string counting_number(const std::string& text) { return problem_with(text, 1); }

}  // namespace canopy::tools
