#include "scribe/publish_rate.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

using namespace std::chrono_literals;

const Id publisher = Id::hash_of("publisher");
constexpr MonoTime begin{1h};

TEST(PublishRates, OffTheyTakeEverythingAndRememberNobody) {
  PublishRates rates(0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rates.take(publisher, 1'000'000, begin), 0s);
  EXPECT_EQ(rates.size(), 0u);
}

TEST(PublishRates, ASecondsWorthGoesAtOnceAndTheRestWhenThereIsRoom) {
  PublishRates rates(10, 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rates.take(publisher, 5, begin), 0s);
  EXPECT_EQ(rates.take(publisher, 5, begin), 100ms);
  EXPECT_EQ(rates.take(publisher, 5, begin + 40ms), 60ms);
  EXPECT_EQ(rates.take(publisher, 5, begin + 100ms), 0s);
  EXPECT_EQ(rates.take(Id::hash_of("other"), 5, begin), 0s);
}

TEST(PublishRates, AMessageLargerThanASecondsBytesGoesAloneAndIsPaidForAfterwards) {
  PublishRates rates(0, 1000);
  EXPECT_EQ(rates.take(publisher, 3000, begin), 0s);
  EXPECT_EQ(rates.take(publisher, 1, begin + 1s), 1001ms);
  EXPECT_EQ(rates.take(publisher, 1, begin + 2100ms), 0s);
}

TEST(PublishRates, WhoHasNotPublishedForLongestIsForgotten) {
  PublishRates rates(1, 0);
  EXPECT_EQ(rates.take(publisher, 1, begin), 0s);
  EXPECT_NE(rates.take(publisher, 1, begin), 0s);
  for (std::size_t i = 0; i < PublishRates::publishers_max; ++i) {
    rates.take(Id::hash_of(std::to_string(i)), 1, begin);
  }
  EXPECT_EQ(rates.size(), PublishRates::publishers_max);
  EXPECT_EQ(rates.take(publisher, 1, begin), 0s);
}

}  // namespace
}  // namespace canopy::scribe
