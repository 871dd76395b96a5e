#include "net/link_rules.hpp"

#include <gtest/gtest.h>

namespace canopy::net {
namespace {

using std::chrono::seconds;

PeerDescriptor descriptor(std::uint64_t incarnation, std::uint16_t port) {
  PeerDescriptor peer;
  peer.id = *Id::from_hex("80");
  peer.incarnation = incarnation;
  peer.addresses = {{"127.0.0.1", port}};
  return peer;
}

const Id smaller = *Id::from_hex("10");
const Id larger = *Id::from_hex("f0");

TEST(LinkRules, OfCrossingDialsTheSmallerIdsSurvivesOnBothSides) {
  const PeerDescriptor peer = descriptor(1, 7000);
  const LinkFacts dialled{&peer, true};
  const LinkFacts accepted{&peer, false};
  EXPECT_EQ(judge(smaller, accepted, seconds(0), dialled, seconds(6)), Verdict::replace);
  EXPECT_EQ(judge(smaller, dialled, seconds(0), accepted, seconds(6)), Verdict::keep);
  EXPECT_EQ(judge(larger, accepted, seconds(0), dialled, seconds(6)), Verdict::keep);
  EXPECT_EQ(judge(larger, dialled, seconds(0), accepted, seconds(6)), Verdict::replace);
}

TEST(LinkRules, ALinkTooOldToHaveCrossedIsOneThatTheOtherSideHasLost) {
  const PeerDescriptor peer = descriptor(1, 7000);
  EXPECT_EQ(judge(smaller, {&peer, true}, seconds(6), {&peer, false}, seconds(6)),
            Verdict::replace);
}

TEST(LinkRules, WhoeverDialledTwiceDecides) {
  const PeerDescriptor peer = descriptor(1, 7000);
  EXPECT_EQ(judge(smaller, {&peer, true}, seconds(0), {&peer, true}, seconds(6)), Verdict::keep);
  EXPECT_EQ(judge(smaller, {&peer, false}, seconds(0), {&peer, false}, seconds(6)),
            Verdict::keep_both);
}

TEST(LinkRules, ALaterStartAtTheSameAddressReplacesTheEarlier) {
  const PeerDescriptor before = descriptor(1, 7000);
  const PeerDescriptor now = descriptor(2, 7000);
  EXPECT_EQ(judge(smaller, {&before, true}, seconds(0), {&now, false}, seconds(6)),
            Verdict::replace_dead);
  EXPECT_EQ(judge(smaller, {&now, true}, seconds(0), {&before, false}, seconds(6)),
            Verdict::refuse_stale);
}

TEST(LinkRules, AnotherAddressMayBeAnotherProcess) {
  const PeerDescriptor before = descriptor(1, 7000);
  const PeerDescriptor now = descriptor(2, 7001);
  EXPECT_EQ(judge(smaller, {&before, true}, seconds(0), {&now, false}, seconds(6)),
            Verdict::ask_old);
  EXPECT_EQ(judge(smaller, {&now, true}, seconds(0), {&before, false}, seconds(6)),
            Verdict::ask_old);
}

}  // namespace
}  // namespace canopy::net
