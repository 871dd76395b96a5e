// A small dense number for the type of a message (of a routed one, that of its
// body), to count and trace by.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "wire/message.hpp"

namespace canopy::sim {

inline constexpr std::size_t message_kinds =
    std::variant_size_v<wire::Message::variant> + std::variant_size_v<wire::RoutedBody::variant>;

std::size_t kind_of(const wire::Message& message) noexcept;

}  // namespace canopy::sim
