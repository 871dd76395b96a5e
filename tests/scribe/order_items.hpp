// Items of an ordered group's stream, briefly written.
#pragma once

#include <string>
#include <vector>

#include "scribe/order_stream.hpp"

namespace canopy::scribe::test {

inline const Id order_group = Id::hash_of("ordered");

inline OrderItem multicast(std::uint64_t epoch, std::uint64_t sequence, std::size_t size = 10) {
  wire::Multicast message;
  message.group = order_group;
  message.id = {Id::hash_of("publisher"), 1, epoch * 1000 + sequence};
  message.epoch = epoch;
  message.sequence = sequence;
  message.body = Buffer::copy_of(std::string(size, 'x'));
  return message;
}

inline OrderItem epoch_start(std::uint64_t epoch, const wire::Position& previous, bool exact) {
  return wire::EpochStart{order_group, epoch, previous, exact};
}

inline OrderItem lost_up_to(std::uint64_t epoch, std::uint64_t sequence) {
  return wire::LostUpTo{order_group, {epoch, sequence}};
}

}  // namespace canopy::scribe::test
