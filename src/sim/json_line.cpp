#include "sim/json_line.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

namespace canopy::sim {

namespace {

std::string quoted(std::string_view text) {
  return boost::json::serialize(boost::json::value(boost::json::string_view(text)));
}

std::string decimal(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  const std::size_t last = text.find_last_not_of('0');
  text.resize(last == point ? point + 2 : last + 1);
  return text;
}

template <class Values, class Write>
std::string list(const Values& values, Write&& write) {
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
  body_ += quoted(field);
  body_ += ": ";
  body_ += json;
  return *this;
}

JsonLine& JsonLine::add(std::string_view field, std::string_view text) {
  return raw(field, quoted(text));
}

JsonLine& JsonLine::add(std::string_view field, bool value) {
  return raw(field, value ? "true" : "false");
}

JsonLine& JsonLine::add(std::string_view field, std::uint64_t value) {
  return raw(field, fmt::format("{}", value));
}

JsonLine& JsonLine::add(std::string_view field, double value, int decimals) {
  return raw(field, decimal(value, decimals));
}

JsonLine& JsonLine::add(std::string_view field, const std::vector<std::string>& texts) {
  return raw(field, list(texts, quoted));
}

JsonLine& JsonLine::add(std::string_view field, const std::vector<double>& values, int decimals) {
  return raw(field, list(values, [decimals](double value) { return decimal(value, decimals); }));
}

JsonLine& JsonLine::add(std::string_view field, const JsonLine& object) {
  return raw(field, object.text());
}

}  // namespace canopy::sim
