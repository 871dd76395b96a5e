#include "pastry/proximity.hpp"

#include <gtest/gtest.h>

#include "pastry/routing_table.hpp"

namespace canopy::pastry {
namespace {

using namespace std::chrono_literals;

constexpr PeerRef ann{7};
constexpr PeerRef bob{3};
const MonoTime first_sample{10s};

TEST(Proximity, DistanceIsTheLowestRoundTripSeen) {
  Proximity proximity;
  EXPECT_EQ(proximity.distance(ann), unknown_distance);
  proximity.sample(ann, 30ms, first_sample);
  proximity.sample(ann, 10ms, first_sample);
  proximity.sample(ann, 50ms, first_sample);
  EXPECT_EQ(proximity.distance(ann), 10'000U);
}

TEST(Proximity, RoundTripIsSmoothed) {
  Proximity proximity;
  EXPECT_FALSE(proximity.round_trip(ann));
  proximity.sample(ann, 16ms, first_sample);
  EXPECT_EQ(proximity.round_trip(ann), 16ms);
  proximity.sample(ann, 24ms, first_sample);
  EXPECT_EQ(proximity.round_trip(ann), 17ms);
}

TEST(Proximity, TimeoutFollowsTheRoundTripBetweenFloorAndCeiling) {
  Proximity proximity;
  EXPECT_EQ(proximity.timeout(ann, 50ms, 500ms), 500ms) << "unknown: the ceiling";
  proximity.sample(ann, 100ms, first_sample);
  EXPECT_EQ(proximity.timeout(ann, 50ms, 500ms), 300ms) << "100 ms and four times 50 ms";
  for (int i = 0; i < 50; ++i) proximity.sample(ann, 100ms, first_sample);
  EXPECT_LT(proximity.timeout(ann, 50ms, 500ms), 110ms) << "a steady link needs little slack";
  EXPECT_EQ(proximity.timeout(ann, 200ms, 500ms), 200ms);
  proximity.sample(bob, 2s, first_sample);
  EXPECT_EQ(proximity.timeout(bob, 50ms, 500ms), 500ms);
}

TEST(Proximity, ATightTimeoutLeavesHalfTheSlackButSomeToASteadyLink) {
  Proximity proximity;
  EXPECT_EQ(proximity.tight_timeout(ann, 50ms, 500ms), 500ms) << "unknown: the ceiling";
  proximity.sample(ann, 80ms, first_sample);
  EXPECT_EQ(proximity.tight_timeout(ann, 50ms, 500ms), 160ms) << "80 ms and twice 40 ms";
  for (int i = 0; i < 50; ++i) proximity.sample(ann, 80ms, first_sample);
  EXPECT_EQ(proximity.tight_timeout(ann, 50ms, 500ms), 90ms) << "80 ms and an eighth of it";
}

TEST(Proximity, NamesThoseThatAreAboutAsFar) {
  Proximity proximity;
  for (std::uint32_t i = 1; i <= 9; ++i) proximity.sample(PeerRef(i), i * 10ms, first_sample);
  proximity.track(PeerRef(10), first_sample);  // never measured
  EXPECT_EQ(proximity.about_as_far_as(52'000, 3),
            (std::vector{PeerRef(5), PeerRef(6), PeerRef(4)}));
  EXPECT_EQ(proximity.about_as_far_as(55'000, 1), std::vector{PeerRef(5)}) << "of two the first";
  EXPECT_EQ(proximity.about_as_far_as(0, 100).size(), 9U);
}

TEST(Proximity, RemembersWhenAPeerWasHeard) {
  Proximity proximity;
  EXPECT_FALSE(proximity.heard(ann, first_sample)) << "unknown peers are not kept";
  EXPECT_FALSE(proximity.silence(ann, first_sample));
  proximity.track(ann, first_sample);
  EXPECT_LE(*proximity.silence(ann, first_sample + 3s) - 3s, 2ms);
  EXPECT_TRUE(proximity.heard(ann, first_sample + 3s));
  EXPECT_LE(*proximity.silence(ann, first_sample + 4s) - 1s, 2ms);
}

TEST(Proximity, TrackingAgainKeepsWhatIsKnown) {
  Proximity proximity;
  proximity.sample(ann, 10ms, first_sample);
  proximity.track(ann, first_sample + 5s);
  EXPECT_EQ(proximity.distance(ann), 10'000U);
}

TEST(Proximity, ForgetsWhomItIsTold) {
  Proximity proximity;
  for (std::uint32_t i = 0; i < 100; ++i) proximity.sample(PeerRef(i), 1ms, first_sample);
  proximity.remove(PeerRef(5));
  EXPECT_FALSE(proximity.knows(PeerRef(5)));
  proximity.trim([](PeerRef peer) { return peer.index() % 10 == 0; });
  EXPECT_EQ(proximity.size(), 10U);
  EXPECT_TRUE(proximity.knows(PeerRef(90)));
  EXPECT_FALSE(proximity.knows(PeerRef(91)));
}

TEST(Proximity, DistancesStayBelowTheUnknownAndAboveZero) {
  EXPECT_EQ(distance_of(0us), 1U);
  EXPECT_EQ(distance_of(-5us), 1U);
  EXPECT_EQ(distance_of(1000h), unknown_distance - 1);
}

}  // namespace
}  // namespace canopy::pastry
