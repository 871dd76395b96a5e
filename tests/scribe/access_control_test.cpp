// Groups with access lists in a small network: who gets in, and who is put out again.
#include "scribe/access_test.hpp"

namespace canopy::scribe::test {
namespace {

TEST_F(AccessTest, ARefusedJoinIsUndoneOnBothSides) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  EXPECT_FALSE(net.join(others[1], prices));
  for (std::size_t i = 2; i < 12; ++i) {
    EXPECT_EQ(net.join(others[i], prices), errc::denied);
    net.run_for(100ms);
    const auto view = net[others[i]].scribe().view(group);
    EXPECT_TRUE(!view || (!view->member && !view->children.empty()));
    if (!view) {
      EXPECT_EQ(parents_of(others[i]), 0u);
    }
  }
  EXPECT_EQ(net.members(group), std::vector{others[1]});
  expect_sound();
  EXPECT_FALSE(net.publish(others[5], prices, "news").error);
  net.run_for(100ms);
  for (const PeerRef ref : refs) EXPECT_EQ(net[ref].count("news"), ref == others[1] ? 1u : 0u);
}

TEST_F(AccessTest, WhoHasTheTokenIsAMemberAndWhoHasAnotherIsNot) {
  build(30);
  wire::AccessList list;
  list.join = holders(secret);
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  EXPECT_FALSE(net.join(others[1], prices, secret));
  EXPECT_EQ(net.join(others[2], prices, token("another")), errc::denied);
  EXPECT_EQ(net.join(others[3], prices), errc::denied);
  EXPECT_FALSE(net.join(others[3], prices, secret));
  EXPECT_EQ(net.join(root(), prices), errc::denied);
  EXPECT_FALSE(net.join(root(), prices, secret));
  expect_sound();
}

TEST_F(AccessTest, WhoHasLeftShowsItsTokenAnew) {
  build(30);
  wire::AccessList list;
  list.join = holders(secret);
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  ASSERT_FALSE(net.join(root(), prices, secret));
  net[root()].scribe().leave(group);  // and stays in the tree
  net.run_for(1s);
  EXPECT_EQ(net.join(root(), prices), errc::denied);
  EXPECT_FALSE(net.join(root(), prices, secret));
  expect_sound();
}

TEST_F(AccessTest, ATokenThatIsWrongCostsAMemberNothing) {
  build(30);
  wire::AccessList list;
  list.join = holders(secret);
  list.manage = peers({others[0]});
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  ASSERT_FALSE(net.join(others[1], prices, secret));
  EXPECT_EQ(net.join(others[1], prices, token("another")), errc::denied);
  EXPECT_FALSE(net.join(others[1], prices));
  list.publish = peers({others[0]});
  ASSERT_FALSE(net.set_access(others[0], prices, list));  // all are asked for their tokens
  net.run_for(5s);
  EXPECT_EQ(net.members(group), std::vector{others[1]});
  expect_sound();
}

TEST_F(AccessTest, WhoMayNotBeAMemberStillForwards) {
  build(60);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 30; ++i) ASSERT_FALSE(net.join(others[i], prices));
  const std::vector<PeerRef> forwarders = net.forwarders(group);
  ASSERT_FALSE(forwarders.empty());
  std::vector<PeerRef> allowed;
  for (const PeerRef ref : others) {
    if (std::ranges::find(forwarders, ref) == forwarders.end()) allowed.push_back(ref);
  }
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but(allowed)));
  net.run_for(5s);
  EXPECT_EQ(net.join(forwarders[0], prices), errc::denied);
  net.publish(others[0], prices, "news");
  net.run_for(200ms);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(net[others[i]].count("news"), 1u);
  expect_sound();
}

TEST_F(AccessTest, AListThatBecomesStricterPutsMembersOutAtOnce) {
  build(40);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 30; ++i) ASSERT_FALSE(net.join(others[i], prices));
  const std::vector<PeerRef> left(others.begin(), others.begin() + 10);
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but(left)));
  net.run_for(50ms);
  net.publish(others[0], prices, "ours");
  net.run_for(100ms);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(net[others[i]].count("ours"), i < 10 ? 1u : 0u);
    EXPECT_EQ(net[others[i]].detachments.size(), i < 10 ? 0u : 1u);
  }
  net.run_for(5s);
  expect_sound();
  EXPECT_EQ(net.members(group).size(), 10u);
}

TEST_F(AccessTest, ManagersLoosenAndOthersMayNot) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({})).first);
  EXPECT_EQ(net.join(others[3], prices), errc::denied);
  EXPECT_EQ(net.set_access(others[1], prices, closed_to_all_but(others)), errc::denied);
  EXPECT_EQ(net.remove(others[1], prices), errc::denied);
  EXPECT_FALSE(net.set_access(others[0], prices, closed_to_all_but(others)));
  EXPECT_FALSE(net.join(others[3], prices));
}

TEST_F(AccessTest, OnlyTheListedPublishAndTheOthersAreTold) {
  build(30);
  wire::AccessList list;
  list.publish = peers({others[1]});
  list.publish.keys = holders(secret).keys;
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  ASSERT_FALSE(net.join(others[2], prices));
  EXPECT_FALSE(net.publish(others[1], prices, "by id").error);
  EXPECT_EQ(net.publish(others[3], prices, "by nobody").error, errc::denied);
  EXPECT_EQ(net.publish(root(), prices, "by the root").error, errc::denied);
  for (const wire::AckMode ack :
       {wire::AckMode::none, wire::AckMode::root, wire::AckMode::members}) {
    EXPECT_FALSE(net.publish(others[3], prices, "by token", ack, 1s, secret).error);
  }
  net.shout(others[4], prices, "by nobody");
  net.run_for(1s);
  EXPECT_EQ(net[others[2]].count("by id"), 1u);
  EXPECT_EQ(net[others[2]].count("by token"), 3u);
  EXPECT_EQ(net[others[2]].count("by nobody"), 0u);
  EXPECT_GE(net[root()].scribe().counters().publishes_denied, 3u);
  EXPECT_EQ(net.anycast(others[4], prices, "any").first, errc::denied);
  EXPECT_EQ(net.anycast(others[4], prices, "any", {.key = secret}).second, others[2]);
}

TEST_F(AccessTest, AnUpdateThatGetsLostIsMadeGoodByHeartbeats) {
  build(40);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 30; ++i) ASSERT_FALSE(net.join(others[i], prices));
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::AccessUpdate>(message) ||
           std::holds_alternative<wire::JoinRefused>(message);
  };
  const std::vector<PeerRef> left(others.begin(), others.begin() + 10);
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but(left)));
  net.run_for(500ms);
  net.lost = nullptr;
  net.run_for(30s);
  EXPECT_EQ(net.members(group).size(), 10u);
  expect_sound();
}

// A search is refused by whoever of the tree it comes to first, by the list that this one has.
TEST_F(AccessTest, AnUpdateOfWhoMayPublishThatGetsLostIsMadeGoodByHeartbeats) {
  build(40);
  wire::AccessList list;
  list.manage = peers({others[0]});
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  for (std::size_t i = 0; i < 30; ++i) ASSERT_FALSE(net.join(others[i], prices));
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::AccessUpdate>(message);
  };
  list.publish = peers({others[0]});
  ASSERT_FALSE(net.set_access(others[0], prices, list));
  net.run_for(500ms);
  net.lost = nullptr;
  net.run_for(30s);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(net.anycast(others[i], prices, "any").first == errc::denied, i != 0) << i;
  }
}

TEST_F(AccessTest, WhoDoesNotAnswerANewListIsPutOutByItsParent) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 8; ++i) ASSERT_FALSE(net.join(others[i], prices));
  const PeerRef stubborn = others[5];
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    return to == stubborn && (std::holds_alternative<wire::AccessUpdate>(message) ||
                              std::holds_alternative<wire::TreeHeartbeat>(message));
  };
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but({others[0], others[1]})));
  net.run_for(5s);
  EXPECT_EQ(net[stubborn].detachments, std::vector{make_error_code(errc::denied)});
}

TEST_F(AccessTest, AnAnswerThatGetsLostCostsAHolderOfTheTokenNothing) {
  build(30);
  wire::AccessList list = closed_to_all_but({});
  list.join = holders(secret);
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  for (std::size_t i = 0; i < 10; ++i) ASSERT_FALSE(net.join(others[i], prices, secret));
  net.lost = [](PeerRef, PeerRef, const wire::Message& message) {
    return std::holds_alternative<wire::AccessClaim>(message);
  };
  list.join.peers.push_back(net.table().id(others[12]));
  ASSERT_FALSE(net.set_access(others[0], prices, list));
  net.run_for(500ms);
  net.lost = nullptr;
  net.run_for(10s);
  EXPECT_EQ(net.members(group).size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(net[others[i]].detachments.empty());
  expect_sound();
}

TEST_F(AccessTest, AnOlderJoinThatComesLateCostsAHolderOfTheTokenNothing) {
  build(30);
  wire::AccessList list;
  list.join = holders(secret);
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  ASSERT_FALSE(net.join(others[1], prices, secret));
  const PeerRef parent = net[others[1]].scribe().view(group)->parent;
  ASSERT_TRUE(parent);
  wire::GroupJoin late;
  late.group = group;
  late.name = prices;
  late.child = others[1];
  late.claim = wire::Claim::member;
  net[parent].peer->receive(others[1], late);
  net.run_for(1s);
  EXPECT_EQ(net.members(group), std::vector{others[1]});
  EXPECT_TRUE(net[others[1]].detachments.empty());
}

// It has asked to be a member, and nobody has said that it may.
TEST_F(AccessTest, WhoHasOnlyAskedToJoinAClosedGroupIsGivenNothing) {
  build(60);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  ASSERT_FALSE(net.join(others[1], prices));
  // A carrier that looks for a parent, whose present one sends on.
  const PeerRef member = others[1];
  const auto carrier_of = [&](PeerRef ref) { return net[ref].scribe().view(group)->parent; };
  wire::Peers outsiders;
  for (std::size_t i = 2; i < others.size(); ++i) {
    if (!net[others[i]].scribe().view(group)) outsiders.push_back(others[i]);
  }
  const PeerRef above = carrier_of(member);
  std::size_t given = 0;
  std::size_t overtaking = 0;
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    const bool outsider = std::ranges::find(outsiders, to) != outsiders.end();
    const bool payload = std::holds_alternative<wire::Multicast>(message) ||
                         std::holds_alternative<wire::Anycast>(message);
    given += outsider && payload;
    // Whoever has to ask further for itself does not get the answer yet.
    return std::holds_alternative<wire::JoinAck>(message);
  };
  std::size_t denied = 0;
  for (const PeerRef ref : outsiders) {
    net[ref].scribe().join(
        prices, [&](boost::system::error_code error) { denied += error == errc::denied; });
  }
  ASSERT_TRUE(above);
  for (int i = 0; i < 50; ++i) {
    net.shout(others[0], prices, "news");
    net[others[0]].scribe().anycast(prices, Buffer::copy_of("any"), [](const AnycastOutcome&) {});
    net.run_for(20ms);
  }
  EXPECT_EQ(given, 0u);
  // Nor does one that waits itself pass on what has overtaken its own JoinAck.
  for (const PeerRef ref : outsiders) {
    const auto view = net[ref].scribe().view(group);
    if (!view || view->attached || view->children.empty()) continue;
    ++overtaking;
    wire::Multicast overtaken;
    overtaken.group = group;
    overtaken.id = {net.table().id(others[0]), 1, 1'000'000};
    overtaken.body = Buffer::copy_of("secret");
    net[ref].peer->receive(root(), overtaken);
  }
  net.run_for(500ms);
  EXPECT_EQ(given, 0u);
  EXPECT_GT(denied, 0u);
  EXPECT_GT(overtaking, 0u);
}

TEST_F(AccessTest, APeerOfAnEarlierVersionIsNoMemberOfAClosedGroup) {
  build(10);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  const auto refused_before = net[root()].scribe().counters().joins_denied;
  wire::GroupJoin join;
  join.group = group;
  join.name = prices;
  join.child = others[2];
  join.nonce = 5;
  join.entries = 1000;
  net[root()].peer->receive(others[2], join);
  EXPECT_EQ(net[root()].scribe().counters().joins_denied, refused_before + 1);
  EXPECT_TRUE(net[root()].scribe().view(group)->children.empty());
  join.claim = wire::Claim::member;
  join.child = others[1];
  net[root()].peer->receive(others[1], join);
  EXPECT_EQ(net[root()].scribe().view(group)->children, wire::Peers{others[1]});
}

TEST_F(AccessTest, ARootOfAnEarlierVersionThatKnowsNoListsIsAnError) {
  build(10);
  const auto answer_as_earlier = [&](const wire::AccessList& list) {
    boost::system::error_code told = errc::busy;
    net[others[0]].scribe().create(
        prices, wire::GroupMode::best_effort, std::make_shared<const wire::AccessList>(list),
        nullptr, [&](boost::system::error_code error, const CreateOutcome&) { told = error; });
    static std::uint32_t nonce = 0;
    net[others[0]].peer->receive(root(), wire::GroupCreateReply{++nonce, 0, false, 0});
    net.run_for(10ms);
    return told;
  };
  EXPECT_EQ(answer_as_earlier(closed_to_all_but({})), errc::version);
  EXPECT_FALSE(answer_as_earlier(wire::AccessList{}));
}

TEST_F(AccessTest, AProofIsGoodForItsOwnPeerGroupAndRightOnly) {
  build(10);
  wire::AccessList list;
  list.join = list.publish = holders(secret);
  ASSERT_FALSE(net.create(others[0], prices, list).first);
  const PeerDescriptor& owner = net.table()[others[1]];
  const auto proof_of = [&](const Id& of, wire::Right right, const PeerDescriptor& peer) {
    return std::make_shared<const wire::Proof>(
        wire::Proof{secret->public_key(), secret->sign(text_to_sign(of, right, peer))});
  };
  std::uint64_t denied = 0;
  const auto publish = [&](PeerRef origin, wire::ProofRef proof) {
    wire::Publish message;
    message.group = group;
    message.name = prices;
    message.id = {net.table().id(origin), 1, ++denied};
    message.origin = origin;
    message.proof = std::move(proof);
    const auto before = net[root()].scribe().counters().publishes_denied;
    net[root()].peer->receive(origin, message);
    return net[root()].scribe().counters().publishes_denied == before;
  };
  EXPECT_TRUE(publish(others[1], proof_of(group, wire::Right::publish, owner)));
  EXPECT_FALSE(publish(others[2], proof_of(group, wire::Right::publish, owner)));
  EXPECT_FALSE(publish(others[1], proof_of(group, wire::Right::join, owner)));
  EXPECT_FALSE(publish(others[1], proof_of(Id::hash_of("other"), wire::Right::publish, owner)));
  PeerDescriptor later = owner;
  ++later.incarnation;
  EXPECT_FALSE(publish(others[1], proof_of(group, wire::Right::publish, later)));
  EXPECT_TRUE(publish(others[1], proof_of(group, wire::Right::publish, owner)));
}

TEST_F(AccessTest, ACreateSaysWhetherTheGroupWasThereAndItsMode) {
  build(10);
  wire::AccessList list;
  const auto first = net.create(others[0], prices, list, wire::GroupMode::ordered);
  EXPECT_FALSE(first.first);
  EXPECT_FALSE(first.second.existed);
  const auto second = net.create(others[1], prices, list, wire::GroupMode::ordered);
  EXPECT_FALSE(second.first);
  EXPECT_TRUE(second.second.existed);
  const auto third = net.create(others[1], prices, list, wire::GroupMode::best_effort);
  EXPECT_EQ(third.first, errc::mode_conflict);
  EXPECT_EQ(third.second.mode, wire::GroupMode::ordered);
}

TEST_F(AccessTest, OnlyCreatorsCreateAndNoJoinFoundsAGroup) {
  net.config.scribe.creators = std::make_shared<const wire::Grant>(holders(secret));
  build(60);
  EXPECT_EQ(net.create(others[0], prices, wire::AccessList{}).first, errc::denied);
  for (const PeerRef ref : refs) {
    EXPECT_EQ(net.join(ref, prices), errc::no_such_group);
    net.run_for(10ms);
  }
  for (const PeerRef ref : refs) EXPECT_FALSE(net[ref].scribe().view(group));
  EXPECT_FALSE(
      net.create(others[0], prices, wire::AccessList{}, wire::GroupMode::best_effort, secret)
          .first);
  EXPECT_FALSE(net.join(others[1], prices));
}

}  // namespace
}  // namespace canopy::scribe::test
