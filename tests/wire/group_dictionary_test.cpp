#include "wire/group_dictionary.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace canopy::wire {
namespace {

Id group(std::uint64_t number) { return Id::hash_of(std::to_string(number)); }

TEST(GroupDictionary, AGroupKeepsTheNumberOfItsFirstUse) {
  SendDictionary dictionary;
  const auto first = dictionary.use(group(1));
  EXPECT_TRUE(first.first);
  EXPECT_EQ(first.number, 1U);
  EXPECT_EQ(dictionary.use(group(2)).number, 2U);
  const auto again = dictionary.use(group(1));
  EXPECT_FALSE(again.first);
  EXPECT_EQ(again.number, 1U);
}

TEST(GroupDictionary, WhenFullTheGroupNumberedLongestAgoGivesWay) {
  SendDictionary dictionary;
  for (unsigned i = 0; i < group_dictionary_capacity; ++i) dictionary.use(group(i));
  const auto next = dictionary.use(group(5000));
  EXPECT_TRUE(next.first);
  EXPECT_EQ(next.number, 1U);
  EXPECT_FALSE(dictionary.use(group(1)).first);
  EXPECT_TRUE(dictionary.use(group(0)).first);
  EXPECT_EQ(dictionary.size(), group_dictionary_capacity);
}

TEST(GroupDictionary, AForgottenGroupIsIntroducedAnew) {
  SendDictionary dictionary;
  dictionary.use(group(1));
  dictionary.forget(group(1));
  EXPECT_TRUE(dictionary.use(group(1)).first);
}

TEST(GroupDictionary, BothEndsAgreeAfterAnyUse) {
  Random random(1);
  SendDictionary send;
  ReceiveDictionary receive;
  for (unsigned i = 0; i < 100'000; ++i) {
    const Id used = group(random.below(random.chance(0.5) ? 100 : 3000));
    const auto use = send.use(used);
    if (use.first && random.chance(0.1)) {
      send.forget(used);  // the message is not sent after all
      continue;
    }
    if (use.first) {
      ASSERT_TRUE(receive.define(use.number, used));
    }
    ASSERT_EQ(receive.find(use.number), used);
    ASSERT_LE(send.size(), group_dictionary_capacity);
  }
}

TEST(GroupDictionary, NumbersOutOfBoundsAreRefused) {
  ReceiveDictionary dictionary;
  EXPECT_FALSE(dictionary.define(0, group(1)));
  EXPECT_FALSE(dictionary.define(group_dictionary_capacity + 1, group(1)));
  EXPECT_FALSE(dictionary.define(0xffffffff, group(1)));
  EXPECT_TRUE(dictionary.define(group_dictionary_capacity, group(1)));
  EXPECT_EQ(dictionary.find(group_dictionary_capacity), group(1));
  for (const std::uint32_t number : {0U, 1U, group_dictionary_capacity - 1, 0xffffffffU}) {
    EXPECT_FALSE(dictionary.find(number)) << number;
  }
}

}  // namespace
}  // namespace canopy::wire
