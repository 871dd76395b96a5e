// What a queue counts and remembers, kept in the store with every batch. Plain
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/position.hpp"

namespace canopy::queue {

struct Counters {
  std::uint64_t next_sequence = 1;
  std::uint64_t messages = 0;
  std::uint64_t purged_before = 0;  // sequences below are gone
  Position head;                    // no message lies before it
  bool noted = false;               // some receive counts are in the store
  bool grouped = false;             // a standard queue with message groups
  Millis delayed_until = 0;         // no message is delayed beyond
  Millis housekeeping = 0;          // due then; 0: not
  Millis purged_at = 0;
  Millis deduplicated_at = 0;  // the last id was taken then; 0: none is kept
};

std::string encode(const Counters& counters);
std::optional<Counters> decode_counters(std::string_view bytes);

}  // namespace canopy::queue
