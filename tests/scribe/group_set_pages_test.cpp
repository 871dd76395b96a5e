#include "scribe/group_set_pages.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

std::vector<Id> some_groups(std::size_t count, const std::string& prefix = "g") {
  std::vector<Id> groups;
  for (std::size_t i = 0; i < count; ++i) groups.push_back(Id::hash_of(prefix + std::to_string(i)));
  std::ranges::sort(groups);
  return groups;
}

// What comparing all pages with `own` finds.
PageComparison compare_all(const std::vector<wire::GroupSetPage>& pages,
                           const std::vector<Id>& own) {
  PageComparison all;
  for (const auto& page : pages) {
    EXPECT_TRUE(well_formed(page));
    const PageComparison one = compare(page, own);
    all.only_theirs.insert(all.only_theirs.end(), one.only_theirs.begin(), one.only_theirs.end());
    all.only_ours.insert(all.only_ours.end(), one.only_ours.begin(), one.only_ours.end());
    all.both.insert(all.both.end(), one.both.begin(), one.both.end());
  }
  std::ranges::sort(all.only_theirs);
  std::ranges::sort(all.only_ours);
  std::ranges::sort(all.both);
  return all;
}

TEST(GroupSetPages, FindNothingBetweenEqualSets) {
  const auto groups = some_groups(3000);
  const PageComparison found = compare_all(make_pages(groups, true, 0), groups);
  EXPECT_TRUE(found.only_ours.empty());
  EXPECT_TRUE(found.only_theirs.empty());
  EXPECT_EQ(found.both, groups);
}

TEST(GroupSetPages, FindEveryDifferenceWhereverPagesAreCut) {
  const auto theirs = some_groups(2500, "a");
  const auto ours = some_groups(2500, "b");
  for (const std::size_t start : {0u, 1u, 2u}) {
    const PageComparison found = compare_all(make_pages(theirs, true, start), ours);
    EXPECT_EQ(found.only_theirs, theirs);
    EXPECT_EQ(found.only_ours, ours);
  }
}

TEST(GroupSetPages, SpeakOfTheWholeIdSpaceWhenTheSetIsEmpty) {
  const auto ours = some_groups(5);
  const PageComparison found = compare_all(make_pages({}, false, 0), ours);
  EXPECT_EQ(found.only_ours, ours);
}

TEST(GroupSetPages, AreBoundedAndReachTheRestFromAnotherStart) {
  const auto groups = some_groups(page_groups_max * (pages_max + 2));
  const auto first = make_pages(groups, true, 0);
  const auto second = make_pages(groups, true, pages_max);
  EXPECT_EQ(first.size(), pages_max);
  EXPECT_EQ(second.size(), pages_max);
  EXPECT_EQ(compare_all({second[0], second[1]}, {}).only_theirs.size(), 2 * page_groups_max);
  EXPECT_EQ(second[2].groups, first[0].groups);
}

TEST(GroupSetPages, RejectWhatNobodyCanHaveMade) {
  const auto groups = some_groups(3);
  wire::GroupSetPage page = make_pages(groups, true, 0).front();
  std::swap(page.groups[0], page.groups[2]);
  EXPECT_FALSE(well_formed(page));
  page = make_pages(groups, true, 0).front();
  page.first = groups[1];
  EXPECT_FALSE(well_formed(page));
  std::swap(page.first, page.last);
  EXPECT_FALSE(well_formed(page));
}

}  // namespace
}  // namespace canopy::scribe
