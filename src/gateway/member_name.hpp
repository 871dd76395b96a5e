// A member's name in both protocols. Plain values.
#pragma once

#include <string_view>

namespace canopy::gateway {

// In AWS JSON, and in the query protocol and its XML, which name a list by its
// element.
struct MemberName {
  std::string_view json;
  std::string_view query;

  constexpr MemberName(const char* same) : json(same), query(same) {}
  constexpr MemberName(const char* j, const char* q) : json(j), query(q) {}
};

}  // namespace canopy::gateway
