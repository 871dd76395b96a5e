// Groups with access lists in a small network: who gets in, who is put out again,
// and what stays when roots change.
#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/access.hpp"
#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {
namespace {

TokenKey token(const std::string& text) { return std::make_shared<const SigningKey>(sha256(text)); }

class AccessTest : public testing::Test {
 protected:
  void build(std::size_t count) {
    net.build(count);
    for (Box* box : net.live()) {
      refs.push_back(box->ref);
      if (box->ref != net.closest_live(group)) others.push_back(box->ref);
    }
  }
  PeerRef root() const { return net.closest_live(group); }
  wire::Grant peers(std::vector<PeerRef> allowed) {
    wire::Grant grant{false, {}, {}};
    for (const PeerRef ref : allowed) grant.peers.push_back(net.table().id(ref));
    return grant;
  }
  static wire::Grant holders(const TokenKey& key) { return {false, {}, {key->public_key()}}; }
  wire::AccessList closed_to_all_but(std::vector<PeerRef> members) {
    wire::AccessList list;
    list.join = peers(std::move(members));
    list.manage = peers({others[0]});
    return list;
  }
  // How many of the live peers have this one for a child.
  std::size_t parents_of(PeerRef child) {
    std::size_t parents = 0;
    for (Box* box : net.live()) {
      const auto view = box->scribe().view(group);
      if (view && std::ranges::count(view->children, child) > 0) ++parents;
    }
    return parents;
  }
  void expect_sound() {
    net.run_for(200ms);
    EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  }

  MiniNet net{11};
  const Id group = group_id(prices, 160);
  const TokenKey secret = token("a secret of ours");
  std::vector<PeerRef> refs;
  std::vector<PeerRef> others;  // all but the root
};

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

TEST_F(AccessTest, AChangeThatWasMadeOfAnOlderListIsAConflict) {
  build(10);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({})).first);
  const auto before = net.look(others[0], prices).second.access;
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but({others[1]})));
  boost::system::error_code told;
  net[others[0]].scribe().set_access(
      prices, before->mark, before, nullptr,
      [&](boost::system::error_code error, const wire::GroupState&) { told = error; });
  net.run_for(1s);
  EXPECT_EQ(told, errc::conflict);
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

TEST_F(AccessTest, ANewRootGoesByTheSameList) {
  build(40);
  wire::AccessList list = closed_to_all_but({});
  list.join.keys = list.publish.keys = {secret->public_key()};
  list.publish.everybody = false;
  ASSERT_FALSE(net.create(others[0], prices, list, wire::GroupMode::ordered).first);
  for (std::size_t i = 0; i < 10; ++i) ASSERT_FALSE(net.join(others[i], prices, secret));
  for (int round = 0; round < 3; ++round) {
    net.kill(root());
    net.run_for(10s);
    const PeerRef outsider =
        *std::ranges::find_if(others.begin() + 20, others.end(),
                              [&](PeerRef ref) { return net[ref].alive && ref != root(); });
    EXPECT_EQ(net.join(outsider, prices), errc::denied);
    EXPECT_EQ(net.publish(outsider, prices, "out").error, errc::denied);
    EXPECT_FALSE(net.publish(outsider, prices, "in", wire::AckMode::root, 0s, secret).error);
  }
  net.run_for(30s);
  expect_sound();
  const PeerRef asking = net[others[0]].alive ? others[0] : others[1];
  EXPECT_EQ(net.look(asking, prices).second.access->join, list.join);
}

TEST_F(AccessTest, APeerThatTakesTheRootOverAsANewcomerGoesByTheSameList) {
  build(20);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  ASSERT_FALSE(net.join(others[1], prices));
  for (int i = 0; i < 40; ++i) net.add("new-" + std::to_string(i));
  EXPECT_EQ(std::ranges::find(refs, root()), refs.end()) << "no newcomer is closer: add more";
  net.run_for(5s);
  EXPECT_EQ(net.join(others[2], prices), errc::denied);
  EXPECT_EQ(net.members(group), std::vector{others[1]});
  expect_sound();
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

TEST_F(AccessTest, ARootThatWasStoppedLooksWhetherItIsOneWhenAListIsToBeChanged) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but({others[1]})).first);
  static_cast<pastry::Application&>(net[root()].scribe()).stalled();
  EXPECT_FALSE(net.set_access(others[0], prices, closed_to_all_but({others[2]})));
  EXPECT_FALSE(net.join(others[2], prices));
}

// As when parts of the ring that were apart meet again.
TEST_F(AccessTest, OfListsThatWereChangedApartTheStricterHoldsEverywhere) {
  build(30);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 12; ++i) ASSERT_FALSE(net.join(others[i], prices));
  const wire::GroupState before = net.look(others[0], prices).second;
  const std::vector<PeerRef> here(others.begin(), others.begin() + 8);
  ASSERT_FALSE(net.set_access(others[0], prices, closed_to_all_but(here)));
  wire::GroupState apart = before;
  const std::vector<PeerRef> there(others.begin() + 4, others.end());
  apart.access = next_version(before.access, closed_to_all_but(there), 4711);
  apart.epoch += 3;
  const wire::Peers holders_of = net[root()].peer->pastry().closest(group, 5);
  const PeerRef replica = holders_of[0] == root() ? holders_of[1] : holders_of[0];
  net[replica].peer->receive(others[12], wire::RootStates{1, false, {apart}});
  net.run_for(60s);
  expect_sound();
  const auto members = net.members(group);
  EXPECT_EQ(members, std::vector(others.begin() + 4, others.begin() + 8));
  for (const PeerRef ref : others) {
    const auto view = net[ref].scribe().view(group);
    if (!view) continue;
    EXPECT_EQ(view->access->mark, net.look(others[0], prices).second.access->mark);
  }
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

TEST_F(AccessTest, ADeletedGroupIsGoneForItsMembersAndStaysSo) {
  build(40);
  ASSERT_FALSE(net.create(others[0], prices, closed_to_all_but(others)).first);
  for (std::size_t i = 0; i < 20; ++i) ASSERT_FALSE(net.join(others[i], prices));
  ASSERT_FALSE(net.remove(others[0], prices));
  net.run_for(5s);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(net[others[i]].detachments, std::vector{make_error_code(errc::no_such_group)});
  }
  for (const PeerRef ref : refs) EXPECT_FALSE(net[ref].scribe().view(group));
  EXPECT_EQ(net.join(others[3], prices), errc::no_such_group);
  EXPECT_EQ(net.publish(others[3], prices, "x").error, errc::no_such_group);
  EXPECT_EQ(net.look(others[3], prices).first, errc::no_such_group);
  net.kill(root());
  net.run_for(10s);
  EXPECT_EQ(net.join(others[4], prices), errc::no_such_group);
  // Created anew, it is another group.
  EXPECT_FALSE(net.create(others[0], prices, closed_to_all_but({others[4]})).first);
  EXPECT_FALSE(net.join(others[4], prices));
  net.run_for(60s);
  EXPECT_EQ(net.members(group), std::vector{others[4]});
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

TEST_F(AccessTest, APublisherThatIsTooFastIsSlowedDownAndThenTold) {
  net.config.scribe.publish_messages_max = 10;
  build(20);
  ASSERT_FALSE(net.join(others[0], prices));
  std::size_t accepted = 0;
  std::size_t refused = 0;
  Duration hint{};
  const MonoTime begun = net.now();
  for (int i = 0; i < 200; ++i) {
    net[others[1]].scribe().publish(prices, wire::AckMode::root, Buffer::copy_of("x"),
                                    [&](const PublishOutcome& outcome) {
                                      accepted += !outcome.error;
                                      refused += outcome.error == errc::limit;
                                      if (outcome.error) hint = outcome.retry_after;
                                    });
  }
  net.run_until([&] { return accepted + refused == 200; }, 20s);
  EXPECT_LE(net.now() - begun, net.config.scribe.request_timeout);
  EXPECT_GE(accepted, 10u);
  EXPECT_LE(accepted, 65u);
  EXPECT_EQ(accepted + refused, 200u);
  EXPECT_GT(hint, Duration::zero());
  EXPECT_EQ(net[others[0]].count("x"), accepted);
  EXPECT_GE(net[root()].scribe().counters().publishes_over_rate, refused);
}

TEST_F(AccessTest, WhatTheRootHasCostsItsPublisherNoMoreHoweverOftenItAsks) {
  net.config.scribe.publish_messages_max = 1;
  build(20);
  ASSERT_FALSE(net.join(others[0], prices));
  net.hang(others[0]);
  const PublishOutcome outcome = net.publish(others[1], prices, "x", wire::AckMode::members, 6s);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(net[root()].scribe().counters().publishes_over_rate, 0u);
}

TEST_F(AccessTest, OnePeerGetsSoManyEntriesAsAChildAndNoMore) {
  net.config.scribe.child_entries_max = 3;
  net.config.scribe.join_timeout = 5s;
  build(2);
  std::size_t joined = 0;
  for (int i = 0; i < 20; ++i) {
    joined += !net.join(refs[0], {"g" + std::to_string(i), "ann"});
  }
  std::size_t mine = 0;
  for (const Id& id : net[refs[0]].scribe().groups()) {
    mine += net[refs[0]].scribe().view(id)->root;
  }
  EXPECT_EQ(joined, mine + 3);
  EXPECT_GT(net[refs[1]].scribe().counters().child_limits_met, 0u);
}

TEST_F(AccessTest, WhatDisksHaveKeptIsThereAgainAfterEverythingWasOff) {
  net.config.scribe.keeps_states = true;
  build(12);
  ASSERT_FALSE(
      net.create(others[0], prices, closed_to_all_but({others[1]}), wire::GroupMode::ordered)
          .first);
  const wire::GroupName other{"deleted", "ann"};
  ASSERT_FALSE(net.create(others[0], other, closed_to_all_but(others)).first);
  ASSERT_FALSE(net.remove(others[0], other));
  std::map<std::string, std::map<Id, wire::GroupState>> disks;
  for (Box* box : net.live()) disks[net.table()[box->ref].name] = box->disk;
  const std::string allowed = net.table()[others[1]].name;

  MiniNet again{12};
  again.config.scribe.keeps_states = true;
  again.build(1);
  std::vector<std::pair<std::string, PeerRef>> boxes;
  for (const auto& [name, disk] : disks) {
    if (name == "node-0") continue;
    Box& box = again.begin_add(name);
    for (const auto& [id, state] : disk) box.scribe().restore(state);
    ASSERT_TRUE(again.run_until([&] { return box.peer->pastry().active(); }, 60s));
    boxes.emplace_back(name, box.ref);
  }
  again.run_for(60s);
  for (const auto& [name, ref] : boxes) {
    EXPECT_EQ(!again.join(ref, prices), name == allowed) << name;
  }
  EXPECT_EQ(again.look(boxes[0].second, prices).second.mode, wire::GroupMode::ordered);
  EXPECT_EQ(again.join(boxes[0].second, other), errc::no_such_group);
}

TEST_F(AccessTest, ACreateThatARootCannotKeepSaysSo) {
  net.config.scribe.keeps_states = true;
  build(10);
  net[root()].disk_works = false;
  EXPECT_EQ(net.create(others[0], prices, wire::AccessList{}).first, errc::unconfirmed);
  net[root()].disk_works = true;
  EXPECT_FALSE(net.set_access(others[0], prices, {}));
}

}  // namespace
}  // namespace canopy::scribe::test
