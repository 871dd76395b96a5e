#include "base/rare.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace canopy {
namespace {

void may_pass(bool passes) {
  if (passes) rare<"a test passes here">();
}

std::uint64_t times(std::string_view what) {
  for (const RareBranch* branch : RareBranch::all()) {
    if (branch->what() == what) return branch->times();
  }
  ADD_FAILURE() << "nobody has marked: " << what;
  return 0;
}

TEST(Rare, MarksAreKnownBeforeTheyAreReached) {
  EXPECT_EQ(times("a test passes here"), 0u);
  may_pass(false);
  EXPECT_EQ(times("a test passes here"), 0u);
  may_pass(true);
  may_pass(true);
  EXPECT_EQ(times("a test passes here"), 2u);
}

}  // namespace
}  // namespace canopy
