#include "sim/storm_meter.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "sim/plane.hpp"

namespace canopy::sim {
namespace {

using namespace std::chrono_literals;

class StormMeterTest : public testing::Test {
 protected:
  StormMeterTest() {
    simulation_ = std::make_unique<Simulation>(SimulationConfig(), plane_);
    meter_ = std::make_unique<StormMeter>(*simulation_);
  }

  void send(NodeIndex from, const wire::Message& message, int times) {
    for (; times > 0; --times) meter_->sent(from, 9, message);
  }

  Plane plane_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<StormMeter> meter_;
};

TEST_F(StormMeterTest, TellsTheWorstSecondOfAllAndOfTheOneThatSendsMost) {
  send(0, wire::Probe{}, 3);
  send(1, wire::Heartbeat{}, 4);
  simulation_->run_for(1s);
  send(2, wire::Probe{}, 5);
  simulation_->run_for(1s);
  send(0, wire::Heartbeat{}, 1);
  EXPECT_EQ(meter_->messages().all, 7U);
  EXPECT_EQ(meter_->messages().one_node, 5U);
  EXPECT_EQ(meter_->probes().all, 5U);
  EXPECT_EQ(meter_->probes().one_node, 5U);
}

TEST_F(StormMeterTest, QuestionsAreProbesAlsoByWayOfOthersAndAnswersAreNot) {
  wire::LeafProbe question;
  send(0, question, 1);
  send(0, wire::Relay{PeerRef(1), PeerRef(2), std::make_shared<wire::Message>(question), {}}, 1);
  wire::LeafProbe answer;
  answer.reply = true;
  send(0, answer, 1);
  send(0, wire::ProbeReply{}, 1);
  EXPECT_EQ(meter_->probes().all, 2U);
  EXPECT_EQ(meter_->messages().all, 4U);
}

TEST_F(StormMeterTest, BeginsAnew) {
  send(0, wire::Probe{}, 7);
  meter_->begin();
  send(0, wire::Probe{}, 2);
  EXPECT_EQ(meter_->probes().all, 2U);
  EXPECT_EQ(meter_->messages().one_node, 2U);
}

}  // namespace
}  // namespace canopy::sim
