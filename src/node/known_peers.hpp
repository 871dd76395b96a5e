// The peers of its cluster that a node remembers across restarts, in DIR/peers.json:
// whom it asks, besides its seeds, to let it in again.
//
// A few, those next to it in the ring when it was part of it last. They only help: a
// file that cannot be read, or is of another cluster, is left out, and replaced when there
// is news. The file's functions block on the disk, and are not for the overlay's thread.
//
// The file: {"format": 1, "cluster": UUID, "peers": [{"address": HOST:PORT, "seen": TIME}]},
// nearest first, the time in milliseconds since 1970.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/time.hpp"
#include "base/uuid.hpp"

namespace canopy::node {

struct KnownPeer {
  std::string address;  // endpoint, as text
  WallTime seen{};      // in the ring, last
  bool operator==(const KnownPeer&) const = default;
};

using KnownPeers = std::vector<KnownPeer>;

constexpr std::size_t known_peers_max = 8;
constexpr auto known_peers_age_max = std::chrono::hours(7 * 24);

// Those that are in the ring now, nearest first, and of those known before as many as
// there is room for, if they were seen lately. Who is alone keeps whom it knew.
KnownPeers updated(const KnownPeers& before, const std::vector<std::string>& in_ring, WallTime now);

std::vector<std::string> addresses_of(const KnownPeers& peers);

// Whether the disk is to have these instead: others, in whatever order, or the same, seen a
// day later.
bool are_news(const KnownPeers& peers, const KnownPeers& on_disk);

// Of a data directory, and of this cluster. None if there is no file; one that cannot be
// understood is told of in the log.
KnownPeers read_known_peers(const std::string& directory, const Uuid& cluster);

boost::system::error_code write_known_peers(const std::string& directory, const Uuid& cluster,
                                            const KnownPeers& peers);

}  // namespace canopy::node
