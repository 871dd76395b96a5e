// How to publish, and what a publish reports. Plain values.
#pragma once

#include <chrono>
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
  members,  // when every member has it, or the time for that is over
};

struct PublishOptions {
  Ack ack = Ack::root;
  Headers headers = {};
  // Ack::members: how long they may take, up to the time after which a lost peer is
  // forgotten (60 s). 0: 10 s, with Profile::wan 25 s. Begins anew when the root has room
  // for a message that had to wait for it.
  std::chrono::milliseconds members_time{0};
  std::string token = {};  // where the group's access list asks for one
  // For messages that are to come one after the other or not at all: those of this node
  // with the same number, not 0, are a chain. Once one has failed, those after it fail
  // too, with chain_broken if they were not sent for that; also those that were published
  // before their publisher could know. When all have completed, they can be published again
  // in their order, as another chain. Any number that is not in use will do.
  std::uint64_t chain = 0;
};

// A part of the tree that did not confirm in time, or was lost within the time
// after which a lost peer is forgotten: there may be members in it.
struct UnreachableSubtree {
  PeerInfo peer;  // its top
};

struct PublishResult {
  MessageId id;                  // which the members see
  std::optional<PeerInfo> root;  // unknown with Ack::none
  std::uint64_t epoch = 0;       // of the group's order; 0 in best-effort groups
  std::uint64_t position = 0;    // within the epoch; a log offset in durable groups
  bool persisted = false;        // on the disks of a majority (durable groups)

  // With Ack::members.
  // Peers that are members and have got the message: at least so many. One that
  // has several subscriptions counts once.
  std::optional<std::uint64_t> members_reached;
  // Whether all have got it that were members when the root sent it, and still
  // are. A new root that knows nothing of the old one's tree says so only after
  // the time after which a lost peer is forgotten.
  bool complete = false;
  std::vector<UnreachableSubtree> unreachable;  // up to 16
  std::uint64_t unreachable_more = 0;           // that are not listed
  // With errc::limit: after this time the root takes messages of this node again.
  std::chrono::milliseconds retry_after{0};
};

}  // namespace canopy
