// Base64 in the alphabet for URLs, without padding (RFC 4648, section 5): it
// survives form bodies as it is. Plain functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace canopy::queue {

std::string to_base64url(std::string_view bytes);

// Nothing for any text that to_base64url() does not give.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace canopy::queue
