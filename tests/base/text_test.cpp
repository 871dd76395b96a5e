#include "base/text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(Text, PrintableIsUtf8WithoutControlCharacters) {
  EXPECT_TRUE(is_printable(""));
  EXPECT_TRUE(is_printable("prices@node-17"));
  EXPECT_TRUE(is_printable("Preise \xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\xb3"));
  for (const char* bad : {"a\nb", "\x1b[31m", "\x7f", "\xc2\x9b"}) EXPECT_FALSE(is_printable(bad));
}

TEST(Text, RefusesMalformedUtf8) {
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x28\xa1", "\xf0\x9f\x8c\x28"}) {
    EXPECT_FALSE(is_printable(bad)) << to_hex(bad);
  }
}

TEST(Text, ControlCharactersAreUtf8AllTheSame) {
  EXPECT_TRUE(is_utf8(std::string_view("a\n\0\xc2\x9b", 5)));
  EXPECT_FALSE(is_utf8("a\xc3"));
  EXPECT_EQ(utf8_size("\xe2\x82\xac!"), 3U);
  EXPECT_EQ(utf8_size("\xe2\x82"), 0U);
  EXPECT_EQ(utf8_size(""), 0U);
}

TEST(Text, ANameHasOneTo255Bytes) {
  EXPECT_FALSE(is_valid_name(""));
  EXPECT_TRUE(is_valid_name("a"));
  EXPECT_TRUE(is_valid_name(std::string(255, 'a')));
  EXPECT_FALSE(is_valid_name(std::string(256, 'a')));
  EXPECT_FALSE(is_valid_name(std::string_view("a\0b", 3)));
}

TEST(Text, WritesBytesAsLowerCaseHexadecimal) {
  EXPECT_EQ(to_hex(std::string_view("\x00\xff\x1a", 3)), "00ff1a");
  EXPECT_EQ(to_hex(""), "");
}

}  // namespace
}  // namespace canopy
