#include "gateway/http_answer.hpp"

#include <chrono>
#include <string>

#include <fmt/format.h>

namespace canopy::gateway {

namespace {

std::string_view phrase_of(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 417: return "Expectation Failed";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

void append_field(std::string_view name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

void append_head(const Answer& answer, const AnswerFrame& frame, std::string& out) {
  out.append("HTTP/1.1 ").append(fmt::format_int(answer.status).c_str());
  out.append(" ").append(phrase_of(answer.status)).append("\r\n");
  append_field("x-amzn-RequestId", answer.request_id, out);
  append_field("Content-Type", answer.content_type, out);
  append_field("x-amzn-query-error", answer.query_error, out);
  append_field("Date", frame.date, out);
  if (!frame.keep_alive) append_field("Connection", "close", out);
  if (frame.keep_alive && frame.version < 11) append_field("Connection", "keep-alive", out);
  out.append("Content-Length: ").append(fmt::format_int(answer.body.size()).c_str());
  out.append("\r\n\r\n");
}

std::string format_http_date(std::int64_t seconds) {
  using namespace std::chrono;
  constexpr const char* day_names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const sys_seconds time{std::chrono::seconds(seconds)};
  const auto midnight = floor<days>(time);
  const year_month_day day(midnight);
  const hh_mm_ss clock(time - midnight);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     day_names[weekday(midnight).c_encoding()], static_cast<unsigned>(day.day()),
                     month_names[static_cast<unsigned>(day.month()) - 1],
                     static_cast<int>(day.year()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

}  // namespace canopy::gateway
