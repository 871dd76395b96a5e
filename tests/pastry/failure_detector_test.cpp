#include "pastry/failure_detector.hpp"

#include <gtest/gtest.h>

#include "pastry/recorder.hpp"

namespace canopy::pastry::test {
namespace {

class FailureDetectorTest : public ::testing::Test, protected Part {
 protected:
  std::size_t heartbeats() const { return env.all<wire::Heartbeat>().size(); }
  void pass(Duration span) {
    env.time += span;
    detector.tick();
  }

  Prober prober{state};
  FailureDetector detector{state, prober};
  const PeerRef left = leaf("70");
  const PeerRef right = leaf("90");
};

TEST_F(FailureDetectorTest, TellsTheLeftNeighbourRegularly) {
  detector.tick();
  EXPECT_EQ(heartbeats(), 1U);
  EXPECT_EQ(env.last_receiver<wire::Heartbeat>(), left);
  EXPECT_EQ(detector.deadline(), env.time + config.heartbeat_interval);
  pass(config.heartbeat_interval / 2);
  EXPECT_EQ(heartbeats(), 1U);
  pass(config.heartbeat_interval / 2);
  EXPECT_EQ(heartbeats(), 2U);
}

TEST_F(FailureDetectorTest, AnyOtherMessageToItDoesAsWell) {
  detector.tick();
  env.time += config.heartbeat_interval - 1ms;
  state.send(left, wire::Probe{1});
  pass(1ms);
  EXPECT_EQ(heartbeats(), 1U);
  state.send(right, wire::Probe{1});
  pass(config.heartbeat_interval - 1ms);
  EXPECT_EQ(heartbeats(), 2U) << "what others are told does not count";
}

TEST_F(FailureDetectorTest, ANewLeftNeighbourIsToldAtOnce) {
  detector.tick();
  const PeerRef nearer = leaf("78");
  EXPECT_LE(detector.deadline(), env.time);
  detector.tick();
  EXPECT_EQ(env.last_receiver<wire::Heartbeat>(), nearer);
}

TEST_F(FailureDetectorTest, SuspectsTheRightNeighbourAfterItsSilence) {
  const Duration allowed = config.heartbeat_interval + config.probe_timeout;
  pass(allowed - 5ms);
  EXPECT_FALSE(prober.suspected(right));
  pass(7ms);
  EXPECT_TRUE(prober.suspected(right));
  EXPECT_FALSE(prober.suspected(left));
}

TEST_F(FailureDetectorTest, AnySignOfLifeWillDo) {
  for (int i = 0; i < 10; ++i) {
    pass(config.heartbeat_interval);
    state.proximity.heard(right, env.time);
  }
  EXPECT_FALSE(prober.suspected(right));
}

TEST_F(FailureDetectorTest, AfterASleepItAsksFirst) {
  env.time += 1h;
  detector.start_over();
  EXPECT_TRUE(prober.pending(right, goal::life));
  prober.heard(right);
  detector.tick();
  EXPECT_FALSE(prober.suspected(right));
}

TEST(FailureDetector, AloneHasNothingToDo) {
  Part part;
  Prober prober{part.state};
  const FailureDetector detector{part.state, prober};
  EXPECT_EQ(detector.deadline(), never);
}

}  // namespace
}  // namespace canopy::pastry::test
