#include "pastry/meeting.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

using wire::StatePart;
using wire::StateRequest;

// Node 8000... meets others of which it knows nobody.
class MeetingTest : public ::testing::Test, protected Part {
 protected:
  MeetingTest() { state.active = true; }

  std::size_t questions() const { return env.all<StateRequest>().size(); }
  PeerRef asked() const { return env.last_receiver<StateRequest>(); }
  bool reply(PeerRef from, wire::Peers peers) {
    const auto question = env.last<StateRequest>();
    return meeting.on_state_reply(
        from, {question.nonce, question.part, question.row, 0, std::move(peers)});
  }
  void stay_silent() {
    env.time = meeting.deadline();
    meeting.tick();
  }
  bool over() const { return meeting.deadline() == never; }
  std::vector<PeerRef> compared_with() const {
    std::vector<PeerRef> peers;
    for (const auto& [to, probe] : env.all<wire::LeafProbe>()) peers.push_back(to);
    return peers;
  }

  Prober prober{state};
  Meeting meeting{state, prober};
  const PeerRef far = env.peer("10");
  const PeerRef near = env.peer("70");
  const PeerRef nearest = env.peer("7f");
};

TEST_F(MeetingTest, GoesFromRowToRowThenFromLeafSetToLeafSetToTheClosest) {
  meeting.start(far);
  EXPECT_EQ(asked(), far);
  EXPECT_EQ(env.last<StateRequest>().part, StatePart::row);
  EXPECT_TRUE(reply(far, {near, env.peer("20"), state.self}));
  EXPECT_EQ(asked(), near);
  EXPECT_EQ(env.last<StateRequest>().part, StatePart::row);
  EXPECT_TRUE(reply(near, {far}));
  EXPECT_EQ(asked(), near);
  EXPECT_EQ(env.last<StateRequest>().part, StatePart::leaf_set);
  EXPECT_TRUE(reply(near, {nearest}));
  EXPECT_EQ(env.last<StateRequest>().part, StatePart::leaf_set);
  EXPECT_TRUE(compared_with().empty());
  EXPECT_TRUE(reply(nearest, {near}));
  EXPECT_TRUE(over());
  EXPECT_EQ(compared_with(), std::vector{nearest});
}

TEST_F(MeetingTest, EndsAtALeafAsThatIsThisNodesOwnRing) {
  leaf("7f");
  meeting.start(far);
  EXPECT_TRUE(reply(far, {nearest}));
  EXPECT_TRUE(over());
  EXPECT_TRUE(compared_with().empty());
}

TEST_F(MeetingTest, OneWalkAtATimeAndNoneToItself) {
  meeting.start(state.self);
  EXPECT_TRUE(over());
  meeting.start(far);
  meeting.start(near);
  EXPECT_EQ(questions(), 1U);
}

TEST_F(MeetingTest, OtherAnswersAreNoneOfItsBusiness) {
  EXPECT_FALSE(meeting.on_state_reply(far, {}));
  meeting.start(far);
  const auto question = env.last<StateRequest>();
  EXPECT_FALSE(meeting.on_state_reply(near, {.nonce = question.nonce}));
  EXPECT_FALSE(meeting.on_state_reply(far, {.nonce = question.nonce + 1}));
  EXPECT_EQ(questions(), 1U);
}

TEST_F(MeetingTest, WhoStaysSilentIsAskedOnceMoreThenWhoNamedItForOthers) {
  meeting.start(far);
  EXPECT_TRUE(reply(far, {near, nearest}));
  EXPECT_EQ(asked(), nearest);
  stay_silent();
  EXPECT_EQ(asked(), nearest);
  stay_silent();
  EXPECT_EQ(asked(), far);
  EXPECT_TRUE(reply(far, {near, nearest}));
  EXPECT_EQ(asked(), near);
  EXPECT_TRUE(reply(near, {nearest}));
  EXPECT_EQ(asked(), near) << "for its leaf set, as its row names but the silent one";
  EXPECT_TRUE(reply(near, {nearest}));
  EXPECT_TRUE(over());
  EXPECT_EQ(compared_with(), std::vector{near});
}

TEST_F(MeetingTest, EndsWhereTheFirstStaysSilent) {
  meeting.start(far);
  stay_silent();
  EXPECT_EQ(questions(), 2U);
  stay_silent();
  EXPECT_TRUE(over());
  meeting.start(far);
  EXPECT_EQ(questions(), 3U) << "another walk begins anew";
}

TEST_F(MeetingTest, TheDeadAreNotWalkedTo) {
  state.departed.add(nearest, false, env.time);
  meeting.start(far);
  EXPECT_TRUE(reply(far, {near, nearest}));
  EXPECT_EQ(asked(), near);
}

TEST_F(MeetingTest, AWalkIsBounded) {
  meeting.start(far);
  for (std::uint32_t i = 0; !over(); ++i) {
    ASSERT_LT(i, 100U);
    const Id closer = state.id(asked()) + *Id::from_hex(std::string(39, '0') + "1");
    EXPECT_TRUE(reply(asked(), {env.peer(closer.to_hex())}));
  }
  EXPECT_LE(questions(), 64U);
  EXPECT_TRUE(compared_with().empty());
}

}  // namespace
}  // namespace canopy::pastry::test
