// Bounds of the network layer. Every size, count and wait has one.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/time.hpp"
#include "net/outbox.hpp"
#include "wire/frame.hpp"

namespace canopy::net {

struct DialOptions {
  Duration time_max = std::chrono::seconds(3);        // for all addresses of a peer together
  Duration stagger = std::chrono::milliseconds(200);  // before the next address is tried as well
  std::size_t attempts_max = 128;                     // connecting sockets at once, of all dials
  std::size_t addresses_max = 16;                     // tried of one peer
};

struct LinkOptions {
  DialOptions dial;
  OutboxLimits outbox;  // for each peer

  Duration handshake_time_max = std::chrono::seconds(3);    // from connected to agreed
  Duration drain_time_max = std::chrono::seconds(2);        // for the rest of a link that closes
  Duration alive_check_time_max = std::chrono::seconds(1);  // for a peer whose name another claims
  Duration idle_time_max = std::chrono::seconds(60);        // without traffic, unless wanted
  Duration stall_time_max = std::chrono::seconds(30);       // writing without progress

  // Between dials of a peer that does not answer: doubled from min to max, then
  // spread by half in either direction.
  Duration backoff_min = std::chrono::milliseconds(100);
  Duration backoff_max = std::chrono::seconds(10);
  Duration stable_after = std::chrono::seconds(5);  // a link this old clears its failures
  unsigned failures_max = 4;  // in a row; then what waits for the peer is dropped

  std::size_t links_max = 512;       // agreed ones; idle ones make room
  std::size_t peers_max = 8192;      // dialled, linked or remembered as failing
  std::size_t seeds_max = 64;        // dials of seeds at once
  std::size_t handshakes_max = 512;  // accepted connections that have not agreed
  std::size_t handshakes_per_address_max = 256;
  std::size_t frame_bytes_max = wire::default_max_frame;
};

}  // namespace canopy::net
