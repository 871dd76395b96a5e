// Two versions of an access list that meet.
#include <gtest/gtest.h>

#include "scribe/access.hpp"

namespace canopy::scribe {
namespace {

const Id listed_ann = Id::hash_of("ann");
const Id listed_bob = Id::hash_of("bob");
const Id listed_eve = Id::hash_of("eve");

wire::Grant only(std::vector<Id> peers) { return {false, std::move(peers), {}}; }

wire::AccessList joining(std::vector<Id> peers) {
  wire::AccessList list;
  list.join = only(std::move(peers));
  return list;
}

TEST(AccessLists, OneThatWasMadeFromTheOtherReplacesItEvenIfItIsLooser) {
  const auto strict = next_version(nullptr, joining({listed_ann}), 7);
  const auto loose = next_version(strict, {}, 3);
  EXPECT_EQ(merged(strict, loose), loose);
  EXPECT_EQ(merged(loose, strict), loose);
  const auto later = next_version(loose, joining({listed_ann, listed_bob}), 5);
  EXPECT_EQ(merged(later, strict), later);
}

TEST(AccessLists, EverybodyLosesAgainstAList) {
  const auto list = next_version(nullptr, joining({listed_ann}), 7);
  EXPECT_EQ(merged(nullptr, list), list);
  EXPECT_EQ(merged(list, nullptr), list);
  const auto open = next_version(nullptr, {}, 8);
  EXPECT_EQ(merged(open, list)->join, only({listed_ann}));
}

TEST(AccessLists, ThoseChangedApartBecomeWhatBothAllowWhoeverMergesThem) {
  const auto base = next_version(nullptr, joining({listed_ann, listed_bob, listed_eve}), 1);
  const auto left = next_version(base, joining({listed_ann, listed_bob}), 20);
  const auto right = next_version(base, joining({listed_bob, listed_eve}), 10);
  const auto one = merged(left, right);
  const auto other = merged(right, left);
  EXPECT_EQ(one->join, only({listed_bob}));
  EXPECT_EQ(one->join, other->join);
  EXPECT_EQ(one->mark, other->mark);
  EXPECT_EQ(one->ancestors, other->ancestors);
  // Who has the merged one is told nothing new by either.
  EXPECT_EQ(merged(one, left), one);
  EXPECT_EQ(merged(right, one), one);
}

TEST(AccessLists, MoreVersionsApartThanAreRememberedCountAsApart) {
  auto list = next_version(nullptr, joining({listed_ann}), 1000);
  const auto first = list;
  for (std::uint64_t mark = 1; mark <= wire::ancestors_max; ++mark) {
    list = next_version(list, {}, mark);
  }
  EXPECT_EQ(merged(first, list), list);
  list = next_version(list, {}, 999);
  EXPECT_EQ(list->ancestors.size(), wire::ancestors_max);
  EXPECT_EQ(merged(first, list)->join, only({listed_ann}));
}

}  // namespace
}  // namespace canopy::scribe
