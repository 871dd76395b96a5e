#include <gtest/gtest.h>

#include "scribe/cast.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/publish_table.hpp"
#include "scribe/root_cache.hpp"

namespace canopy::scribe {
namespace {

using namespace std::chrono_literals;

Id group(int i) { return Id::hash_of("group-" + std::to_string(i)); }

TEST(DeadlineSet, GivesOutWhatIsDueEarliestFirst) {
  DeadlineSet<int> set;
  set.schedule(1, start + 3s);
  set.schedule(2, start + 1s);
  set.schedule(3, start + 1s);
  EXPECT_EQ(set.next(), start + 1s);
  EXPECT_EQ(set.take_due(start + 3s), (std::vector{2, 3, 1}));
  EXPECT_EQ(set.next(), never);
}

TEST(DeadlineSet, MovesAndCancels) {
  DeadlineSet<int> set;
  set.schedule(1, start + 1s);
  set.schedule(1, start + 5s);
  set.schedule(2, start + 1s);
  set.cancel(2);
  EXPECT_TRUE(set.take_due(start + 4s).empty());
  EXPECT_TRUE(set.contains(1));
  EXPECT_FALSE(set.contains(2));
}

TEST(RootCache, RemembersTheLastRootOfAGroup) {
  RootCache cache(4);
  EXPECT_FALSE(cache.use(group(1)));
  cache.set(group(1), ann, start);
  cache.set(group(1), bob, start + 1s);
  EXPECT_EQ(cache.use(group(1))->root, bob);
  EXPECT_EQ(cache.use(group(1))->confirmed, start + 1s);
}

TEST(RootCache, TheLeastRecentlyUsedMakesRoom) {
  RootCache cache(2);
  cache.set(group(1), ann, start);
  cache.set(group(2), ann, start);
  cache.use(group(1));
  cache.set(group(3), ann, start);
  EXPECT_TRUE(cache.use(group(1)));
  EXPECT_FALSE(cache.use(group(2)));
  EXPECT_EQ(cache.size(), 2u);
}

TEST(RootCache, ForgetsAFailedPeerEverywhere) {
  RootCache cache(4);
  cache.set(group(1), ann, start);
  cache.set(group(2), bob, start);
  cache.forget_peer(ann);
  EXPECT_FALSE(cache.use(group(1)));
  EXPECT_TRUE(cache.use(group(2)));
  cache.forget(group(2), ann);
  EXPECT_TRUE(cache.use(group(2)));
  cache.forget(group(2), bob);
  EXPECT_FALSE(cache.use(group(2)));
}

TEST(PublishTable, KeepsWhatWaitsUntilItIsTaken) {
  PublishTable table(2, 1000);
  PendingPublish publish;
  publish.sent_to = ann;
  table.add(1, publish, start + 1s);
  publish.sent_to = {};
  table.add(2, publish, start + 2s);
  EXPECT_FALSE(table.has_room_for({}));
  EXPECT_EQ(table.sent_to(ann), std::vector<std::uint64_t>{1});
  EXPECT_EQ(table.take_due(start + 1s), std::vector<std::uint64_t>{1});
  EXPECT_TRUE(table.find(1));
  EXPECT_TRUE(table.take(1));
  EXPECT_TRUE(table.has_room_for(Buffer::copy_of("x")));
  EXPECT_FALSE(table.take(1));
  EXPECT_EQ(table.all(), std::vector<std::uint64_t>{2});
  EXPECT_EQ(table.next_deadline(), start + 2s);
}

}  // namespace
}  // namespace canopy::scribe
