// Messages in flight, in pooled slots that never move: what a wheel event of 24
// bytes points to. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/peer.hpp"
#include "wire/message.hpp"

namespace canopy::sim {

struct Flight {
  wire::Message message;
  PeerRef from;
  PeerRef to;
};

class FlightPool {
 public:
  std::uint32_t put(Flight flight) {
    if (free_.empty()) grow();
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    at(slot) = std::move(flight);
    return slot;
  }

  Flight take(std::uint32_t slot) {
    Flight flight = std::move(at(slot));
    at(slot).message = wire::Heartbeat{};  // frees what a move may leave behind
    free_.push_back(slot);
    return flight;
  }

 private:
  static constexpr std::uint32_t chunk_size = 256;

  Flight& at(std::uint32_t slot) { return chunks_[slot / chunk_size][slot % chunk_size]; }

  void grow() {
    const auto first = static_cast<std::uint32_t>(chunks_.size()) * chunk_size;
    chunks_.push_back(std::make_unique<Flight[]>(chunk_size));
    for (std::uint32_t i = chunk_size; i-- > 0;) free_.push_back(first + i);
  }

  std::vector<std::unique_ptr<Flight[]>> chunks_;
  std::vector<std::uint32_t> free_;
};

}  // namespace canopy::sim
