// What makes a message acceptable, whatever queue it goes to: its body, its
// attributes, its ids. The errors are Amazon's. Plain functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "queue/actions.hpp"
#include "queue/limits.hpp"

namespace canopy::queue {

// As the limit on messages counts: body, and names, types and values of attributes.
std::size_t size_of(const SendEntry& entry) noexcept;

// Whether it has only the characters of XML 1.0, which every message has to be
// able to travel in.
bool is_message_text(std::string_view text);

std::optional<Error> check_body(std::string_view body);
std::optional<Error> check_message_attributes(const MessageAttributes& attributes,
                                              const Limits& limits);

// 1 to 128 letters, digits and punctuation, for the parameter of this name.
std::optional<Error> check_message_token(std::string_view parameter, std::string_view value,
                                         const Limits& limits);

// Letters, digits, hyphens and underscores, with ".fifo" behind those of FIFO
// queues.
bool is_queue_name(std::string_view name, bool fifo, const Limits& limits);

}  // namespace canopy::queue
