// Requests and replies, between whole peers.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/group_name.hpp"
#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {
namespace {

using boost::system::error_code;

class AskerTest : public testing::Test {
 protected:
  // The first of `members` peers are members; others ask.
  void build(std::size_t count, std::size_t members,
             wire::GroupMode mode = wire::GroupMode::best_effort) {
    net.build(count);
    for (Box* box : net.live()) refs.push_back(box->ref);
    ASSERT_FALSE(net.create(refs[0], prices, mode));
    for (std::size_t i = 0; i < members; ++i) ASSERT_FALSE(net.join(refs[i], prices));
    net.run_for(2s);
  }

  wire::MessageId ask(PeerRef from, const RequestTerms& terms) {
    told.reset();
    return net[from].scribe().request(prices, Buffer::copy_of("question"), terms,
                                      [this](const RequestOutcome& outcome) { told = outcome; });
  }

  bool answered(Duration limit) {
    return net.run_until([this] { return told.has_value(); }, limit);
  }

  // Who has a request.
  std::vector<PeerRef> holders() {
    std::vector<PeerRef> found;
    for (Box* box : net.live()) {
      if (!box->had.empty()) found.push_back(box->ref);
    }
    return found;
  }
  PeerRef holder() {
    net.run_until([this] { return !holders().empty(); }, 5s);
    return holders().empty() ? PeerRef{} : holders().front();
  }

  void reply(PeerRef from, const std::string& text, std::uint32_t status = 0) {
    Box& box = net[from];
    const wire::MessageId id = box.had.back();
    box.had.pop_back();
    box.scribe().reply(id, status, Buffer::copy_of(text),
                       [this](error_code error) { replied.push_back(error); });
  }
  void decline(PeerRef from) {
    net[from].scribe().decline(net[from].had.back());
    net[from].had.pop_back();
  }

  // Every member has one subscriber who replies.
  void let_all_reply() {
    for (Box* box : net.live()) box->repliers = 1;
  }
  void reply_everywhere() {
    for (const PeerRef ref : holders()) reply(ref, net.table()[ref].name);
  }

  MiniNet net{12};
  const Id group = group_id(prices, 160);
  std::vector<PeerRef> refs;
  std::optional<RequestOutcome> told;
  std::vector<error_code> replied;
};

RequestTerms to_one(Duration within = 20s) {
  RequestTerms terms;
  terms.within = within;
  return terms;
}

RequestTerms to_all(std::size_t replies = 0, Duration within = 20s) {
  RequestTerms terms;
  terms.to_all = true;
  terms.within = within;
  terms.replies = replies;
  return terms;
}

// --- To one ---

TEST_F(AskerTest, OneMemberHasTheRequestAndItsReplyComes) {
  build(20, 8);
  ask(refs[15], to_one());
  const PeerRef member = holder();
  ASSERT_TRUE(member);
  reply(member, "answer", 3);
  ASSERT_TRUE(answered(1s));
  EXPECT_FALSE(told->error);
  ASSERT_EQ(told->replies.size(), 1U);
  EXPECT_EQ(told->replies[0].from, member);
  EXPECT_EQ(told->replies[0].status, 3U);
  EXPECT_EQ(told->replies[0].body.view(), "answer");
  net.run_for(1s);
  EXPECT_EQ(replied, std::vector<error_code>{error_code()});
  EXPECT_EQ(holders().size(), 0U);
}

TEST_F(AskerTest, AMemberMayReplyToItself) {
  build(3, 1);
  ask(refs[0], to_one());
  ASSERT_EQ(holder(), refs[0]);
  reply(refs[0], "mine");
  ASSERT_TRUE(answered(1s));
  EXPECT_EQ(told->replies.at(0).from, refs[0]);
  net.run_for(1s);
  EXPECT_EQ(replied, std::vector<error_code>{error_code()});
}

TEST_F(AskerTest, ADeclinedRequestGoesToTheNextMember) {
  build(20, 4);
  ask(refs[15], to_one());
  std::set<PeerRef> declined;
  for (int i = 0; i < 3; ++i) {
    const PeerRef member = holder();
    ASSERT_TRUE(member);
    EXPECT_TRUE(declined.insert(member).second);
    decline(member);
  }
  const PeerRef last = holder();
  ASSERT_TRUE(last);
  EXPECT_FALSE(declined.contains(last));
  reply(last, "answer");
  ASSERT_TRUE(answered(1s));
  EXPECT_FALSE(told->error);
  EXPECT_EQ(told->declined, 3U);
}

TEST_F(AskerTest, WhatAllDeclineNobodyTakes) {
  build(10, 2);
  ask(refs[5], to_one());
  for (int i = 0; i < 2; ++i) decline(holder());
  ASSERT_TRUE(answered(2s));
  EXPECT_EQ(told->error, errc::no_member);
}

TEST_F(AskerTest, ABusyMemberIsWaitedForAnAbsentOneIsNot) {
  build(10, 1);
  net[refs[0]].willing = false;
  ask(refs[5], to_one());
  EXPECT_FALSE(answered(2s));
  net[refs[0]].willing = true;
  ASSERT_EQ(holder(), refs[0]);
  reply(refs[0], "answer");
  ASSERT_TRUE(answered(1s));
  EXPECT_FALSE(told->error);

  net[refs[0]].scribe().leave(group);
  net.run_for(1s);
  ask(refs[5], to_one());
  ASSERT_TRUE(answered(1s));
  EXPECT_EQ(told->error, errc::no_member);

  ASSERT_FALSE(net.join(refs[0], prices));
  net[refs[0]].willing = false;
  RequestTerms terms = to_one();
  terms.patience = Patience::none;
  ask(refs[5], terms);
  ASSERT_TRUE(answered(1s));
  EXPECT_EQ(told->error, errc::no_member);
}

TEST_F(AskerTest, WhoDiesWithTheRequestIsReplacedByAnother) {
  build(20, 6);
  ask(refs[15], to_one(60s));
  const PeerRef first = holder();
  ASSERT_TRUE(first);
  net.run_for(500ms);
  net.kill(first);
  ASSERT_TRUE(net.run_until([&] { return !holders().empty(); }, 15s));
  reply(holder(), "answer");
  ASSERT_TRUE(answered(2s));
  EXPECT_FALSE(told->error);
  EXPECT_NE(told->replies.at(0).from, first);
}

TEST_F(AskerTest, TheLossOfTheOnlyMemberIsToldInTime) {
  build(10, 1);
  ask(refs[5], to_one(12s));
  ASSERT_EQ(holder(), refs[0]);
  net.kill(refs[0]);
  ASSERT_TRUE(answered(13s));
  EXPECT_EQ(told->error, errc::lost_member);
}

TEST_F(AskerTest, AtTheDeadlineBothSidesAreTold) {
  build(10, 1);
  const wire::MessageId id = ask(refs[5], to_one(3s));
  ASSERT_EQ(holder(), refs[0]);
  ASSERT_TRUE(answered(3100ms));
  EXPECT_EQ(told->error, errc::timed_out);
  net.run_for(200ms);
  ASSERT_EQ(net[refs[0]].over.size(), 1U);
  EXPECT_EQ(net[refs[0]].over[0].first, id);
  reply(refs[0], "late");
  net.run_for(1s);
  EXPECT_EQ(replied.at(0), errc::not_awaited);
}

TEST_F(AskerTest, WhoWakesAfterTheDeadlineAsksNobodyElse) {
  build(20, 4);
  const PeerRef asker = refs[15];
  ask(asker, to_one(4s));
  const PeerRef member = holder();
  ASSERT_TRUE(member);
  net.run_for(100ms);
  net.hang(asker);
  net.run_for(100ms);
  decline(member);
  net.run_for(5s);
  net.wake_up(asker, MiniNet::WakesTo::inbox);
  net.run_for(1s);
  EXPECT_TRUE(holders().empty());
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->error, errc::timed_out);
}

TEST_F(AskerTest, ACancelledRequestIsCancelledAtItsMember) {
  build(10, 1);
  const wire::MessageId id = ask(refs[5], to_one());
  ASSERT_EQ(holder(), refs[0]);
  net.run_for(100ms);
  net[refs[5]].scribe().cancel_request(id);
  net.run_for(100ms);
  EXPECT_FALSE(told);
  ASSERT_EQ(net[refs[0]].over.size(), 1U);
  EXPECT_EQ(net[refs[0]].over[0].second, errc::not_awaited);
}

TEST_F(AskerTest, AMemberLearnsThatItsAskerIsGone) {
  build(10, 1);
  ask(refs[5], to_one(60s));
  ASSERT_EQ(holder(), refs[0]);
  net.run_for(100ms);
  net.kill(refs[5]);
  EXPECT_TRUE(net.run_until([&] { return !net[refs[0]].over.empty(); }, 10s));
  EXPECT_EQ(net[refs[0]].over[0].second, errc::unreachable);
}

TEST_F(AskerTest, LostMessagesOfEveryKindAreMadeUpFor) {
  build(20, 6);
  for (const char* kind : {"Anycast", "AnycastReply", "Reply", "ReplyAck", "RequestCheck"}) {
    int to_lose = 2;
    net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
      return wire::type_name(message) == kind && to_lose-- > 0;
    };
    ask(refs[15], to_one());
    const PeerRef member = holder();
    ASSERT_TRUE(member) << kind;
    net.run_for(2500ms);
    reply(member, kind);
    ASSERT_TRUE(answered(10s)) << kind;
    EXPECT_FALSE(told->error) << kind << ": " << told->error.message();
    net.run_for(10s);
    EXPECT_FALSE(replied.back()) << kind;
    EXPECT_EQ(holders().size(), 0U) << kind;
  }
}

TEST_F(AskerTest, ADepartingMemberGivesItsRequestBack) {
  build(20, 6);
  ask(refs[15], to_one());
  const PeerRef first = holder();
  ASSERT_TRUE(first);
  net[first].had.clear();
  net[first].peer->depart();
  ASSERT_TRUE(net.run_until([&] { return !holders().empty(); }, 3s));
  reply(holder(), "answer");
  EXPECT_TRUE(answered(1s));
}

TEST_F(AskerTest, AReplyThatIsTooLargeEndsTheRequest) {
  build(20, 4);
  RequestTerms terms = to_one();
  terms.bytes_max = 5;
  ask(refs[15], terms);
  const PeerRef member = holder();
  ASSERT_TRUE(member);
  reply(member, "answer");
  ASSERT_TRUE(answered(1s));
  EXPECT_EQ(told->error, errc::too_large);
  EXPECT_EQ(told->dropped, 1U);
  net.run_for(10s);
  EXPECT_EQ(holders().size(), 0U);
}

TEST_F(AskerTest, WhoHasDeclinedDoesNotHaveTheRequestByAnEarlierSearch) {
  build(20, 4);
  int to_lose = 1;
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    return wire::type_name(message) == std::string("AnycastReply") && to_lose-- > 0;
  };
  ask(refs[15], to_one());
  const PeerRef first = holder();
  ASSERT_TRUE(first);
  decline(first);
  // The search is repeated, and comes to the first one again, who knows the request.
  ASSERT_TRUE(net.run_until([&] { return !holders().empty(); }, 2500ms));
  EXPECT_NE(holder(), first);
  reply(holder(), "answer");
  EXPECT_TRUE(answered(1s));
}

TEST_F(AskerTest, AMemberHereKnowsTheEndWhenItsAskerDoes) {
  build(3, 1);
  bool known = false;
  bool over = false;
  net[refs[0]].scribe().request(prices, Buffer::copy_of("question"), to_one(1s),
                                [&](const RequestOutcome&) {
                                  over = true;
                                  known = !net[refs[0]].over.empty();
                                });
  ASSERT_EQ(holder(), refs[0]);
  ASSERT_TRUE(net.run_until([&] { return over; }, 2s));
  EXPECT_TRUE(known);
}

// --- To all ---

class ToAll : public AskerTest, public testing::WithParamInterface<wire::GroupMode> {};

INSTANTIATE_TEST_SUITE_P(Modes, ToAll,
                         testing::Values(wire::GroupMode::best_effort, wire::GroupMode::ordered));

TEST_P(ToAll, AllRepliesComeAndThatTheyAreAllIsKnown) {
  build(30, 12, GetParam());
  let_all_reply();
  ask(refs[20], to_all());
  ASSERT_TRUE(net.run_until([&] { return holders().size() == 12; }, 5s));
  reply_everywhere();
  ASSERT_TRUE(answered(3s));
  EXPECT_FALSE(told->error);
  EXPECT_TRUE(told->complete);
  EXPECT_EQ(told->members, 12U);
  std::set<PeerRef> from;
  for (const GivenReply& one : told->replies) from.insert(one.from);
  EXPECT_EQ(from.size(), 12U);
}

TEST_P(ToAll, EachSubscriberReplies) {
  build(10, 3, GetParam());
  for (Box* box : net.live()) box->repliers = 2;
  ask(refs[5], to_all());
  ASSERT_TRUE(net.run_until([&] { return holders().size() == 3; }, 5s));
  reply_everywhere();
  net.run_for(1s);
  EXPECT_FALSE(told);
  reply_everywhere();
  ASSERT_TRUE(answered(3s));
  EXPECT_EQ(told->replies.size(), 6U);
  EXPECT_TRUE(told->complete);
}

TEST_P(ToAll, MembersWithoutRepliersAreNotWaitedFor) {
  build(20, 8, GetParam());
  for (std::size_t i = 0; i < 3; ++i) net[refs[i]].repliers = 1;
  ask(refs[15], to_all());
  ASSERT_TRUE(net.run_until([&] { return holders().size() == 3; }, 5s));
  reply_everywhere();
  ASSERT_TRUE(answered(3s));
  EXPECT_EQ(told->replies.size(), 3U);
  EXPECT_TRUE(told->complete);
  EXPECT_EQ(told->members, 8U);
}

TEST_P(ToAll, SomeRepliesMayBeEnough) {
  build(20, 8, GetParam());
  let_all_reply();
  ask(refs[15], to_all(2));
  ASSERT_TRUE(net.run_until([&] { return holders().size() == 8; }, 5s));
  reply(refs[0], "1");
  reply(refs[1], "2");
  ASSERT_TRUE(answered(1s));
  EXPECT_EQ(told->replies.size(), 2U);
  reply(refs[2], "3");
  net.run_for(1s);
  EXPECT_EQ(replied.at(2), errc::not_awaited);
  // Those who have not replied learn it when they ask.
  net.run_for(5s);
  for (std::size_t i = 3; i < 8; ++i) EXPECT_EQ(net[refs[i]].over.size(), 1U) << i;
}

TEST_P(ToAll, RepliesThatSayThatTheyFailedAreNotEnough) {
  build(20, 8, GetParam());
  let_all_reply();
  ask(refs[15], to_all(2));
  ASSERT_TRUE(net.run_until([&] { return holders().size() == 8; }, 5s));
  reply(refs[0], "1", 7);
  reply(refs[1], "2");
  EXPECT_FALSE(answered(1s));
  reply(refs[2], "3");
  ASSERT_TRUE(answered(1s));
  EXPECT_EQ(told->replies.size(), 3U);
}

TEST_P(ToAll, WhatHasComeAtTheDeadlineIsTold) {
  build(20, 8, GetParam());
  let_all_reply();
  ask(refs[15], to_all(0, 3s));
  ASSERT_TRUE(net.run_until([&] { return holders().size() == 8; }, 2s));
  reply(refs[0], "1");
  ASSERT_TRUE(answered(3s));
  EXPECT_FALSE(told->error);
  EXPECT_FALSE(told->complete);
  EXPECT_EQ(told->replies.size(), 1U);
  net.run_for(500ms);
  ask(refs[15], to_all(2, 1s));
  ASSERT_TRUE(answered(2s));
  EXPECT_EQ(told->error, errc::timed_out);
}

TEST_P(ToAll, RepliesAreBounded) {
  build(20, 8, GetParam());
  let_all_reply();
  RequestTerms terms = to_all();
  terms.replies_max = 5;
  ask(refs[15], terms);
  ASSERT_TRUE(net.run_until([&] { return holders().size() == 8; }, 5s));
  reply_everywhere();
  ASSERT_TRUE(answered(3s));
  EXPECT_EQ(told->replies.size(), 5U);
  EXPECT_EQ(told->dropped, 3U);
}

TEST_F(AskerTest, AGroupThatNobodyKnowsHasNoReplies) {
  net.build(10);
  for (Box* box : net.live()) refs.push_back(box->ref);
  ask(refs[3], to_all());
  ASSERT_TRUE(answered(2s));
  EXPECT_EQ(told->error, errc::no_such_group);
}

TEST_F(AskerTest, SearchesUnderWayTakeNoRoomFromARequestToAll) {
  net.config.scribe.pending_publishes_max = 1;
  build(10, 1);
  let_all_reply();
  net[refs[0]].willing = false;
  ask(refs[5], to_one());
  net.run_for(100ms);
  ask(refs[5], to_one());
  ASSERT_TRUE(answered(1s));
  EXPECT_EQ(told->error, errc::queue_full);
  ask(refs[5], to_all());
  ASSERT_EQ(holder(), refs[0]);
  reply(refs[0], "answer");
  ASSERT_TRUE(answered(1s));
  EXPECT_FALSE(told->error);
}

TEST_F(AskerTest, AnOldRequestIsNoneAnyMore) {
  build(10, 1, wire::GroupMode::ordered);
  let_all_reply();
  // Kept by the tree for those who come back, but not waited for any more.
  ask(refs[5], to_all(0, 500ms));
  net.run_for(2s);
  const PeerRef late = refs[7];
  net[late].repliers = 1;
  const std::uint64_t had = net[late].scribe().counters().requests_had;
  ASSERT_FALSE(net.join(late, prices));
  net.run_for(2s);
  EXPECT_EQ(net[late].scribe().counters().requests_had, had);
}

TEST_F(AskerTest, EveryPeerInUseIsCollected) {
  build(10, 2);
  let_all_reply();
  ask(refs[5], to_one());
  const PeerRef member = holder();
  ASSERT_TRUE(member);
  net.run_for(100ms);
  std::vector<PeerRef> at_asker;
  std::vector<PeerRef> at_member;
  net[refs[5]].scribe().collect_peers(at_asker);
  net[member].scribe().collect_peers(at_member);
  EXPECT_TRUE(std::ranges::count(at_asker, member));
  EXPECT_TRUE(std::ranges::count(at_member, refs[5]));
}

}  // namespace
}  // namespace canopy::scribe::test
