#include "base/json_line.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

namespace canopy {

namespace {

std::string json_text(std::string_view text) {
  return boost::json::serialize(boost::json::value(boost::json::string_view(text)));
}

std::string json_decimal(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  const std::size_t last = text.find_last_not_of('0');
  text.resize(last == point ? point + 2 : last + 1);
  return text;
}

template <class Values, class Write>
std::string json_list(const Values& values, Write&& write) {
  std::string text;
  for (const auto& value : values) {
    text += text.empty() ? "[" : ", ";
    text += write(value);
  }
  return text.empty() ? "[]" : text + "]";
}

}  // namespace

JsonLine& JsonLine::raw(std::string_view field, std::string_view json) {
  if (!body_.empty()) body_ += ", ";
  body_ += json_text(field);
  body_ += ": ";
  body_ += json;
  return *this;
}

JsonLine& JsonLine::add(std::string_view field, std::string_view text) {
  return raw(field, json_text(text));
}

JsonLine& JsonLine::add(std::string_view field, bool value) {
  return raw(field, value ? "true" : "false");
}

JsonLine& JsonLine::add(std::string_view field, std::uint64_t value) {
  return raw(field, fmt::format("{}", value));
}

JsonLine& JsonLine::add(std::string_view field, double value, int decimals) {
  return raw(field, json_decimal(value, decimals));
}

JsonLine& JsonLine::add(std::string_view field, const std::vector<std::string>& texts) {
  return raw(field, json_list(texts, json_text));
}

JsonLine& JsonLine::add(std::string_view field, const std::vector<double>& values, int decimals) {
  return raw(field,
             json_list(values, [decimals](double value) { return json_decimal(value, decimals); }));
}

JsonLine& JsonLine::add(std::string_view field, const JsonLine& object) {
  return raw(field, object.text());
}

}  // namespace canopy
