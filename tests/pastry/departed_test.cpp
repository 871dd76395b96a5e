#include "pastry/departed.hpp"

#include <gtest/gtest.h>

namespace canopy::pastry {
namespace {

using namespace std::chrono_literals;

const MonoTime departure{100s};

TEST(Departed, AreInQuarantineForAWhile) {
  Departed departed(4, 10s, 1h);
  departed.add(PeerRef(1), false, departure);
  EXPECT_TRUE(departed.in_quarantine(PeerRef(1), departure + 9s));
  EXPECT_FALSE(departed.in_quarantine(PeerRef(1), departure + 10s));
  EXPECT_FALSE(departed.in_quarantine(PeerRef(2), departure));
  EXPECT_EQ(departed.in_quarantine(departure), std::vector<PeerRef>{PeerRef(1)});
}

TEST(Departed, TheOldestAreForgottenFirst) {
  Departed departed(3, 10s, 1h);
  for (std::uint32_t i = 0; i < 5; ++i) departed.add(PeerRef(i), false, departure);
  EXPECT_EQ(departed.size(), 3U);
  EXPECT_FALSE(departed.in_quarantine(PeerRef(1), departure));
  EXPECT_TRUE(departed.in_quarantine(PeerRef(2), departure));
}

TEST(Departed, WhoFellSilentIsTriedAgainAfterQuarantineWhoSaidGoodbyeIsNot) {
  Departed departed(4, 10s, 1h);
  Random random(1);
  departed.add(PeerRef(1), true, departure);
  departed.add(PeerRef(2), false, departure);
  EXPECT_FALSE(departed.pick(random, departure + 5s));
  EXPECT_EQ(departed.pick(random, departure + 11s), PeerRef(2));
  EXPECT_FALSE(departed.pick(random, departure + 2h)) << "forgotten by now";
  EXPECT_EQ(departed.size(), 0U);
}

TEST(Departed, WhoIsTriedAgainIsNotForgottenMeanwhile) {
  Departed departed(3, 10s, 1h);
  Random random(1);
  departed.add(PeerRef(1), false, departure);
  EXPECT_EQ(departed.pick(random, departure + 11s), PeerRef(1));
  for (std::uint32_t i = 2; i < 6; ++i) departed.add(PeerRef(i), false, departure + 11s);
  EXPECT_EQ(departed.size(), 3U);
  departed.add(PeerRef(1), false, departure + 12s);
  EXPECT_FALSE(departed.in_quarantine(PeerRef(1), departure + 12s)) << "it fell silent before";
}

TEST(Departed, ANeighbourVouchesForWhomItNamesUntilItNamesThemNoLonger) {
  Departed departed(4, 10s, 1h);
  const PeerRef neighbor(7);
  const PeerRef other(8);
  for (std::uint32_t i = 1; i < 4; ++i) departed.add(PeerRef(i), i == 3, departure);
  departed.named(neighbor, std::vector{PeerRef(1), PeerRef(2), PeerRef(3)});
  departed.named(other, {});
  departed.named(neighbor, std::vector{PeerRef(2), PeerRef(3)});
  EXPECT_TRUE(departed.take_vouched_for(other).empty());
  EXPECT_EQ(departed.take_vouched_for(neighbor), std::vector{PeerRef(2)})
      << "who said goodbye is gone whatever others know";
  EXPECT_TRUE(departed.take_vouched_for(neighbor).empty());
  EXPECT_TRUE(departed.in_quarantine(PeerRef(2), departure)) << "hearsay is not listened to";
}

TEST(Departed, WhoIsHeardFromIsForgotten) {
  Departed departed(4, 10s, 1h);
  departed.add(PeerRef(1), false, departure);
  departed.remove(PeerRef(1));
  EXPECT_FALSE(departed.in_quarantine(PeerRef(1), departure));
}

TEST(Departed, ALaterStartTakesThePlaceOfOneThatFellSilent) {
  PeerTable peers;
  const PeerRef before = peers.intern({.id = Id::hash_of("ann"), .incarnation = 1});
  const PeerRef later = peers.intern({.id = Id::hash_of("ann"), .incarnation = 2});
  Departed departed(4, 10s, 1h);
  EXPECT_FALSE(departed.renew(later, peers)) << "nobody misses it";
  departed.add(before, false, departure);
  EXPECT_TRUE(departed.renew(later, peers));
  EXPECT_FALSE(departed.contains(before));
  EXPECT_TRUE(departed.fell_silent(later));
  EXPECT_FALSE(departed.in_quarantine(later, departure)) << "it lives";
  departed.add(before, true, departure);
  EXPECT_FALSE(departed.renew(later, peers)) << "that one said goodbye";
}

TEST(Departed, OfSizeZeroRememberNobody) {
  Departed departed(0, 10s, 1h);
  departed.add(PeerRef(1), false, departure);
  EXPECT_EQ(departed.size(), 0U);
}

}  // namespace
}  // namespace canopy::pastry
