// Ordered groups on a small network: one order, every loss filled or told.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

class OrderingTest : public TreeTest {
 protected:
  void grow(std::size_t count, wire::GroupMode mode = wire::GroupMode::ordered) {
    TreeTest::grow(count, mode);
  }
  void publish_for(Duration span, PeerRef publisher, wire::AckMode ack = wire::AckMode::root) {
    TreeTest::publish_for(span, publisher, ack, 10ms);
  }

  std::vector<PeerRef> living_members() {
    std::vector<PeerRef> living;
    for (const PeerRef ref : joined) {
      if (net[ref].alive) living.push_back(ref);
    }
    return living;
  }

  // Everybody has every message, once, in the order of publishing, at the same
  // place, and was told no gap.
  void expect_everything_everywhere() {
    for (const PeerRef ref : living_members()) {
      const Box& box = net[ref];
      ASSERT_EQ(box.delivered.size(), published) << net.table()[ref].name;
      for (std::size_t i = 0; i < published; ++i) {
        ASSERT_EQ(box.delivered[i].text, std::to_string(i)) << net.table()[ref].name;
      }
      EXPECT_TRUE(box.gaps.empty()) << net.table()[ref].name;
    }
    expect_one_order();
  }

  void expect_one_order() {
    std::map<wire::Position, std::string> order;
    for (const PeerRef ref : living_members()) {
      wire::Position last;
      for (const Delivered& message : net[ref].delivered) {
        EXPECT_LT(last, message.position);
        last = message.position;
        const auto [place, fresh] = order.try_emplace(message.position, message.text);
        EXPECT_EQ(place->second, message.text);
      }
    }
  }

  Counters total() {
    Counters sum;
    for (Box* box : net.live()) {
      const Counters& one = box->scribe().counters();
      sum.order_refilled += one.order_refilled;
      sum.refills_requested += one.refills_requested;
      sum.refills_sent += one.refills_sent;
      sum.order_gaps += one.order_gaps;
      sum.duplicates_dropped += one.duplicates_dropped;
      sum.publishes_early += one.publishes_early;
    }
    return sum;
  }

  // Every other peer is cut off from the rest, for so long that each side has a root.
  void part() {
    for (std::size_t i = 0; i < refs.size(); i += 2) others.insert(refs[i]);
    net.lost = [this](PeerRef from, PeerRef to, const wire::Message&) {
      return others.contains(from) != others.contains(to);
    };
    net.run_for(20s);
    ASSERT_GE(net.roots(group).size(), 2U);
  }

  // Alive and of this side, but not its root.
  PeerRef someone(bool of_others) {
    const std::vector<PeerRef> roots = net.roots(group);
    for (const PeerRef ref : refs) {
      if (!net[ref].alive || others.contains(ref) != of_others) continue;
      if (std::ranges::find(roots, ref) == roots.end()) return ref;
    }
    ADD_FAILURE() << "nobody is left";
    return refs.front();
  }

  // A gap without a known end goes up to what was delivered next.
  static bool told_to_miss(const Box& box, const wire::Position& position) {
    return std::ranges::any_of(box.gaps, [&](const Missed& missed) {
      const wire::Position first{missed.epoch, missed.first};
      if (position < first) return false;
      if (missed.last != 0) return position <= wire::Position{missed.epoch, missed.last};
      return std::ranges::none_of(box.delivered, [&](const Delivered& message) {
        return first <= message.position && message.position <= position;
      });
    });
  }

  // Publishes it; all copies get lost but one, which is on its way for long.
  wire::Publish publish_in_vain(PeerRef publisher, const std::string& text, wire::AckMode ack) {
    std::optional<wire::Publish> copy;
    net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
      const auto* direct = std::get_if<wire::Publish>(&message);
      const auto* routed = std::get_if<wire::Routed>(&message);
      const auto* publish = routed ? std::get_if<wire::Publish>(routed->body.get()) : direct;
      if (!publish || publish->body.view() != text) return false;
      copy = *publish;
      return true;
    };
    EXPECT_TRUE(net.publish(publisher, prices, text, ack).error);
    net.lost = nullptr;
    return copy.value_or(wire::Publish{});
  }

  // Takes the order over, and knows of nothing that was published before.
  Box& add_closer_root() {
    Box& newcomer = net.add(closer_name());
    EXPECT_TRUE(net.run_until([&] { return net.roots(group) == wire::Peers{newcomer.ref}; }, 10s));
    return newcomer;
  }

  std::set<PeerRef> others;  // who is cut off from the rest

  static bool is_item(const wire::Message& message) {
    return std::holds_alternative<wire::Multicast>(message);
  }
};

TEST_P(OrderingTest, EverybodyGetsOneOrder) {
  grow(30);
  const PeerRef a = refs[0];
  const PeerRef b = refs[1];
  for (int i = 0; i < 50; ++i) {
    net.shout(a, prices, "a" + std::to_string(i), wire::AckMode::root);
    net.shout(b, prices, "b" + std::to_string(i), wire::AckMode::none);
    net.run_for(1ms);
  }
  net.run_for(3s);
  for (const PeerRef ref : joined) {
    EXPECT_EQ(net[ref].delivered.size(), 100u);
    EXPECT_TRUE(net[ref].gaps.empty());
  }
  expect_one_order();
}

TEST_P(OrderingTest, APublishIsToldItsPosition) {
  grow(30);
  const PublishOutcome first = net.publish(refs[0], prices, "one");
  const PublishOutcome second = net.publish(refs[0], prices, "two");
  EXPECT_NE(first.epoch, 0u);
  EXPECT_EQ(second.epoch, first.epoch);
  EXPECT_EQ(second.sequence, first.sequence + 1);
  net.run_for(1s);
  EXPECT_EQ(net[joined[0]].delivered.back().position,
            (wire::Position{second.epoch, second.sequence}));
}

TEST_P(OrderingTest, AMemberThatComesLaterBeginsWhereTheOrderStands) {
  grow(30);
  publish_for(200ms, refs[0]);
  net.run_for(1s);
  const PeerRef late = outsider();
  ASSERT_FALSE(net.join(late, prices));
  net.publish(refs[0], prices, "for all");
  net.run_for(1s);
  ASSERT_EQ(net[late].delivered.size(), 1u);
  EXPECT_EQ(net[late].delivered[0].text, "for all");
  EXPECT_TRUE(net[late].gaps.empty());
}

TEST_P(OrderingTest, WhatLinksLoseIsFilled) {
  grow(30);
  Random random(GetParam());
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    return is_item(message) && random.chance(0.2);
  };
  publish_for(2s, refs[0]);
  net.lost = nullptr;
  net.run_for(5s);
  expect_everything_everywhere();
  EXPECT_GT(total().refills_sent, 0u);
}

TEST_P(OrderingTest, TheLostEndOfABurstIsNoticed) {
  grow(30);
  publish_for(500ms, refs[0]);
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) { return is_item(message); };
  publish_for(50ms, refs[0]);
  net.run_for(50ms);
  net.lost = nullptr;
  // Within two heartbeats a level of the tree.
  const Duration limit = 2 * net.config.scribe.heartbeat_interval;
  const bool all = net.run_until(
      [&] {
        return std::ranges::all_of(
            joined, [&](PeerRef ref) { return net[ref].delivered.size() == published; });
      },
      limit);
  EXPECT_TRUE(all);
  expect_everything_everywhere();
}

TEST_P(OrderingTest, AQuietGroupCostsNothing) {
  grow(30);
  publish_for(100ms, refs[0]);
  net.run_for(60s);
  const std::uint64_t told = net.sent("LatestPosition");
  const std::uint64_t asked = net.sent("RefillRequest");
  net.run_for(600s);
  EXPECT_EQ(net.sent("LatestPosition"), told);
  EXPECT_EQ(net.sent("RefillRequest"), asked);
}

TEST_P(OrderingTest, AChildWhoseLinkIsFullIsPausedAndCatchesUp) {
  grow(30);
  PeerRef slow;
  for (const PeerRef ref : joined) {
    const auto view = net[ref].scribe().view(group);
    if (view->parent && view->children.empty()) slow = ref;
  }
  ASSERT_TRUE(slow);
  Box& parent = net[net[slow].scribe().view(group)->parent];
  publish_for(100ms, refs[0]);
  net.run_for(100ms);
  const std::size_t before = net[slow].delivered.size();
  parent.backlogs[slow] = std::size_t{4} << 20;
  publish_for(1s, refs[0]);
  net.run_for(100ms);
  EXPECT_EQ(net[slow].delivered.size(), before);
  EXPECT_EQ(parent.scribe().counters().children_paused, 1u);
  for (const PeerRef ref : joined) {
    if (ref != slow) {
      EXPECT_EQ(net[ref].delivered.size(), published);
    }
  }
  parent.backlogs.clear();
  net.run_for(100ms);
  EXPECT_EQ(net[slow].delivered.size(), published);
  publish_for(100ms, refs[0]);
  net.run_for(1s);
  expect_everything_everywhere();
}

TEST_P(OrderingTest, ForwardersThatDieCostNothing) {
  grow(40);
  const PeerRef publisher = outsider();
  for (int round = 0; round < 4; ++round) {
    publish_for(500ms, publisher);
    std::vector<PeerRef> forwarders = net.forwarders(group);
    std::erase(forwarders, publisher);
    if (forwarders.empty()) break;
    net.kill(forwarders[net.random().below(forwarders.size())]);
    publish_for(4s, publisher);
  }
  net.run_for(15s);
  expect_everything_everywhere();
}

TEST_P(OrderingTest, ForwardersThatHangCostNothing) {
  grow(40);
  const PeerRef publisher = outsider();
  std::vector<PeerRef> forwarders = net.forwarders(group);
  std::erase(forwarders, publisher);
  ASSERT_FALSE(forwarders.empty());
  publish_for(500ms, publisher);
  net.hang(forwarders[0]);
  publish_for(8s, publisher);
  net.wake_up(forwarders[0]);
  publish_for(2s, publisher);
  net.run_for(15s);
  expect_everything_everywhere();
}

TEST_P(OrderingTest, ADepartingRootHandsTheOrderOver) {
  grow(30);
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher);
  const PeerRef old = root();
  net[old].peer->depart();
  std::erase(joined, old);
  publish_for(3s, publisher);
  net.kill(old);
  publish_for(1s, publisher);
  net.run_for(10s);
  expect_everything_everywhere();
}

TEST_P(OrderingTest, ACloserRootTakesTheOrderOver) {
  grow(30);
  const PeerRef publisher = outsider();
  publish_for(200ms, publisher);
  Box& newcomer = net.begin_add(closer_name());
  publish_for(4s, publisher);
  net.run_for(5s);
  EXPECT_TRUE(newcomer.scribe().view(group)->root);
  expect_everything_everywhere();
}

TEST_P(OrderingTest, AHandoverThatIsToldTwiceIsTakenOnce) {
  grow(30);
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher);
  const PeerRef old = root();
  int confirmations = 0;
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    return to == old && std::holds_alternative<wire::RootStatesAck>(message) &&
           confirmations++ == 0;
  };
  net[old].peer->depart();
  std::erase(joined, old);
  publish_for(3s, publisher);
  net.kill(old);
  publish_for(1s, publisher);
  net.run_for(10s);
  EXPECT_GE(confirmations, 2);
  expect_everything_everywhere();
}

TEST_P(OrderingTest, BestEffortMembersAreToldHowManyTheyMiss) {
  grow(30, wire::GroupMode::best_effort);
  const PeerRef publisher = outsider();
  publish_for(100ms, publisher);
  Random random(GetParam());
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    return is_item(message) && random.chance(0.1);
  };
  publish_for(2s, publisher);
  net.lost = nullptr;
  std::vector<PeerRef> forwarders = net.forwarders(group);
  std::erase(forwarders, publisher);
  if (!forwarders.empty()) net.kill(forwarders.front());
  publish_for(6s, publisher);
  net.run_for(5s);
  std::uint64_t lost = 0;
  for (const PeerRef ref : living_members()) {
    EXPECT_EQ(net[ref].delivered.size() + net[ref].told_lost, published);
    EXPECT_EQ(net[ref].delivered.front().position.epoch, 0u);
    lost += net[ref].told_lost;
  }
  EXPECT_GT(lost, 0u);
}

TEST_P(OrderingTest, ARootThatServesAgainTellsBestEffortMembersOfNoLossThatIsNone) {
  grow(30, wire::GroupMode::best_effort);
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher);
  const PeerRef old = root();
  net.hang(old);
  net.run_for(8s);                // until its leases have run out, and others look elsewhere
  publish_for(500ms, publisher);  // through another root
  net.wake_up(old);
  net.run_for(10s);
  publish_for(500ms, publisher);
  net.run_for(5s);
  ASSERT_EQ(net.roots(group), std::vector{old});
  for (const PeerRef ref : living_members()) {
    if (ref == old) continue;  // was stopped all through the other's reign, and knows of none
    EXPECT_EQ(net[ref].delivered.size() + net[ref].told_lost, published);
  }
}

TEST_P(OrderingTest, ARootThatWakesAndServesAgainMakesMembersWaitForNoSecond) {
  grow(30);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher);
  const PeerRef old = root();
  net.hang(old);
  publish_for(10s, publisher);
  net.wake_up(old);
  const MonoTime woken = net.now();
  publish_for(15s, publisher);
  for (const PeerRef ref : living_members()) {
    MonoTime before = woken;
    Duration longest{};
    for (const Delivered& message : net[ref].delivered) {
      if (message.at <= woken) continue;
      longest = std::max(longest, message.at - before);
      before = message.at;
    }
    longest = std::max(longest, net.now() - before);
    EXPECT_LT(longest, 1s) << net.table()[ref].name;
  }
}

TEST_P(OrderingTest, OfTwoOrdersThatBecomeOneIsToldWhereEachHasEnded) {
  grow(30);
  part();
  for (int i = 0; i < 20; ++i) {
    net.shout(refs[0], prices, "one " + std::to_string(i), wire::AckMode::root);
    net.shout(refs[1], prices, "other " + std::to_string(i), wire::AckMode::root);
    net.run_for(200ms);
  }
  net.lost = nullptr;
  EXPECT_TRUE(net.run_until([&] { return net.roots(group).size() == 1; }, 600s));
  std::uint64_t merged = 0;
  std::vector<std::string> told;
  for (Box* box : net.live()) {
    merged += box->scribe().counters().roots_merged;
    told.insert(told.end(), box->states_lost.begin(), box->states_lost.end());
  }
  EXPECT_GE(merged, 1U);
  ASSERT_FALSE(told.empty());
  for (const std::string& text : told) EXPECT_EQ(text.find("one order"), 0U) << text;
}

// Both sides of a parted ring publish, and the order of the one that has kept the old root
// is handed on and on: its members may not pass over what the other side acknowledged.
TEST_P(OrderingTest, WhatWasAcknowledgedInAnotherOrderIsTold) {
  grow(30);
  part();
  const PeerRef kept = root();
  std::map<wire::Position, std::string> acknowledged;
  const auto publish = [&](const std::string& text) {
    for (const bool side : {false, true}) {
      const PeerRef publisher = someone(side);
      const std::string message = text + (side ? " of the others" : " of the first");
      const PublishOutcome outcome = net.publish(publisher, prices, message);
      if (!outcome.error) acknowledged[{outcome.epoch, outcome.sequence}] = message;
    }
  };
  publish("early");
  ASSERT_EQ(acknowledged.size(), 2u);
  for (PeerRef old = kept; const int round : {1, 2}) {
    net[old].peer->depart();
    net.run_for(3s);
    net.kill(old);
    publish("after handover " + std::to_string(round));
    for (const PeerRef other : net.roots(group)) {
      if (others.contains(other) == others.contains(kept)) old = other;
    }
  }
  net.lost = nullptr;
  EXPECT_TRUE(net.run_until([&] { return net.roots(group).size() == 1; }, 600s));
  net.publish(someone(true), prices, "united");
  net.run_for(30s);
  for (const PeerRef member : living_members()) {
    const Box& box = net[member];
    EXPECT_EQ(box.count("united"), 1u) << net.table()[member].name;
    for (const auto& [position, text] : acknowledged) {
      EXPECT_TRUE(box.count(text) == 1 || told_to_miss(box, position))
          << text << " at " << net.table()[member].name;
    }
  }
  expect_one_order();
}

// The first successor has begun, and nobody hears of it: the second's order is another.
TEST_P(OrderingTest, WhatALostSuccessorAcknowledgedIsTold) {
  grow(30);
  const PeerRef publisher = outsider();
  publish_for(500ms, publisher);
  const PeerRef old = root();
  net[old].peer->depart();
  std::erase(joined, old);
  PeerRef successor;
  net.lost = [&](PeerRef from, PeerRef to, const wire::Message& message) {
    const bool answers = to == old && std::holds_alternative<wire::RootStatesAck>(message);
    if (answers) successor = from;
    return answers || (from == successor && is_item(message));
  };
  ASSERT_TRUE(net.run_until([&] { return static_cast<bool>(successor); }, 1s));
  const PublishOutcome outcome = net.publish(successor, prices, "of the first");
  ASSERT_FALSE(outcome.error);
  net.kill(successor);
  std::erase(joined, successor);
  net.lost = nullptr;
  net.run_for(3s);
  net.kill(old);
  net.run_for(10s);
  net.publish(publisher, prices, "of the second");
  net.run_for(5s);
  for (const PeerRef member : living_members()) {
    const Box& box = net[member];
    EXPECT_EQ(box.count("of the second"), 1u) << net.table()[member].name;
    EXPECT_TRUE(box.count("of the first") == 1 ||
                told_to_miss(box, {outcome.epoch, outcome.sequence}))
        << net.table()[member].name;
  }
  expect_one_order();
}

TEST_P(OrderingTest, ARootThatDiesBeginsANewEpochAndTellsAGap) {
  grow(30);
  const PeerRef publisher = outsider();
  publish_for(1s, publisher);
  const PeerRef old = root();
  net.kill(old);
  std::erase(joined, old);
  publish_for(6s, publisher);
  net.run_for(10s);
  for (const PeerRef ref : living_members()) {
    const Box& box = net[ref];
    ASSERT_EQ(box.gaps.size(), 1u) << net.table()[ref].name;
    EXPECT_EQ(box.gaps[0].last, 0u);
    EXPECT_EQ(net[ref].scribe().counters().order_gaps_open, 1u);
    EXPECT_EQ(net[ref].scribe().counters().order_lost, 0u);
    EXPECT_NE(box.delivered.front().position.epoch, box.delivered.back().position.epoch);
    EXPECT_EQ(box.gaps[0].epoch, box.delivered.front().position.epoch);
    // What was published with the root's word is there: the publisher sent again.
    std::set<std::string> got;
    for (const Delivered& message : box.delivered) {
      EXPECT_TRUE(got.insert(message.text).second) << message.text << " twice";
    }
    EXPECT_TRUE(got.contains(std::to_string(published - 1)));
  }
  expect_one_order();
}

// What it is asked to publish before it can know that another took over.
TEST_P(OrderingTest, AWokenRootAcknowledgesNothingThatOthersMiss) {
  grow(30);
  const PeerRef old_root = root();
  publish_for(200ms, old_root);
  net.hang(old_root);
  net.run_for(8s);
  ASSERT_NE(root(), old_root);
  EXPECT_FALSE(net.publish(root(), prices, "successor's").error);
  std::vector<std::string> acknowledged;
  const auto ask = [&](const std::string& text) {
    net[old_root].scribe().publish(prices, wire::AckMode::root, Buffer::copy_of(text),
                                   [&acknowledged, text](const PublishOutcome& outcome) {
                                     if (!outcome.error) acknowledged.push_back(text);
                                   });
  };
  for (int i = 0; i < 50; ++i) ask("before " + std::to_string(i));
  net.wake_up(old_root);
  for (int i = 0; i < 50; ++i) {
    ask("after " + std::to_string(i));
    net.run_for(10ms);
  }
  net.run_for(5s);
  EXPECT_EQ(acknowledged.size(), 100u);
  for (const PeerRef member : living_members()) {
    EXPECT_EQ(net[member].count("successor's"), 1u) << net.table()[member].name;
    for (const std::string& text : acknowledged) {
      EXPECT_EQ(net[member].count(text), 1u) << text << " at " << net.table()[member].name;
    }
  }
  expect_one_order();
}

TEST_P(OrderingTest, WhatOnePublishesKeepsItsOrderAcrossRetries) {
  grow(30);
  const PeerRef publisher = outsider();
  net.publish(publisher, prices, std::to_string(published++));
  Random random(GetParam());
  net.lost = [&](PeerRef from, PeerRef, const wire::Message& message) {
    return from == publisher && wire::type_name(message) == "Publish" && random.chance(0.2);
  };
  publish_for(3s, publisher);
  net.lost = nullptr;
  net.run_for(8s);
  expect_everything_everywhere();
  EXPECT_GT(total().publishes_early, 0u);
}

// So there is nobody who could be told of it out of its order.
TEST_P(OrderingTest, WhatALaterOneHasOvertakenGetsNoPlace) {
  grow(30);
  const PeerRef publisher = outsider();
  net.publish(publisher, prices, "first");
  const wire::Publish late = publish_in_vain(publisher, "late", wire::AckMode::root);
  const PublishOutcome last = net.publish(publisher, prices, "last");
  net[root()].peer->receive(publisher, late);
  const PublishOutcome next = net.publish(publisher, prices, "next");
  EXPECT_EQ(next.sequence, last.sequence + 1);
}

// Not even when everybody has long forgotten what was published at that time.
TEST_P(OrderingTest, WhatComesAgainAfterALongTimeGetsNoOtherPlace) {
  grow(30);
  const PeerRef publisher = outsider();
  std::optional<wire::Publish> copy;
  net.lost = [&](PeerRef, PeerRef, const wire::Message& message) {
    if (const auto* publish = std::get_if<wire::Publish>(&message)) copy = *publish;
    return false;
  };
  net.publish(publisher, prices, "first");
  const PublishOutcome last = net.publish(publisher, prices, "last");
  net.lost = nullptr;
  net.run_for(3 * net.config.scribe.history_age_max);
  ASSERT_TRUE(copy);
  net[root()].peer->receive(publisher, *copy);
  net.run_for(1s);
  EXPECT_EQ(net.publish(publisher, prices, "next").sequence, last.sequence + 1);
  for (const PeerRef member : living_members()) EXPECT_EQ(net[member].count("last"), 1u);
}

// A root that has taken over cannot know; but members do.
TEST_P(OrderingTest, WhatComesBehindALaterOneIsToldAsAGap) {
  grow(30);
  const PeerRef publisher = outsider();
  net.publish(publisher, prices, "first");
  const wire::Publish late = publish_in_vain(publisher, "late", wire::AckMode::members);
  net.publish(publisher, prices, "last");
  net.run_for(1s);
  Box& newcomer = add_closer_root();
  std::optional<wire::Reach> reach;
  net.lost = [&](PeerRef, PeerRef to, const wire::Message& message) {
    const auto* ack = std::get_if<wire::PublishAck>(&message);
    if (ack && to == publisher && ack->id == late.id && !ack->pending) reach = ack->reach;
    return false;
  };
  newcomer.peer->receive(publisher, late);
  EXPECT_TRUE(net.run_until([&] { return reach.has_value(); }, 30s));
  net.publish(publisher, prices, "next");
  net.run_for(1s);
  for (const PeerRef member : living_members()) {
    const Box& box = net[member];
    EXPECT_EQ(box.count("late"), 0u) << net.table()[member].name;
    EXPECT_EQ(box.count("next"), 1u) << net.table()[member].name;
    ASSERT_EQ(box.gaps.size(), 1u) << net.table()[member].name;
    EXPECT_EQ(box.gaps[0].first, box.gaps[0].last);
    EXPECT_EQ(net[member].scribe().counters().order_overtaken, 1u);
  }
  // Its publisher is told of none that has it.
  ASSERT_TRUE(reach);
  EXPECT_EQ(reach->members, 0u);
  EXPECT_FALSE(reach->complete);
}

TEST_P(OrderingTest, WhatNobodyHasAnyMoreIsToldWithItsRange) {
  net.config.scribe.history_bytes_max = 20'000;  // a few dozen messages
  grow(30);
  const PeerRef publisher = outsider();
  publish_for(200ms, publisher);
  // One member is cut off for longer than anybody remembers.
  const PeerRef cut = joined.back();
  net.lost = [&](PeerRef, PeerRef to, const wire::Message&) { return to == cut; };
  publish_for(2s, publisher);
  net.lost = nullptr;
  publish_for(1s, publisher);
  net.run_for(15s);
  const Box& box = net[cut];
  ASSERT_FALSE(box.gaps.empty());
  std::uint64_t told = 0;
  for (const Missed& missed : box.gaps) {
    ASSERT_NE(missed.last, 0u);
    told += missed.last - missed.first + 1;
  }
  EXPECT_EQ(told + box.delivered.size(), published);
  EXPECT_EQ(net[cut].scribe().counters().order_lost, told);
  EXPECT_EQ(net[cut].scribe().counters().order_gaps_open, 0u);
  EXPECT_EQ(box.delivered.back().text, std::to_string(published - 1));
}

TEST_P(OrderingTest, AGroupThatEverybodyHasForgottenButItsMembersStaysOrdered) {
  grow(30);
  publish_for(100ms, refs[0]);
  net.run_for(1s);
  // The root and all its replicas at once.
  std::vector<PeerRef> closest;
  for (unsigned i = 0; i < net.config.scribe.root_replicas; ++i) {
    closest.push_back(root());
    net.kill(closest.back());
    std::erase(joined, closest.back());
  }
  net.run_for(60s);
  const PeerRef publisher = living_members().front();
  net.publish(publisher, prices, "after all");
  net.run_for(5s);
  for (const PeerRef ref : living_members()) {
    ASSERT_EQ(net[ref].count("after all"), 1u);
    EXPECT_NE(net[ref].delivered.back().position.epoch, 0u);
    EXPECT_FALSE(net[ref].gaps.empty());
  }
  expect_one_order();
}

INSTANTIATE_TEST_SUITE_P(Seeds, OrderingTest, testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace canopy::scribe::test
