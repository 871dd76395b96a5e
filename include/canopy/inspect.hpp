// What a node tells of itself, the ring and the trees. Plain values, snapshots
// of a moment: a ring or a tree is read from many peers one after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <canopy/key.hpp>
#include <canopy/message.hpp>

namespace canopy {

struct PeerInfo {
  Key id;
  std::string name;
  std::vector<std::string> addresses;  // HOST:PORT, in the order in which to dial them
  std::uint64_t incarnation = 0;
  std::string zone;
  friend bool operator==(const PeerInfo&, const PeerInfo&) = default;
};

enum class NodeState : std::uint8_t {
  created,    // async_start was not called yet
  joining,    // looks for a seed, or is between seed and ring
  active,     // a full member of the ring
  departing,  // hands over and says goodbye
  stopped,
};
const char* to_string(NodeState state) noexcept;

// A number that only grows.
struct Counter {
  std::string name;
  std::uint64_t value = 0;
};

struct NodeStatus {
  PeerInfo self;
  NodeState state = NodeState::created;
  std::string cluster;       // its name
  std::string cluster_uuid;  // empty until founded or joined
  bool founded = false;      // by this node, in this run
  unsigned digit_bits = 0;
  unsigned leaf_set_size = 0;
  std::chrono::milliseconds uptime{};
  std::vector<PeerInfo> leaves;  // each once, clockwise from this node
  std::size_t table_entries = 0;
  std::size_t neighbors = 0;
  std::size_t links = 0;   // connected
  std::size_t groups = 0;  // in whose tree this node is
  std::size_t subscriptions = 0;
  std::vector<Counter> counters;
};

struct Ring {
  std::vector<PeerInfo> peers;  // in id order
  bool complete = false;        // the walk has come round
};

struct Route {
  Key key;
  std::vector<PeerInfo> hops;  // after this node, ending at the root; empty: this node is the root
};

struct TreeNode {
  PeerInfo peer;
  std::optional<std::size_t> parent;  // index into Tree::nodes; none for the root
  std::vector<std::size_t> children;  // in the order of their adoption
  bool member = false;
  bool answered = false;  // false: nothing is known but its place
  bool denied = false;    // it has not told, as the access list that it has forbids it
  // To its parent, as it was measured last; none if it was not yet.
  std::optional<std::chrono::microseconds> round_trip;
};

struct Tree {
  GroupName group;
  Key group_id;
  GroupMode mode = GroupMode::best_effort;
  std::vector<TreeNode> nodes;  // the root first, then level by level
  bool complete = false;        // every node answered and the limit was not met
};

// As the group's root knows it; members are daemons, however many subscriptions each
// has.
struct MemberCount {
  std::uint64_t members = 0;
  bool complete = false;  // else about so many: see Presence
};

// This node's place in one group.
struct GroupInfo {
  GroupName name;
  Key id;
  bool member = false;
  bool root = false;
  bool attached = false;  // root, or acknowledged by a parent
  GroupMode mode = GroupMode::best_effort;
  std::optional<PeerInfo> parent;
  std::vector<PeerInfo> root_path;  // from the root down to the parent
  std::vector<PeerInfo> children;
  std::size_t subscriptions = 0;
};

}  // namespace canopy
