// Base64 (RFC 4648), by OpenSSL: what both protocols carry bytes in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace canopy::gateway {

std::string to_base64(std::string_view bytes);

// Padded, without line breaks; nothing for any other text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace canopy::gateway
