#include "sim/message_kind.hpp"

namespace canopy::sim {

std::size_t kind_of(const wire::Message& message) noexcept {
  if (const auto* routed = std::get_if<wire::Routed>(&message); routed != nullptr && routed->body) {
    return std::variant_size_v<wire::Message::variant> + routed->body->index();
  }
  return message.index();
}

}  // namespace canopy::sim
