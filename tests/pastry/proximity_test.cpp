#include "pastry/proximity.hpp"

#include <gtest/gtest.h>

#include "pastry/routing_table.hpp"

namespace canopy::pastry {
namespace {

using namespace std::chrono_literals;

constexpr PeerRef a{7};
constexpr PeerRef b{3};
const MonoTime first_sample{10s};

TEST(Proximity, DistanceIsTheLowestRoundTripSeen) {
  Proximity proximity;
  EXPECT_EQ(proximity.distance(a), unknown_distance);
  proximity.sample(a, 30ms, first_sample);
  proximity.sample(a, 10ms, first_sample);
  proximity.sample(a, 50ms, first_sample);
  EXPECT_EQ(proximity.distance(a), 10'000U);
}

TEST(Proximity, RoundTripIsSmoothed) {
  Proximity proximity;
  EXPECT_FALSE(proximity.round_trip(a));
  proximity.sample(a, 16ms, first_sample);
  EXPECT_EQ(proximity.round_trip(a), 16ms);
  proximity.sample(a, 24ms, first_sample);
  EXPECT_EQ(proximity.round_trip(a), 17ms);
}

TEST(Proximity, TimeoutFollowsTheRoundTripBetweenFloorAndCeiling) {
  Proximity proximity;
  EXPECT_EQ(proximity.timeout(a, 50ms, 500ms), 500ms) << "unknown: the ceiling";
  proximity.sample(a, 100ms, first_sample);
  EXPECT_EQ(proximity.timeout(a, 50ms, 500ms), 300ms) << "100 ms and four times 50 ms";
  for (int i = 0; i < 50; ++i) proximity.sample(a, 100ms, first_sample);
  EXPECT_LT(proximity.timeout(a, 50ms, 500ms), 110ms) << "a steady link needs little slack";
  EXPECT_EQ(proximity.timeout(a, 200ms, 500ms), 200ms);
  proximity.sample(b, 2s, first_sample);
  EXPECT_EQ(proximity.timeout(b, 50ms, 500ms), 500ms);
}

TEST(Proximity, ATightTimeoutLeavesHalfTheSlackButSomeToASteadyLink) {
  Proximity proximity;
  EXPECT_EQ(proximity.tight_timeout(a, 50ms, 500ms), 500ms) << "unknown: the ceiling";
  proximity.sample(a, 80ms, first_sample);
  EXPECT_EQ(proximity.tight_timeout(a, 50ms, 500ms), 160ms) << "80 ms and twice 40 ms";
  for (int i = 0; i < 50; ++i) proximity.sample(a, 80ms, first_sample);
  EXPECT_EQ(proximity.tight_timeout(a, 50ms, 500ms), 90ms) << "80 ms and an eighth of it";
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
  EXPECT_FALSE(proximity.heard(a, first_sample)) << "unknown peers are not kept";
  EXPECT_FALSE(proximity.silence(a, first_sample));
  proximity.track(a, first_sample);
  EXPECT_LE(*proximity.silence(a, first_sample + 3s) - 3s, 2ms);
  EXPECT_TRUE(proximity.heard(a, first_sample + 3s));
  EXPECT_LE(*proximity.silence(a, first_sample + 4s) - 1s, 2ms);
}

TEST(Proximity, TrackingAgainKeepsWhatIsKnown) {
  Proximity proximity;
  proximity.sample(a, 10ms, first_sample);
  proximity.track(a, first_sample + 5s);
  EXPECT_EQ(proximity.distance(a), 10'000U);
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
