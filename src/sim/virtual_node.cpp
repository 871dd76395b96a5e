#include "sim/virtual_node.hpp"

#include <utility>

#include "sim/simulation.hpp"

namespace canopy::sim {

VirtualNode::VirtualNode(Simulation& simulation, NodeIndex index, PeerRef self, Random random)
    : simulation_(simulation), index_(index), self_(self), random_(random) {}

MonoTime VirtualNode::now() const { return clock_.local(simulation_.now()); }

PeerTable& VirtualNode::peers() { return simulation_.peers(); }

void VirtualNode::send(PeerRef to, wire::Message message) {
  simulation_.send(*this, to, std::move(message));
}

std::size_t VirtualNode::backlog(PeerRef to) {
  return simulation_.network().backlog(index_, simulation_.node_of(to), simulation_.now());
}

void VirtualNode::wake_at(MonoTime deadline) { simulation_.request_wake(*this, deadline); }

void VirtualNode::multicast(const wire::Multicast& message) {
  for (Observer* observer : simulation_.observers_) observer->multicast(index_, message);
  if (!message.asking.asker) return;
  std::size_t replies = 0;
  for (Observer* observer : simulation_.observers_) replies += observer->asked(index_, message);
  peer_->scribe().expect_replies(message, replies);
}

void VirtualNode::gap(const Id& group, const scribe::Missed& missed) {
  for (Observer* observer : simulation_.observers_) observer->gap(index_, group, missed);
}

void VirtualNode::presence(const Id& group, const scribe::Presence& presence) {
  for (Observer* observer : simulation_.observers_) observer->presence(index_, group, presence);
}

bool VirtualNode::anycast(const wire::Anycast& message) {
  bool taken = true;
  for (Observer* observer : simulation_.observers_) {
    taken = observer->anycast(index_, message) && taken;
  }
  return taken;
}

void VirtualNode::request_over(const wire::MessageId& id, boost::system::error_code) {
  for (Observer* observer : simulation_.observers_) observer->request_over(index_, id);
}

void VirtualNode::detached(const Id& group, boost::system::error_code reason) {
  for (Observer* observer : simulation_.observers_) observer->detached(index_, group, reason);
}

void VirtualNode::keep_state(const wire::GroupState& state) {
  disk_[state.group] = state;
  peer_->scribe().written(state.group, state.epoch, state.version);
}

}  // namespace canopy::sim
