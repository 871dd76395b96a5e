#include "scribe/loss_meter.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace canopy::scribe::test {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime meter_begun{1h};

std::uint64_t of_root(const char* root, std::uint64_t count) {
  return loss_number(Id::hash_of(root), 1, 1, count);
}

TEST(LossMeter, CountsWhatStaysMissing) {
  LossMeter meter;
  for (const std::uint64_t n : {7, 8, 11, 12, 15}) meter.note(of_root("a", n), meter_begun);
  EXPECT_EQ(meter.oldest(), meter_begun);
  EXPECT_EQ(meter.take_lost(meter_begun - 1s), 0u);
  EXPECT_EQ(meter.take_lost(meter_begun), 4u);
  EXPECT_EQ(meter.take_lost(meter_begun), 0u);
  EXPECT_EQ(meter.oldest(), never);
}

TEST(LossMeter, WhatComesLateIsNotLost) {
  LossMeter meter;
  for (const std::uint64_t n : {1, 9, 5, 5, 2, 8}) meter.note(of_root("a", n), meter_begun);
  EXPECT_EQ(meter.take_lost(meter_begun), 4u);  // 3, 4, 6, 7
}

TEST(LossMeter, ANextRootCountsAnewAndTheOldOneMayStillSend) {
  LossMeter meter;
  meter.note(of_root("a", 7), meter_begun);
  meter.note(of_root("b", 3), meter_begun);  // 1 and 2 did not come
  meter.note(of_root("a", 9), meter_begun);
  EXPECT_EQ(meter.take_lost(meter_begun), 3u);
}

TEST(LossMeter, RemembersABoundedNumberOfStretches) {
  LossMeter meter;
  for (std::uint64_t n = 1; n <= 10'001; n += 2) meter.note(of_root("a", n), meter_begun);
  EXPECT_EQ(meter.take_lost(meter_begun), 5000u);
}

}  // namespace
}  // namespace canopy::scribe::test
