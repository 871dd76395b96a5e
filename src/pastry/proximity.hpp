// How far the neighbours of a node are, and when it heard from them last.
//
// One record of twenty bytes a neighbour, in one array ordered by handle. The
// distance is the lowest round trip ever seen, which queues and connection
// set-ups cannot inflate for long: it ranks peers. The smoothed round trip and
// its variation set timeouts, as in TCP (Jacobson 1988; Karn's rule is the
// caller's: no sample from a message that was sent twice).
// A plain value, not thread-safe. Bounded by its owner through trim().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/peer.hpp"
#include "base/time.hpp"

namespace canopy::pastry {

class Proximity {
 public:
  // Begins a record, heard from now, unless there is one.
  void track(PeerRef peer, MonoTime now);
  void remove(PeerRef peer);
  bool knows(PeerRef peer) const noexcept;

  // A sign of life; of unknown peers it is not kept. False if unknown.
  bool heard(PeerRef peer, MonoTime now);
  // How long ago the peer was heard from, to about a millisecond.
  std::optional<Duration> silence(PeerRef peer, MonoTime now) const noexcept;

  // A round trip measured here, or by the peer. Begins a record if need be.
  void sample(PeerRef peer, Duration round_trip, MonoTime now);

  // In microseconds; unknown_distance if never measured.
  std::uint32_t distance(PeerRef peer) const noexcept;
  std::optional<Duration> round_trip(PeerRef peer) const noexcept;
  // So many of those whose distances are the most like this one (ties: the
  // smaller handle), or all.
  std::vector<PeerRef> about_as_far_as(std::uint32_t distance_us, std::size_t count) const;
  // When an answer of the peer is overdue, between these two.
  Duration timeout(PeerRef peer, Duration floor, Duration ceiling) const noexcept;
  // The same where to ask too soon costs little: tighter than TCP's.
  Duration tight_timeout(PeerRef peer, Duration floor, Duration ceiling) const noexcept;

  std::size_t size() const noexcept { return records_.size(); }
  // Forgets those records whose peer is not to be kept.
  void trim(const std::function<bool(PeerRef)>& keep);
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Record {
    PeerRef peer;
    std::uint32_t distance_us;
    std::uint32_t smoothed_us;
    std::uint32_t variation_us;
    std::uint32_t heard;  // units of 1024 us, wrapping after 50 days
  };

  // Variations and a share of the round trip, whichever is more, after the round trip.
  Duration overdue(PeerRef peer, int variations, std::int64_t share, Duration floor,
                   Duration ceiling) const noexcept;
  Record& record(PeerRef peer, MonoTime now);
  Record* find(PeerRef peer) noexcept;
  const Record* find(PeerRef peer) const noexcept;

  std::vector<Record> records_;
};

// A duration as a distance: at least 1 us, below unknown_distance.
std::uint32_t distance_of(Duration round_trip) noexcept;

}  // namespace canopy::pastry
