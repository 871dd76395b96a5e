// What the simulated network carried during one step of a scenario.
#pragma once

#include <vector>

#include "sim/observer.hpp"

namespace canopy::sim {

struct Hop {
  NodeIndex from = no_node;
  NodeIndex to = no_node;
};

class StepLog final : public Observer {
 public:
  void clear();

  void said(NodeIndex from, NodeIndex to, const wire::Message& message) override;
  void multicast(NodeIndex node, const wire::Multicast& message) override;

  // In the order of sending.
  std::vector<Hop> traces;           // RouteTrace
  std::vector<Hop> creates;          // GroupCreate
  std::vector<Hop> joins;            // JOIN
  std::vector<Hop> leaves;           // LEAVE
  std::vector<Hop> publishes;        // to the root, routed or direct
  std::vector<Hop> multicasts;       // along the edges of a tree
  std::vector<NodeIndex> delivered;  // the members that were handed a message

 private:
  void routed(const Hop& hop, const wire::RoutedBody& body);
};

}  // namespace canopy::sim
