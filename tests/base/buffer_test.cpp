#include "base/buffer.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(Buffer, IsEmptyAtFirst) {
  const Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.view(), "");
  EXPECT_EQ(buffer, Buffer::copy_of(""));
  EXPECT_TRUE(buffer.slice(0, 0).empty());
}

TEST(Buffer, CopiesTheBytesItIsMadeOf) {
  std::string text = "leaf set";
  const Buffer buffer = Buffer::copy_of(text);
  text[0] = 'x';
  EXPECT_EQ(buffer.view(), "leaf set");
}

TEST(Buffer, SharesItsBytesWithCopiesAndSlices) {
  const Buffer buffer = Buffer::copy_of("0123456789");
  const Buffer copy = buffer;
  const Buffer part = buffer.slice(2, 5).slice(1, 3);
  EXPECT_EQ(copy.data(), buffer.data());
  EXPECT_EQ(part.data(), buffer.data() + 3);
  EXPECT_EQ(part.view(), "345");
  EXPECT_TRUE(buffer.slice(10, 0).empty());
}

TEST(Buffer, ASliceKeepsTheSlabAlive) {
  std::weak_ptr<const char[]> slab;
  Buffer part;
  {
    const std::shared_ptr<const char[]> bytes(new char[4]{'a', 'b', 'c', 'd'});
    slab = bytes;
    part = Buffer(bytes, 0, 4).slice(1, 2);
  }
  EXPECT_FALSE(slab.expired());
  EXPECT_EQ(part.view(), "bc");
  part = {};
  EXPECT_TRUE(slab.expired());
}

TEST(Buffer, ComparesByContent) {
  EXPECT_EQ(Buffer::copy_of("a"), Buffer::copy_of("xay").slice(1, 1));
  EXPECT_NE(Buffer::copy_of("a"), Buffer::copy_of("b"));
}

TEST(BufferDeathTest, ASlicePastTheEndIsABug) {
  const Buffer buffer = Buffer::copy_of("abc");
  EXPECT_DEATH(buffer.slice(2, 2), "assertion failed");
  EXPECT_DEATH(buffer.slice(4, 0), "assertion failed");
}

}  // namespace
}  // namespace canopy
