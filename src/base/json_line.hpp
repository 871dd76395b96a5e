// One JSON object on one line, its fields in the order in which they are added
// (Boost.JSON writes numbers in exponential notation, which nobody wants to read).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace canopy {

class JsonLine {
 public:
  JsonLine& add(std::string_view field, std::string_view text);
  JsonLine& add(std::string_view field, const char* text) {
    return add(field, std::string_view(text));
  }
  JsonLine& add(std::string_view field, bool value);
  JsonLine& add(std::string_view field, std::uint64_t value);
  // With so many decimals, trailing zeros left out but for one.
  JsonLine& add(std::string_view field, double value, int decimals);
  JsonLine& add(std::string_view field, const std::vector<std::string>& texts);
  JsonLine& add(std::string_view field, const std::vector<double>& values, int decimals);
  JsonLine& add(std::string_view field, const JsonLine& object);

  std::string text() const { return "{" + body_ + "}"; }

 private:
  JsonLine& raw(std::string_view field, std::string_view json);

  std::string body_;
};

}  // namespace canopy
