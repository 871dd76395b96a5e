// How a node is set up. Plain values. (It logs to spdlog's default logger.)
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <canopy/access.hpp>

namespace canopy {

enum class Profile : std::uint8_t { lan, wan };

// Times and counts of the protocol. Unset: the profile's.
struct Tuning {
  using Time = std::optional<std::chrono::microseconds>;

  Time leaf_heartbeat = {};  // to a neighbour on the ring, which answers with a lease
  // That it grants: at least leaf_heartbeat and probe_timeout together.
  Time lease = {};
  Time probe_timeout = {};  // of a peer that is asked whether it lives
  std::optional<unsigned> probe_retries = {};
  std::optional<unsigned> probes_per_second = {};  // that a node sends, at least 1; others wait
  // Between probes of a silent peer of the routing table, which tune themselves: bounds.
  Time entry_probe_min = {};
  Time entry_probe_max = {};
  Time parent_heartbeat = {};                             // from a parent in a tree to its child
  std::optional<unsigned> parent_heartbeats_missed = {};  // then the parent is lost
  Time child_refresh = {};                                // from a child to its parent
  Time child_expiry = {};                                 // of a child that does not
  Time request_timeout = {};                   // of create, publish, anycast and the like
  std::optional<unsigned> root_replicas = {};  // peers that know a group, its root included
  // Children over all groups; a node with more moves some below siblings. 0: any number.
  std::optional<std::uint32_t> children_max = {};
  // A node that is no member and has one child leaves the tree.
  std::optional<bool> path_collapse = {};
};

struct NodeOptions {
  // The peer's name, unique in its cluster: its SHA-1 is the place on the ring.
  std::string name = {};

  // HOST:PORT to listen on; port 0 lets the system choose. [::1]:7000 for IPv6.
  std::string listen = "127.0.0.1:0";

  // HOST:PORT under which others reach this node, in the order in which to dial
  // them. Empty: the address listened on; where that is a wildcard, this
  // machine's address on the way to the first seed that is given as a number,
  // or else to its default route.
  std::vector<std::string> advertise = {};

  // Seeds, HOST:PORT of peers of the cluster; any that answers will do. Names
  // are resolved anew at every try.
  std::vector<std::string> join = {};

  // Found the cluster if no seed answers. Without seeds and with an empty data
  // directory (or none at all) a node founds anyway.
  bool found = false;

  std::string cluster = "canopy";

  // Keeps across restarts: id, cluster UUID, incarnation, the groups that were created
  // (of which this node is the root, or stands in for it), and up to eight peers of the
  // ring, which are asked beside the seeds. Empty: nothing is kept, and the node is a
  // stranger to its cluster at every start.
  std::string data_directory = {};

  Profile profile = Profile::lan;
  std::string zone = {};

  // Constants of the cluster: they must be the same on every peer.
  unsigned digit_bits = 4;      // b, 1..8 and a divisor of 160
  unsigned leaf_set_size = 16;  // |L|, even

  Tuning tuning = {};

  // Who may create groups that this node is the root of. Where not everybody may, no
  // join founds one either.
  Grant group_creators = {};

  // Bounds.
  std::size_t groups_joined_max = 100'000;        // of this node's subscriptions
  std::uint32_t child_entries_max = 65'536;       // trees in which one peer is its child; 0: any
  std::uint32_t publish_messages_per_second = 0;  // of one publisher, at this root; 0: any
  std::uint64_t publish_bytes_per_second = 0;     // the same
  std::size_t payload_bytes_max = 1U << 20;       // payload and headers of one message
  std::size_t mailbox_calls_max = 65'536;         // calls on their way to the node's thread
  std::size_t mailbox_bytes_max = 64U << 20;      // and the payloads they carry
  // What this node keeps for those who missed it, bytes: of one ordered group, of all
  // ordered groups, and of the latest messages of all groups (of which it may be 0).
  std::size_t history_bytes_max = 16U << 20;
  std::size_t history_node_bytes_max = 64U << 20;
  std::size_t last_bytes_max = 32U << 20;
  std::size_t walk_peers_max = 100'000;  // nodes that async_tree or async_ring visits

  std::chrono::milliseconds departure_time_max{5000};  // for async_stop
};

// A node or its gateway cannot start: what() says what is wrong and what to do.
// Thrown by the constructors of Node and Gateway, and for keys that cannot be read
// anew.
class StartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace canopy
