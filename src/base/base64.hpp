// Base64 (RFC 4648), by OpenSSL: bytes as text. Plain functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace canopy {

std::string to_base64(std::string_view bytes);

// Padded, without line breaks; nothing for any other text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace canopy
