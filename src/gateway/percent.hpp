// Percent-encoding of URLs and forms (RFC 3986, application/x-www-form-urlencoded).
#pragma once

#include <string>
#include <string_view>

namespace canopy::gateway {

// Appends the text with %XX decoded; a '%' that is followed by no two hexadecimal digits stays.
// In forms and queries '+' stands for a space.
void percent_decode(std::string_view text, bool plus_is_space, std::string& out);

// Appends the text with everything but A-Za-z0-9-._~ (and '/', if it is to be kept) as %XX.
void percent_encode(std::string_view text, bool keep_slash, std::string& out);

}  // namespace canopy::gateway
