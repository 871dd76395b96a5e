#include "scribe/neighbors.hpp"

#include <gtest/gtest.h>

#include "scribe/cast.hpp"

namespace canopy::scribe {
namespace {

const Edge prices{Id::hash_of("prices")};
const Edge news{Id::hash_of("news")};

class NeighborsTest : public testing::Test {
 protected:
  // Everything that falls due in (from, to], looked after every 50 ms.
  Neighbors::Due run(MonoTime from, MonoTime to) {
    Neighbors::Due all;
    const auto append = [](std::vector<PeerRef>& to_all, const std::vector<PeerRef>& peers) {
      to_all.insert(to_all.end(), peers.begin(), peers.end());
    };
    for (MonoTime now = from + 50ms; now <= to; now += 50ms) {
      const Neighbors::Due due = neighbors.take_due(now);
      append(all.heartbeats, due.heartbeats);
      append(all.quiet_parents, due.quiet_parents);
      append(all.mute_parents, due.mute_parents);
      append(all.doubtful_parents, due.doubtful_parents);
      append(all.silent_parents, due.silent_parents);
      append(all.silent_children, due.silent_children);
    }
    return all;
  }

  // So many multicasts from a parent, for longer than a heartbeat interval; gives the time of
  // the last.
  MonoTime traffic_from(PeerRef peer, MonoTime from, Duration gap, int count) {
    MonoTime now = from;
    for (int i = 0; i < count; ++i) {
      now += gap;
      neighbors.heard_from_parent(peer, now);
      neighbors.take_due(now);
    }
    return now;
  }

  Config config;
  Neighbors neighbors{config};
};

TEST_F(NeighborsTest, HeartbeatsGoToChildrenEveryInterval) {
  neighbors.add(ann, Side::parent_of, prices, start);
  EXPECT_EQ(neighbors.next_deadline(), start + 1s);
  EXPECT_TRUE(neighbors.take_due(start + 900ms).heartbeats.empty());
  EXPECT_EQ(neighbors.take_due(start + 1s).heartbeats, std::vector{ann});
  EXPECT_EQ(neighbors.next_deadline(), start + 2s);
}

TEST_F(NeighborsTest, HeartbeatsOfNeighboursFallIntoStep) {
  neighbors.add(ann, Side::parent_of, prices, start);
  neighbors.add(bob, Side::parent_of, prices, start + 200ms);
  EXPECT_EQ(neighbors.take_due(start + 1s).heartbeats, (std::vector{ann, bob}));
}

TEST_F(NeighborsTest, MulticastsStandInForHeartbeatsButNotForEver) {
  neighbors.add(ann, Side::parent_of, prices, start);
  int heartbeats = 0;
  std::uint64_t suppressed = 0;
  for (MonoTime now = start; now <= start + 10s; now += 100ms) {
    neighbors.sent_to(ann, now);
    const Neighbors::Due due = neighbors.take_due(now);
    heartbeats += static_cast<int>(due.heartbeats.size());
    suppressed += due.suppressed;
  }
  EXPECT_EQ(heartbeats, 2);
  EXPECT_GE(suppressed, 6u);
}

TEST_F(NeighborsTest, ChildrenReportToTheirParentNowAndThen) {
  neighbors.add(ann, Side::child_of, prices, start);
  int reports = 0;
  for (MonoTime now = start; now <= start + 61s; now += 100ms) {
    neighbors.heard_from_parent(ann, now);
    reports += static_cast<int>(neighbors.take_due(now).heartbeats.size());
  }
  EXPECT_EQ(reports, 2);
}

TEST_F(NeighborsTest, ASilentParentIsLostOnceAfterTheMissedHeartbeats) {
  neighbors.add(ann, Side::child_of, prices, start);
  EXPECT_TRUE(run(start, start + 2200ms).silent_parents.empty());
  EXPECT_EQ(run(start + 2200ms, start + 2250ms).silent_parents, std::vector{ann});
  EXPECT_TRUE(run(start + 2250ms, start + 4s).silent_parents.empty());
}

TEST_F(NeighborsTest, AParentIsDoubtfulOnceBeforeItIsLost) {
  neighbors.add(ann, Side::child_of, prices, start);
  EXPECT_TRUE(run(start, start + 1200ms).doubtful_parents.empty());
  EXPECT_EQ(run(start + 1200ms, start + 2s).doubtful_parents, std::vector{ann});
  neighbors.heard_from_parent(ann, start + 2s);
  EXPECT_TRUE(run(start + 2s, start + 3200ms).doubtful_parents.empty());
  EXPECT_EQ(run(start + 3200ms, start + 3250ms).doubtful_parents, std::vector{ann});
}

TEST_F(NeighborsTest, AParentThatStopsInTheMiddleOfTrafficIsAskedAndIsMuteUnlessItSpeaks) {
  neighbors.add(ann, Side::child_of, prices, start);
  const MonoTime last = traffic_from(ann, start, 5ms, 400);
  const Neighbors::Due asked = run(last, last + 150ms);
  EXPECT_EQ(asked.quiet_parents, std::vector{ann});
  EXPECT_TRUE(asked.mute_parents.empty());
  EXPECT_EQ(run(last + 150ms, last + 250ms).mute_parents, std::vector{ann});
  const Neighbors::Due later = run(last + 250ms, last + 1s);
  EXPECT_TRUE(later.quiet_parents.empty());
  EXPECT_TRUE(later.mute_parents.empty());
}

TEST_F(NeighborsTest, AParentThatSpeaksAfterItWasAskedIsNotMute) {
  neighbors.add(ann, Side::child_of, prices, start);
  const MonoTime last = traffic_from(ann, start, 5ms, 400);
  EXPECT_EQ(run(last, last + 150ms).quiet_parents, std::vector{ann});
  neighbors.heard_from_parent(ann, last + 160ms);
  EXPECT_TRUE(run(last + 150ms, last + 250ms).mute_parents.empty());
}

TEST_F(NeighborsTest, AParentWithLittleTrafficIsNeverAsked) {
  neighbors.add(ann, Side::child_of, prices, start);
  const MonoTime last = traffic_from(ann, start, 100ms, 100);
  EXPECT_TRUE(run(last, last + 1200ms).quiet_parents.empty());
}

TEST_F(NeighborsTest, AProcessThatSleptListensAnewBeforeItBlamesAnybody) {
  neighbors.add(ann, Side::child_of, prices, start);
  neighbors.add(bob, Side::parent_of, prices, start);
  const Neighbors::Due due = neighbors.take_due(start + 100s);
  EXPECT_TRUE(due.silent_parents.empty());
  EXPECT_TRUE(due.silent_children.empty());
  EXPECT_EQ(due.heartbeats, (std::vector{ann, bob}));
  EXPECT_EQ(run(start + 100s, start + 103s).silent_parents, std::vector{ann});
}

TEST_F(NeighborsTest, AHeartbeatKeepsAParentOnlyIfItSpeaksAsOne) {
  neighbors.add(ann, Side::child_of, prices, start);
  run(start, start + 2s);
  neighbors.on_heartbeat(ann, {}, start + 2s);  // shares no group
  EXPECT_EQ(run(start + 2s, start + 2300ms).silent_parents, std::vector{ann});

  EdgeSet shared;
  shared.add(prices);
  neighbors.on_heartbeat(ann, {shared.hash, shared.count, 0, 0}, start + 2300ms);
  EXPECT_TRUE(run(start + 2300ms, start + 4500ms).silent_parents.empty());
}

TEST_F(NeighborsTest, ASilentChildExpires) {
  neighbors.add(ann, Side::parent_of, prices, start);
  EXPECT_TRUE(run(start, start + 59950ms).silent_children.empty());
  EXPECT_EQ(run(start + 59950ms, start + 60s).silent_children, std::vector{ann});
}

TEST_F(NeighborsTest, AReportKeepsAChild) {
  neighbors.add(ann, Side::parent_of, prices, start);
  run(start, start + 30s);
  neighbors.on_heartbeat(ann, {0, 0, 1, 1}, start + 30s);
  EXPECT_TRUE(run(start + 30s, start + 89950ms).silent_children.empty());
  EXPECT_EQ(run(start + 89950ms, start + 90s).silent_children, std::vector{ann});
}

TEST_F(NeighborsTest, BothEndsAgreeWhenTheyShareTheSameGroups) {
  Neighbors other{config};
  neighbors.add(ann, Side::parent_of, prices, start);
  neighbors.add(ann, Side::child_of, news, start);
  other.add(bob, Side::child_of, prices, start);
  other.add(bob, Side::parent_of, news, start);
  for (int beat = 0; beat < 3; ++beat) {
    const auto mismatch = other.on_heartbeat(bob, neighbors.heartbeat_for(ann), start);
    EXPECT_FALSE(mismatch.parent_of);
    EXPECT_FALSE(mismatch.child_of);
  }
}

TEST_F(NeighborsTest, ADifferenceHasToLastForTwoHeartbeats) {
  neighbors.add(ann, Side::child_of, prices, start);
  EdgeSet theirs;
  theirs.add(news);
  const wire::TreeHeartbeat wrong{theirs.hash, theirs.count, 0, 0};
  EdgeSet right;
  right.add(prices);
  EXPECT_FALSE(neighbors.on_heartbeat(ann, wrong, start).child_of);
  EXPECT_FALSE(neighbors.on_heartbeat(ann, {right.hash, 1, 0, 0}, start).child_of);
  EXPECT_FALSE(neighbors.on_heartbeat(ann, wrong, start).child_of);
  const auto mismatch = neighbors.on_heartbeat(ann, wrong, start);
  EXPECT_TRUE(mismatch.child_of);
  EXPECT_FALSE(mismatch.parent_of);
}

TEST_F(NeighborsTest, AStrangerThatClaimsGroupsIsAMismatchAtOnce) {
  const auto mismatch = neighbors.on_heartbeat(ann, {1, 1, 0, 0}, start);
  EXPECT_TRUE(mismatch.child_of);
  EXPECT_FALSE(mismatch.parent_of);
  EXPECT_EQ(neighbors.size(), 0u);
}

TEST_F(NeighborsTest, ANeighbourWithoutCommonGroupsIsForgotten) {
  neighbors.add(ann, Side::parent_of, prices, start);
  neighbors.add(ann, Side::child_of, news, start);
  neighbors.remove(ann, Side::parent_of, prices);
  EXPECT_EQ(neighbors.size(), 1u);
  neighbors.remove(ann, Side::child_of, news);
  EXPECT_EQ(neighbors.size(), 0u);
}

}  // namespace
}  // namespace canopy::scribe
