#include "scribe/duplicate_window.hpp"

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

wire::MessageId message(std::uint64_t sequence) { return {Id::hash_of("publisher"), 1, sequence}; }

TEST(DuplicateWindow, KnowsAMessageAgain) {
  DuplicateWindow window;
  EXPECT_TRUE(window.insert(message(1), 4));
  EXPECT_FALSE(window.insert(message(1), 4));
}

TEST(DuplicateWindow, TellsPublishersIncarnationsAndSequencesApart) {
  DuplicateWindow window;
  const Id one = Id::hash_of("one");
  const Id other = Id::hash_of("other");
  EXPECT_TRUE(window.insert({one, 1, 1}, 8));
  EXPECT_TRUE(window.insert({other, 1, 1}, 8));
  EXPECT_TRUE(window.insert({one, 2, 1}, 8));
  EXPECT_TRUE(window.insert({one, 1, 2}, 8));
}

TEST(DuplicateWindow, KnowsWhatTheMemberWasGiven) {
  DuplicateWindow window;
  for (std::uint64_t i = 0; i < 600; ++i) window.insert(message(i), 500, i % 2 == 0);
  EXPECT_TRUE(window.given(message(200)));
  EXPECT_FALSE(window.given(message(201)));
  EXPECT_FALSE(window.insert(message(201), 500, true));
  EXPECT_FALSE(window.given(message(201)));
  EXPECT_TRUE(window.give(message(201)));
  EXPECT_TRUE(window.given(message(201)));
  EXPECT_FALSE(window.give(message(201)));
  EXPECT_FALSE(window.give(message(50)));  // forgotten
  EXPECT_FALSE(window.insert(message(201), 500));
}

TEST(DuplicateWindow, ForgetsTheOldestFirst) {
  DuplicateWindow window;
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(window.insert(message(i), 4));
  for (std::uint64_t i = 1; i < 5; ++i) EXPECT_FALSE(window.insert(message(i), 4));
  EXPECT_TRUE(window.insert(message(0), 4));
  EXPECT_EQ(window.size(), 4u);
}

TEST(DuplicateWindow, KeepsTheOrderWhenItsCapacityGrows) {
  DuplicateWindow window;
  for (std::uint64_t i = 0; i < 6; ++i) window.insert(message(i), 4);  // holds 2..5, turned
  for (std::uint64_t i = 6; i < 9; ++i) EXPECT_TRUE(window.insert(message(i), 6));
  // 2 had to go for 8; 3 is the oldest now.
  EXPECT_FALSE(window.insert(message(3), 6));
  EXPECT_TRUE(window.insert(message(2), 6));
  EXPECT_TRUE(window.insert(message(3), 6));
}

}  // namespace
}  // namespace canopy::scribe
