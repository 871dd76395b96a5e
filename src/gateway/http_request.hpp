// A request as it came over HTTP, and the answer to it: plain values.
//
// A Request views the connection's memory and lasts no longer than the request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace canopy::gateway {

struct Field {
  std::string_view name;  // as sent
  std::string_view value;
};

struct Request {
  std::string_view method;
  std::string_view target;  // path and query, not decoded
  std::vector<Field> fields;
  std::string_view body;
  bool secure = false;  // came over TLS

  std::string_view path() const noexcept;
  std::string_view query() const noexcept;  // without its '?'
  // The first field of the name, which is given in lower case; empty: none.
  std::string_view field(std::string_view lower_case_name) const noexcept;
};

struct Answer {
  unsigned status = 200;
  std::string_view content_type;
  std::string request_id;
  std::string query_error;  // the header x-amzn-query-error, if any
  std::string body;
};

// ASCII only.
bool equal_ignoring_case(std::string_view text, std::string_view lower_case) noexcept;

}  // namespace canopy::gateway
