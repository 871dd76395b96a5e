#include "base/uuid.hpp"

#include <string>

#include <gtest/gtest.h>

namespace canopy {
namespace {

constexpr const char* example = "00112233-4455-4677-8899-aabbccddeeff";

TEST(Uuid, KeepsVersionAndVariantAmongRandomBits) {
  const Uuid uuid = Uuid::from_random_bits(0x0011223344556677, 0x8899aabbccddeeff);
  EXPECT_EQ(uuid.to_string(), example);
  EXPECT_EQ(Uuid::from_random_bits(~0ULL, ~0ULL).to_string(),
            "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

TEST(Uuid, ParsesWhatItPrints) {
  const auto uuid = Uuid::parse(example);
  ASSERT_TRUE(uuid);
  EXPECT_EQ(uuid->to_string(), example);
  EXPECT_EQ(Uuid::parse("00112233-4455-4677-8899-AABBCCDDEEFF"), uuid);
}

TEST(Uuid, RefusesOtherText) {
  EXPECT_FALSE(Uuid::parse(""));
  EXPECT_FALSE(Uuid::parse("00112233445546778899aabbccddeeff"));
  EXPECT_FALSE(Uuid::parse("00112233-4455-4677-8899-aabbccddeefg"));
  EXPECT_FALSE(Uuid::parse("001122334-455-4677-8899-aabbccddeeff"));
  EXPECT_FALSE(Uuid::parse(std::string(example) + "0"));
}

TEST(Uuid, NilIsNone) {
  EXPECT_TRUE(Uuid().is_nil());
  EXPECT_FALSE(Uuid::parse(example)->is_nil());
}

}  // namespace
}  // namespace canopy
