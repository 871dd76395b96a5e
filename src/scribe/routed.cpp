#include "scribe/routed.hpp"

#include <type_traits>

#include "scribe/group_name.hpp"

namespace canopy::scribe {

namespace {

template <class Body>
constexpr bool names_group = requires(const Body& body) {
  body.group;
};

// Numbers are the origin's own: nobody uses up another's.
template <class Body>
bool fit_to_pass(const Body& message, const PeerTable& peers, std::size_t body_max) {
  return message.body.size() <= body_max && message.origin &&
         message.id.publisher == peers.id(message.origin);
}

}  // namespace

std::optional<Id> group_of(const wire::RoutedBody& body) {
  return std::visit(
      [](const auto& message) -> std::optional<Id> {
        using Body = std::decay_t<decltype(message)>;
        if constexpr (std::is_same_v<Body, wire::GroupCreate>) {
          return message.state.group;
        } else if constexpr (names_group<Body>) {
          return message.group;
        } else {
          return std::nullopt;
        }
      },
      body);
}

bool consistent(const wire::Routed& message, const PeerTable& peers, unsigned id_bits,
                std::size_t body_max) {
  if (group_of(*message.body) != message.key) return false;
  if (const auto* join = std::get_if<wire::GroupJoin>(message.body.get())) {
    return names(join->name, join->group, id_bits);
  }
  if (const auto* create = std::get_if<wire::GroupCreate>(message.body.get())) {
    return names(create->state.name, create->state.group, id_bits);
  }
  if (const auto* change = std::get_if<wire::GroupChange>(message.body.get())) {
    return names(change->name, change->group, id_bits);
  }
  if (const auto* publish = std::get_if<wire::Publish>(message.body.get())) {
    return fit_to_pass(*publish, peers, body_max);
  }
  if (const auto* anycast = std::get_if<wire::Anycast>(message.body.get())) {
    return fit_to_pass(*anycast, peers, body_max);
  }
  return true;
}

void collect_peers_of(const wire::RoutedBody& body, std::vector<PeerRef>& in_use) {
  std::visit(
      [&](const auto& message) {
        using Body = std::decay_t<decltype(message)>;
        if constexpr (requires { message.origin; }) in_use.push_back(message.origin);
        if constexpr (std::is_same_v<Body, wire::GroupJoin>) in_use.push_back(message.child);
        if constexpr (std::is_same_v<Body, wire::Anycast>) {
          in_use.insert(in_use.end(), message.visited.begin(), message.visited.end());
          in_use.insert(in_use.end(), message.to_visit.begin(), message.to_visit.end());
          in_use.insert(in_use.end(), message.passed_over.begin(), message.passed_over.end());
        }
      },
      body);
}

}  // namespace canopy::scribe
