#include "base/base64.hpp"

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(Base64, GoesThereAndBack) {
  for (const char* text : {"", "a", "ab", "abc", "abcd"})
    EXPECT_EQ(from_base64(to_base64(text)), text);
  EXPECT_EQ(to_base64("ab"), "YWI=");
  for (const char* text : {"YWI", "YW=I", "Y===", "YWI=\n", "YW I", "====", " WI="})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace canopy
