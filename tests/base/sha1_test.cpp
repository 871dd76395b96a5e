#include "base/sha1.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace canopy {
namespace {

std::string hex_of(std::string_view bytes) {
  const auto digest = sha1(bytes);
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

TEST(Sha1, GivesThePublishedDigests) {
  EXPECT_EQ(hex_of(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex_of("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

}  // namespace
}  // namespace canopy
