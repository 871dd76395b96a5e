// Writes an answer's head (HTTP/1.1, RFC 9112). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/http_request.hpp"

namespace canopy::gateway {

struct AnswerFrame {
  int version = 11;
  bool keep_alive = true;
  std::string_view date;  // as format_http_date() writes it
};

// Appends everything before the body.
void append_head(const Answer& answer, const AnswerFrame& frame, std::string& out);

// "Sun, 06 Nov 1994 08:49:37 GMT", of seconds since 1970.
std::string format_http_date(std::int64_t seconds);

}  // namespace canopy::gateway
