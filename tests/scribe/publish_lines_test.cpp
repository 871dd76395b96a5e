#include "scribe/publish_lines.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {
namespace {

using Sequences = std::vector<std::uint64_t>;

const Id line_group = Id::hash_of("group");

TEST(PublishLines, ThoseThatWaitAreInTheirOrderHoweverTheyCame) {
  PublishLines lines;
  EXPECT_FALSE(lines.any(line_group));
  lines.refuse(line_group, 5, {true, 100});
  lines.add(line_group, 7);
  lines.refuse(line_group, 4, {true, 90});
  EXPECT_EQ(lines.next(line_group, 9), (Sequences{4, 5, 7}));
  EXPECT_EQ(lines.next(line_group, 2), (Sequences{4, 5}));
  EXPECT_TRUE(lines.is_next(line_group, 4));
  EXPECT_FALSE(lines.is_next(line_group, 5));
  EXPECT_EQ(lines.refusal(line_group).retry_after_ms, 90u);
}

TEST(PublishLines, WhatIsSentStaysInTheLineUntilItLeaves) {
  PublishLines lines;
  lines.add(line_group, 4);
  lines.add(line_group, 5);
  lines.take_turn(line_group, 4);
  EXPECT_FALSE(lines.waits(line_group, 4));
  EXPECT_TRUE(lines.is_next(line_group, 5));
  lines.refuse(line_group, 4, {});
  EXPECT_TRUE(lines.is_next(line_group, 4));
  EXPECT_TRUE(lines.leave(line_group, 4));
  EXPECT_FALSE(lines.leave(line_group, 4));
  lines.take_turn(line_group, 5);
  EXPECT_TRUE(lines.any(line_group));
  EXPECT_TRUE(lines.leave(line_group, 5));
  EXPECT_FALSE(lines.any(line_group));
}

// A publisher that goes on however often it is told that it is too fast.
class TooFastTest : public testing::TestWithParam<wire::GroupMode> {
 protected:
  static constexpr std::size_t wanted = 200;

  void build(std::uint32_t rate) {
    net.config.scribe.publish_messages_max = rate;
    net.build(20);
    root = net.closest_live(group);
    for (Box* box : net.live()) {
      if (box->ref != root) others.push_back(box->ref);
    }
    ASSERT_FALSE(net.create(others[0], prices, GetParam()));
    ASSERT_FALSE(net.join(others[0], prices));
  }

  void publish(PeerRef publisher, std::size_t number, std::uint64_t chain = 0) {
    results[number].reset();
    net[publisher].scribe().publish(
        prices, wire::AckMode::root, Buffer::copy_of(std::to_string(number)),
        [this, number](const PublishOutcome& outcome) { results[number] = outcome; },
        {.chain = chain});
  }

  void publish_from(PeerRef publisher, std::size_t first) {
    for (std::size_t i = first; i < wanted; ++i) publish(publisher, i);
    net.run_until(
        [&] { return std::ranges::all_of(results, [](const auto& r) { return r.has_value(); }); },
        60s);
  }

  std::size_t published() const {
    const auto failed = std::ranges::find_if(results, [](const auto& r) { return bool(r->error); });
    return static_cast<std::size_t>(failed - results.begin());
  }

  std::vector<std::string> delivered() {
    net.run_for(1s);
    std::vector<std::string> texts;
    for (const Delivered& message : net[others[0]].delivered) texts.push_back(message.text);
    return texts;
  }

  static std::vector<std::string> numbers(std::size_t count) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.push_back(std::to_string(i));
    return texts;
  }

  MiniNet net{11};
  const Id group = group_id(prices, 160);
  PeerRef root;
  std::vector<PeerRef> others;  // all but the root
  std::vector<std::optional<PublishOutcome>> results =
      std::vector<std::optional<PublishOutcome>>(wanted);
};

TEST_P(TooFastTest, NothingAfterARefusedMessageIsSent) {
  build(10);
  publish_from(others[1], 0);
  const std::size_t count = published();
  EXPECT_GE(count, 40u);
  EXPECT_LE(count, 65u);
  for (std::size_t i = count; i < wanted; ++i) {
    EXPECT_EQ(results[i]->error, errc::limit) << i;
    EXPECT_GT(results[i]->retry_after, Duration::zero()) << i;
  }
  EXPECT_EQ(delivered(), numbers(count));
  // About one refusal for each that waited: those behind it were not sent in vain.
  EXPECT_LE(net[root].scribe().counters().publishes_over_rate, wanted + 3 * count);
}

TEST_P(TooFastTest, WhoSendsTheRefusedOnesAgainLeavesNoHole) {
  build(10);
  publish_from(others[1], 0);
  std::size_t rounds = 0;
  for (std::size_t done = published(); done < wanted && rounds < 10; done = published()) {
    net.run_for(results[done]->retry_after);
    publish_from(others[1], done);
    ++rounds;
  }
  EXPECT_GE(rounds, 2u);
  EXPECT_EQ(delivered(), numbers(wanted));
}

TEST_P(TooFastTest, TheRootItselfIsSlowedDownLikeTheOthers) {
  build(10);
  publish_from(root, 0);
  EXPECT_GE(published(), 40u);
  EXPECT_LE(published(), 65u);
  EXPECT_EQ(delivered(), numbers(published()));
}

TEST_P(TooFastTest, ALineIsNoSlowerThanItsRootAllows) {
  build(60);
  const MonoTime begun = net.now();
  publish_from(others[1], 0);
  EXPECT_EQ(published(), wanted);
  EXPECT_LE(net.now() - begun, 4s);
  EXPECT_EQ(delivered(), numbers(wanted));
}

TEST_P(TooFastTest, ARootThatDiesLeavesNoLineThatStandsStill) {
  build(10);
  for (std::size_t i = 0; i < 30; ++i) publish(others[1], i);
  net.run_for(300ms);
  net.kill(root);
  net.run_for(10s);
  for (std::size_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(results[i]) << i;
    EXPECT_FALSE(results[i]->error) << i << " " << results[i]->error.message();
  }
}

// Its publisher has not heard yet that others are refused: the line is empty then.
TEST_P(TooFastTest, WhatIsPublishedAfterARefusalOvertakesNothingOfItsChain) {
  build(10);
  constexpr std::size_t first_ones = 100;
  for (std::size_t i = 0; i < first_ones; ++i) publish(others[1], i, 7);
  const auto all_known = [&] {
    return std::all_of(results.begin(), results.begin() + first_ones,
                       [](const auto& result) { return result.has_value(); });
  };
  ASSERT_TRUE(net.run_until(all_known, 60s));
  const std::size_t count = published();
  ASSERT_LT(count, first_ones);
  publish(others[1], first_ones, 7);
  publish(others[1], first_ones + 1, 8);  // who knows of it
  net.run_for(10s);
  EXPECT_EQ(results[first_ones]->error, errc::chain_broken);
  EXPECT_FALSE(results[first_ones + 1]->error);
  std::vector<std::string> expected = numbers(count);
  expected.push_back(std::to_string(first_ones + 1));
  EXPECT_EQ(delivered(), expected);
}

// What waits for its turn has all its time from then on.
TEST_P(TooFastTest, ARootThatDiesShortlyBeforeARefusalCostsNothingThatWasSent) {
  build(10);
  for (std::size_t i = 0; i < 100; ++i) publish(others[1], i, 7);
  net.run_for(4'700ms);
  net.kill(root);
  net.run_for(20s);
  const std::size_t count = published();
  EXPECT_GE(count, 40u);
  for (std::size_t i = count; i < 100; ++i) EXPECT_EQ(results[i]->error, errc::limit) << i;
}

TEST_P(TooFastTest, AMessageThatIsTooLargeBreaksItsChain) {
  build(1000);
  std::optional<PublishOutcome> refused;
  net[others[1]].scribe().publish(prices, wire::AckMode::root,
                                  Buffer::copy_of(std::string(net.config.scribe.body_max + 1, 'x')),
                                  [&](const PublishOutcome& outcome) { refused = outcome; },
                                  {.chain = 7});
  publish(others[1], 1, 7);
  publish(others[1], 2);
  net.run_for(5s);
  EXPECT_EQ(refused->error, errc::too_large);
  EXPECT_EQ(results[1]->error, errc::chain_broken);
  EXPECT_FALSE(results[2]->error);
}

// Nobody knows which of them arrive, but none is sent again without those before it.
TEST_P(TooFastTest, AChainWhoseRootDoesNotAnswerFailsAsOne) {
  net.config.scribe.request_timeout = 400ms;
  build(1000);
  net.hang(root);
  publish(others[1], 1, 7);
  net.run_for(200ms);
  publish(others[1], 2, 7);
  publish(others[1], 3, 8);
  net.run_until([&] { return results[1].has_value(); }, 60s);
  net.run_for(1ms);
  EXPECT_EQ(results[1]->error, errc::timed_out);
  ASSERT_TRUE(results[2]);
  EXPECT_EQ(results[2]->error, errc::timed_out);
  EXPECT_FALSE(results[3]);
  publish(others[1], 4, 7);
  net.run_for(1ms);
  ASSERT_TRUE(results[4]);
  EXPECT_EQ(results[4]->error, errc::chain_broken);
}

INSTANTIATE_TEST_SUITE_P(Modes, TooFastTest,
                         testing::Values(wire::GroupMode::best_effort, wire::GroupMode::ordered),
                         [](const auto& mode) {
                           return mode.param == wire::GroupMode::ordered ? "Ordered" : "BestEffort";
                         });

}  // namespace
}  // namespace canopy::scribe::test
