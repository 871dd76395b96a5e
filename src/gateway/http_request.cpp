#include "gateway/http_request.hpp"

#include <algorithm>

namespace canopy::gateway {

std::string_view Request::path() const noexcept { return target.substr(0, target.find('?')); }

std::string_view Request::query() const noexcept {
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

std::string_view Request::field(std::string_view lower_case_name) const noexcept {
  for (const Field& field : fields)
    if (equal_ignoring_case(field.name, lower_case_name)) return field.value;
  return {};
}

bool equal_ignoring_case(std::string_view text, std::string_view lower_case) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [&](char a, char b) { return lower(a) == b; });
}

}  // namespace canopy::gateway
