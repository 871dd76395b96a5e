// How to publish, and what a publish reports. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <canopy/inspect.hpp>
#include <canopy/message.hpp>

namespace canopy {

// When a publish completes.
enum class Ack : std::uint8_t {
  none,     // when the message has left this peer
  root,     // when the group's root has sent it to its children
  members,  // when every member has it; not offered by best-effort groups (errc::unsupported)
};

struct PublishOptions {
  Ack ack = Ack::root;
  Headers headers = {};
};

// A part of the tree that did not confirm within the deadline.
struct UnreachableSubtree {
  PeerInfo peer;  // its top
};

struct PublishResult {
  MessageId id;                                  // which the members see
  std::optional<PeerInfo> root;                  // unknown with Ack::none
  std::uint64_t epoch = 0;                       // of the group's order; 0 in best-effort groups
  std::uint64_t position = 0;                    // within the epoch; a log offset in durable groups
  bool persisted = false;                        // on the disks of a majority (durable groups)
  std::optional<std::uint64_t> members_reached;  // with Ack::members
  std::vector<UnreachableSubtree> unreachable;   // with Ack::members: not complete unless empty
};

}  // namespace canopy
