#include "base/words.hpp"

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(Words, edit_distance_counts_a_swap_once) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
  EXPECT_EQ(edit_distance("abc", "acb"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Words, nearest_word_gives_up_on_strangers) {
  EXPECT_EQ(nearest_word("staus", {"ring", "status"}), "status");
  EXPECT_EQ(nearest_word("zebra", {"ring", "status"}), "");
  EXPECT_EQ(nearest_word("x", {}), "");
}

TEST(Words, wraps_at_spaces_and_keeps_long_words_whole) {
  EXPECT_EQ(wrap_words("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap_words("incomprehensible", 5), (std::vector<std::string>{"incomprehensible"}));
  EXPECT_TRUE(wrap_words("", 5).empty());
}

}  // namespace
}  // namespace canopy
