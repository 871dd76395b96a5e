// One step in an ordered group's order: a multicast, the start of an epoch, or
// the word that something before it is lost for good. Plain values.
//
// At each node the items form a stream in which every one follows on the one
// before. Positions are compared as pairs: epoch first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "wire/message.hpp"

namespace canopy::scribe {

using OrderItem = std::variant<wire::Multicast, wire::EpochStart, wire::LostUpTo>;

wire::Position position_of(const OrderItem& item) noexcept;
const Id& group_of(const OrderItem& item) noexcept;
// The position that a stream has to be at, at least, for it to take the item.
wire::Position before(const OrderItem& item) noexcept;

// Whether nothing can be missing between a stream that has everything up to
// `last` and this item.
bool follows(const OrderItem& item, const wire::Position& last) noexcept;

// Positions of an epoch that a subscriber does not get; up to an end that nobody
// knows if `last` is 0.
struct Missed {
  std::uint64_t epoch = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const Missed&, const Missed&) = default;
};
// What is missed by taking the item after `last`, on which it follows.
std::optional<Missed> missed_by(const OrderItem& item, const wire::Position& last) noexcept;

void collect_peers_of(const OrderItem& item, std::vector<PeerRef>& in_use);

// What it occupies, near enough to bound memory.
std::size_t bytes_of(const OrderItem& item) noexcept;

// It has been kept for so long: what is told of times ages.
void age(OrderItem& item, Duration by) noexcept;
// As it is sent after it has been kept for so long: what is told of times ages.
wire::Message to_message(const OrderItem& item, Duration age = Duration::zero());

// Who waits for replies to what is published here.
wire::Asking asking_of(const wire::Publish& publish) noexcept;

}  // namespace canopy::scribe
