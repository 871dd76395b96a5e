#include "sim/step_log.hpp"

namespace canopy::sim {

void StepLog::clear() {
  for (auto* hops : {&traces, &creates, &joins, &leaves, &publishes, &multicasts}) hops->clear();
  delivered.clear();
}

void StepLog::said(NodeIndex from, NodeIndex to, const wire::Message& message) {
  const Hop hop{from, to};
  if (const auto* routed_message = std::get_if<wire::Routed>(&message)) {
    routed(hop, *routed_message->body);
  } else if (std::holds_alternative<wire::Leave>(message)) {
    leaves.push_back(hop);
  } else if (std::holds_alternative<wire::Publish>(message)) {
    publishes.push_back(hop);
  } else if (std::holds_alternative<wire::Multicast>(message)) {
    multicasts.push_back(hop);
  }
}

void StepLog::routed(const Hop& hop, const wire::RoutedBody& body) {
  if (std::holds_alternative<wire::RouteTrace>(body)) {
    traces.push_back(hop);
  } else if (std::holds_alternative<wire::GroupCreate>(body)) {
    creates.push_back(hop);
  } else if (std::holds_alternative<wire::GroupJoin>(body)) {
    joins.push_back(hop);
  } else if (std::holds_alternative<wire::Publish>(body)) {
    publishes.push_back(hop);
  }
}

void StepLog::multicast(NodeIndex node, const wire::Multicast&) { delivered.push_back(node); }

}  // namespace canopy::sim
