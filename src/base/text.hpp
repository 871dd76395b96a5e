// Checks and conversions of text that several layers need. Safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace canopy {

// Longest name of a peer, group, creator, cluster or zone, in bytes.
inline constexpr std::size_t max_name_size = 255;

// Bytes of the UTF-8 character (RFC 3629) at the front; 0 if there is none.
std::size_t utf8_size(std::string_view text) noexcept;

bool is_utf8(std::string_view text) noexcept;

// Whether one UTF-8 character is a control character.
bool is_control(std::string_view character) noexcept;

// Whether it is UTF-8 without control characters, so that it can be
// written to logs and terminals as it is.
bool is_printable(std::string_view text) noexcept;

// 1 to 255 bytes of printable text.
bool is_valid_name(std::string_view name) noexcept;

// The value of a hexadecimal digit of either case.
std::optional<unsigned> hex_value(char digit) noexcept;

// Two lower-case digits a byte.
std::string to_hex(std::string_view bytes);

}  // namespace canopy
