#include "pastry/test_network.hpp"

#include <algorithm>

namespace canopy::pastry::test {

TestNode::TestNode(TestNetwork& network, const Config&, PeerRef ref, std::uint64_t seed)
    : network_(network), ref_(ref), random_(seed) {}

MonoTime TestNode::now() const { return network_.now_; }

PeerTable& TestNode::peers() { return network_.peers_; }

void TestNode::send(PeerRef to, wire::Message message) {
  network_.send(*this, to, std::move(message));
}

void TestNode::wake_at(MonoTime deadline) {
  if (deadline >= wake_) return;
  wake_ = deadline;
  network_.schedule(std::max(deadline, network_.now_), {ref_, {}, {}});
}

void TestNode::deliver(PeerRef, const wire::Routed& message) { seen.delivered.push_back(message); }

void TestNetwork::send(TestNode& from, PeerRef to, wire::Message message) {
  if (from.crashed) return;
  if (loss > 0 && random_.chance(loss)) return;
  if (censor && censor(from.ref_, to, message)) return;
  const auto at = nodes_.find(to);
  if (at == nodes_.end()) return;
  const double distance = std::hypot(from.x - at->second->x, from.y - at->second->y);
  const auto delay = Duration(50 + static_cast<std::int64_t>(distance * 500));
  schedule(now_ + delay, {to, from.ref_, std::move(message)});
}

void TestNetwork::handle(TestNode& node, Event& event) {
  if (node.crashed) return;
  if (event.from) {
    if (node.hung) {
      node.backlog_.emplace_back(event.from, std::move(event.message));
    } else {
      node.pastry->receive(event.from, std::move(event.message));
    }
  } else if (!node.hung && node.wake_ <= now_) {
    node.wake_ = never;
    node.pastry->tick();
  }
}

bool TestNetwork::step() {
  if (events_.empty()) return false;
  auto first = events_.extract(events_.begin());
  now_ = std::max(now_, first.key().first);
  const auto at = nodes_.find(first.mapped().to);
  if (at != nodes_.end()) handle(*at->second, first.mapped());
  return true;
}

void TestNetwork::run_for(Duration span) {
  const MonoTime end = now_ + span;
  while (!events_.empty() && events_.begin()->first.first <= end) step();
  now_ = end;
}

bool TestNetwork::run_until(const std::function<bool()>& condition, Duration limit) {
  const MonoTime end = now_ + limit;
  while (!condition()) {
    if (events_.empty() || events_.begin()->first.first > end) {
      now_ = end;
      return condition();
    }
    step();
  }
  return true;
}

void TestNetwork::resume(TestNode& node) {
  node.hung = false;
  for (auto& [from, message] : std::exchange(node.backlog_, {})) {
    node.pastry->receive(from, std::move(message));
  }
  node.wake_ = never;
  node.wake_at(now_);
}

std::vector<TestNode*> TestNetwork::ring() const {
  std::vector<TestNode*> live;
  for (const auto& [ref, node] : nodes_) {
    if (!node->crashed && node->pastry->active()) live.push_back(node.get());
  }
  std::sort(live.begin(), live.end(), [this](const TestNode* a, const TestNode* b) {
    return peers_.id(a->ref_) < peers_.id(b->ref_);
  });
  return live;
}

bool TestNetwork::leaf_sets_exact() const {
  const std::vector<TestNode*> live = ring();
  const std::size_t n = live.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::set<PeerRef> expected;
    for (std::size_t d = 1; d <= std::min<std::size_t>(config_.leaf_set_size / 2, n - 1); ++d) {
      expected.insert(live[(i + d) % n]->ref_);
      expected.insert(live[(i + n - d) % n]->ref_);
    }
    std::set<PeerRef> actual;
    for (const Leaf& leaf : live[i]->pastry->leaf_set().all()) actual.insert(leaf.peer);
    if (actual != expected) return false;
  }
  return true;
}

TestNode* TestNetwork::root_of(const Id& key) const {
  TestNode* best = nullptr;
  for (TestNode* node : ring()) {
    if (best == nullptr || closer_to(key, peers_.id(node->ref_), peers_.id(best->ref_))) {
      best = node;
    }
  }
  return best;
}

}  // namespace canopy::pastry::test
