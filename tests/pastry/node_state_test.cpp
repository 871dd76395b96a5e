#include "pastry/node_state.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

class NeighborsForTest : public ::testing::Test, protected Part {
 protected:
  NeighborsForTest() : Part(small()) {}

  static Config small() {
    Config config;
    config.neighborhood_size = 2;
    return config;
  }
  PeerRef meet(std::string_view hex, std::uint32_t distance_us) {
    const PeerRef peer = env.peer(hex);
    state.measured(peer, Duration(distance_us));
    state.offer_measured(peer);
    return peer;
  }

  const PeerRef near = meet("10", 1'000);
  const PeerRef next = meet("11", 1'100);
};

TEST_F(NeighborsForTest, AreTheNeighbourhoodSetAndThoseAboutAsFarAsTheAsker) {
  std::vector<PeerRef> others;
  for (int i = 0; i < 30; ++i) others.push_back(meet(std::to_string(30 + i), 10'000 + 100 * i));
  const PeerRef asker = meet("12", 12'000);
  const wire::Peers peers = state.neighbors_for(asker);
  ASSERT_EQ(peers.size(), 2U + 15) << "sixteen, but the asker is one of them";
  EXPECT_EQ(peers[0], near);
  EXPECT_EQ(peers[1], next);
  EXPECT_EQ(peers[2], others[20]) << "the likest first";
  EXPECT_EQ(std::count(peers.begin(), peers.end(), asker), 0);
  EXPECT_EQ(std::count(peers.begin(), peers.end(), others[0]), 0) << "not as far";
}

TEST_F(NeighborsForTest, AreTheNeighbourhoodSetAloneForAStranger) {
  meet("30", 10'000);
  EXPECT_EQ(state.neighbors_for(env.peer("12")), (wire::Peers{near, next}));
}

TEST_F(NeighborsForTest, LeaveOutWhoHasBeenSilentForSeveralProbesTime) {
  state.tuning.told(next, 100);
  env.time += 390s;
  EXPECT_EQ(state.neighbors_for(env.peer("12")), (wire::Peers{near, next}));
  state.proximity.heard(next, env.time);
  env.time += 20s;
  EXPECT_EQ(state.neighbors_for(env.peer("12")), wire::Peers{next}) << "the other may be dead";
}

TEST_F(NeighborsForTest, NameNobodyTwice) {
  const PeerRef asker = meet("12", 1'050);
  const wire::Peers peers = state.neighbors_for(asker);
  EXPECT_EQ(std::count(peers.begin(), peers.end(), near), 1);
}

}  // namespace
}  // namespace canopy::pastry::test
