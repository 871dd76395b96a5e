// One node of a simulation: the production overlay peer, hosted in virtual
// time. Owned by Simulation, which it calls to send and to schedule.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "base/random.hpp"
#include "scribe/overlay_peer.hpp"
#include "sim/network.hpp"
#include "sim/virtual_clock.hpp"
#include "wire/env.hpp"

namespace canopy::sim {

class Simulation;

enum class NodeState : std::uint8_t {
  running,
  hung,     // the process is stopped: nothing is handled until it resumes
  stopped,  // crashed or departed: there is no process
};

class VirtualNode final : public wire::Env, public scribe::Events {
 public:
  VirtualNode(Simulation& simulation, NodeIndex index, PeerRef self, Random random);
  VirtualNode(const VirtualNode&) = delete;
  VirtualNode& operator=(const VirtualNode&) = delete;

  // wire::Env
  MonoTime now() const override;
  Random& random() override { return random_; }
  PeerTable& peers() override;
  void send(PeerRef to, wire::Message message) override;
  std::size_t backlog(PeerRef to) override;
  void wake_at(MonoTime deadline) override;

  // scribe::Events
  void multicast(const wire::Multicast& message) override;
  void gap(const Id& group, const scribe::Missed& missed) override;
  void presence(const Id& group, const scribe::Presence& presence) override;
  bool anycast(const wire::Anycast& message) override;
  void request_over(const wire::MessageId& id, boost::system::error_code reason) override;
  void detached(const Id& group, boost::system::error_code reason) override;
  // At once; what is on the disk is there after a crash.
  void keep_state(const wire::GroupState& state) override;
  void forget_state(const Id& group) override { disk_.erase(group); }

 private:
  friend class Simulation;

  Simulation& simulation_;
  NodeIndex index_;
  PeerRef self_;
  NodeState state_ = NodeState::running;
  bool entering_ = false;  // was told to found or join, not active yet
  bool departing_ = false;
  bool woken_while_hung_ = false;
  std::uint32_t wake_generation_ = 0;  // of the one wake event that counts
  MonoTime wake_requested_ = never;    // the earliest since the last tick
  MonoTime wake_scheduled_ = never;    // of the event that counts
  Random random_;
  VirtualClock clock_;
  std::map<Id, wire::GroupState> disk_;  // SimulationConfig::disks
  std::unique_ptr<scribe::OverlayPeer> peer_;
  std::unique_ptr<std::deque<std::uint32_t>> inbox_;  // flights that came while hung
};

}  // namespace canopy::sim
