#include "base/option_value.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace canopy {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

// Ascending, so that the largest unit that divides a value comes last.
constexpr std::array<Unit, 5> duration_units{
    {{"us", 1}, {"ms", 1'000}, {"s", 1'000'000}, {"min", 60'000'000}, {"h", 3'600'000'000}}};
constexpr std::array<Unit, 4> size_units{
    {{"", 1}, {"KiB", 1U << 10}, {"MiB", 1U << 20}, {"GiB", 1U << 30}}};

// A whole number followed by one of the units, nothing on overflow past `max`.
template <std::size_t N>
std::optional<std::uint64_t> parse_with_unit(std::string_view text,
                                             const std::array<Unit, N>& units, std::uint64_t max) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view name(stop, static_cast<std::size_t>(end - stop));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number > max / unit.size) return std::nullopt;
    return number * unit.size;
  }
  return std::nullopt;
}

template <std::size_t N>
std::string format_with_unit(std::uint64_t value, const std::array<Unit, N>& units) {
  const Unit* best = &units[0];
  for (const Unit& unit : units)
    if (value != 0 && value % unit.size == 0) best = &unit;
  return std::to_string(value / best->size) + std::string(best->name);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  return OptionValue<std::uint16_t>::parse(text);
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  auto count = parse_with_unit(text, duration_units, max);
  if (!count) return std::nullopt;
  return Duration(static_cast<std::int64_t>(*count));
}

std::string format_duration(Duration span) {
  if (span.count() == 0) return "0s";
  return format_with_unit(static_cast<std::uint64_t>(span.count()), duration_units);
}

std::optional<std::uint64_t> parse_byte_size(std::string_view text) {
  return parse_with_unit(text, size_units, std::numeric_limits<std::uint64_t>::max());
}

std::string format_byte_size(std::uint64_t bytes) { return format_with_unit(bytes, size_units); }

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return std::nullopt;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;  // an IPv6 address needs brackets
  }
  auto port = parse_port(text.substr(colon + 1));
  if (host.empty() || !port) return std::nullopt;
  return Endpoint{std::string(host), *port};
}

std::string format_endpoint(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  return (v6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

std::optional<bool> OptionValue<bool>::parse(std::string_view text) {
  for (std::string_view yes : {"true", "yes", "on", "1"})
    if (text == yes) return true;
  for (std::string_view no : {"false", "no", "off", "0"})
    if (text == no) return false;
  return std::nullopt;
}

std::optional<std::chrono::seconds> OptionValue<std::chrono::seconds>::parse(
    std::string_view text) {
  const auto span = parse_duration(text);
  if (!span || *span % std::chrono::seconds(1) != Duration()) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*span);
}

std::string OptionValue<std::chrono::seconds>::format(std::chrono::seconds value) {
  constexpr auto max = std::chrono::floor<std::chrono::seconds>(Duration::max());
  return format_duration(std::clamp(value, -max, max));
}

}  // namespace canopy
