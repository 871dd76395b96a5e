// SHA-1 (FIPS 180-4) by OpenSSL: places names on the ring. Not a security
// boundary: nobody is trusted because of a hash.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace canopy {

std::array<std::uint8_t, 20> sha1(std::string_view bytes);

}  // namespace canopy
