// How the values of options are written: on the command line, in the
// environment and in configuration files alike.
//
// OptionValue<T> parses and prints one T. parse() gives nothing for a text that
// is no T; ranges and choices are checked by the option, which knows them.
// Plain functions without state.
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/peer.hpp"
#include "base/time.hpp"

namespace canopy {

// "500ms", "2s", "20min", "1h", "250us": a whole number and a unit, not negative.
std::optional<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration span);

// "65536", "64KiB", "1MiB", "2GiB".
std::optional<std::uint64_t> parse_byte_size(std::string_view text);
std::string format_byte_size(std::uint64_t bytes);

// "host:port", "192.0.2.1:7400", "[2001:db8::1]:7400".
std::optional<Endpoint> parse_endpoint(std::string_view text);
std::string format_endpoint(const Endpoint& endpoint);

template <class T>
struct OptionValue;

template <>
struct OptionValue<std::string> {
  static constexpr std::string_view value_name = "TEXT";
  static constexpr std::string_view what = "a text";
  static std::optional<std::string> parse(std::string_view text) { return std::string(text); }
  static std::string format(const std::string& value) { return value; }
};

template <>
struct OptionValue<bool> {
  static constexpr std::string_view value_name = "BOOL";
  static constexpr std::string_view what = "true or false";
  static std::optional<bool> parse(std::string_view text);
  static std::string format(bool value) { return value ? "true" : "false"; }
};

template <std::integral T>
struct OptionValue<T> {
  static constexpr std::string_view value_name = "N";
  static constexpr std::string_view what = "an integer";
  static std::optional<T> parse(std::string_view text) {
    T value{};
    const char* end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
  }
  static std::string format(T value) { return std::to_string(value); }
};

template <>
struct OptionValue<Duration> {
  static constexpr std::string_view value_name = "DURATION";
  static constexpr std::string_view what = "a duration such as 500ms, 2s or 20min";
  static std::optional<Duration> parse(std::string_view text) { return parse_duration(text); }
  static std::string format(Duration value) { return format_duration(value); }
};

template <>
struct OptionValue<std::chrono::seconds> {
  static constexpr std::string_view value_name = "DURATION";
  static constexpr std::string_view what = "whole seconds such as 30s, 20min or 12h";
  static std::optional<std::chrono::seconds> parse(std::string_view text);
  static std::string format(std::chrono::seconds value);
};

template <>
struct OptionValue<Endpoint> {
  static constexpr std::string_view value_name = "HOST:PORT";
  static constexpr std::string_view what =
      "HOST:PORT, such as 127.0.0.1:7400, [::1]:7400 or peer.example.net:7400";
  static std::optional<Endpoint> parse(std::string_view text) { return parse_endpoint(text); }
  static std::string format(const Endpoint& value) { return format_endpoint(value); }
};

}  // namespace canopy
