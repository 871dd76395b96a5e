#include "scribe/publisher_marks.hpp"

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

wire::MessageId message_of(const char* name, std::uint64_t boot, std::uint64_t sequence) {
  return {Id::hash_of(name), boot, sequence};
}

TEST(PublisherMarks, KeepTheLatestOfEachBoot) {
  PublisherMarks marks;
  EXPECT_EQ(marks.latest_of(message_of("ann", 1, 9)), 0u);
  marks.note(message_of("ann", 1, 5), 8);
  marks.note(message_of("ann", 1, 3), 8);
  marks.note(message_of("ann", 2, 1), 8);
  marks.note(message_of("bob", 1, 7), 8);
  EXPECT_EQ(marks.latest_of(message_of("ann", 1, 9)), 5u);
  EXPECT_EQ(marks.latest_of(message_of("ann", 2, 9)), 1u);
  EXPECT_EQ(marks.latest_of(message_of("bob", 1, 9)), 7u);
}

TEST(PublisherMarks, ForgetWhoHasBeenSilentForLongest) {
  PublisherMarks marks;
  marks.note(message_of("silent", 1, 4), 4);
  for (std::uint64_t other = 1; other <= 8; ++other) {
    marks.note(message_of("busy", 1, other), 4);
    marks.note(message_of("others", other, 1), 4);
  }
  EXPECT_EQ(marks.latest_of(message_of("silent", 1, 1)), 0u);
  EXPECT_EQ(marks.latest_of(message_of("busy", 1, 1)), 8u);
  for (std::uint64_t other = 6; other <= 8; ++other) {
    EXPECT_EQ(marks.latest_of(message_of("others", other, 1)), 1u);
  }
}

}  // namespace
}  // namespace canopy::scribe
