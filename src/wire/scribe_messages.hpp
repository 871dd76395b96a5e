// The messages of the Scribe layer, as plain structs.
//
// `body` fields hold encoded content (user headers and payload, see
// content.hpp) that no peer on the way looks into: encoded once, shared by all
// copies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/id.hpp"
#include "base/peer.hpp"
#include "wire/pastry_messages.hpp"

namespace canopy::wire {

// A group is named by (name, creator); its id is SHA-1(name + creator).
struct GroupName {
  std::string name = {};
  std::string creator = {};
  friend bool operator==(const GroupName&, const GroupName&) = default;
};

// Names a multicast for ever: a retry carries the same one.
struct MessageId {
  Id publisher = {};
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const MessageId&, const MessageId&) = default;
};

// A place in an ordered group's order. Epochs only grow; multicasts of one count
// from 1, and 0 is the epoch's start. The default stands for none.
struct Position {
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  explicit operator bool() const noexcept { return epoch != 0; }
  friend auto operator<=>(const Position&, const Position&) = default;
};

enum class GroupMode : std::uint8_t { best_effort = 1, ordered = 2, durable = 3 };
enum class AckMode : std::uint8_t { none = 0, root = 1, members = 2 };

// What the root knows of a group and its replicas keep. (epoch, version) only
// grows; the larger one wins a merge.
struct GroupState {
  Id group = {};
  GroupName name = {};
  GroupMode mode = GroupMode::best_effort;
  std::uint64_t epoch = 0;
  std::uint64_t version = 0;
  bool created = false;  // by a create: kept while nobody is in the tree, else forgotten
  // In a handover of an ordered group: the position that the old root ended at.
  Position closed = {};
};

// --- Routed to the group's id ---

// `child` wants the receiver as its parent. Each hop that is not in the tree
// yet adopts the child and sends a JOIN of its own. Sent direct, it is for the
// receiver alone, which adopts the child if it is in the tree and has fewer
// children entries than `entries`, or refuses.
struct GroupJoin {
  Id group = {};
  GroupName name = {};  // lets the root found the group and refuse another of the same hash
  PeerRef child = {};
  std::uint32_t nonce = 0;
  std::uint8_t detours = 0;  // random first hops still to take, to get out of a loop
  std::uint32_t entries = 0;
  Position position = {};  // ordered: up to here the child has everything
};

struct GroupCreate {
  GroupState state = {};
  PeerRef origin = {};
  std::uint32_t nonce = 0;
};

// Who has a tracked multicast, below one node or in all.
struct Reach {
  std::uint64_t members = 0;  // at least so many
  bool complete = false;      // nobody is missing
  Peers unreachable = {};     // tops of subtrees that are not known to have it
  std::uint64_t more = 0;     // such that are not listed
};

// To the root, routed or (from its address in the publisher's cache) direct.
struct Publish {
  Id group = {};
  GroupName name = {};
  MessageId id = {};
  PeerRef origin = {};
  AckMode ack = AckMode::none;
  std::uint64_t after = 0;  // ordered: the publisher's message before it, if that is unconfirmed
  Buffer body = {};
  std::uint32_t within_ms = 0;        // ack members: so long the publisher waits
  std::uint32_t reply_within_ms = 0;  // so long it waits for replies; 0: it wants none
};

// Depth-first search for one willing member. The origin sends it again, with the
// same id, while it does not know how the search has ended.
struct Anycast {
  Id group = {};
  MessageId id = {};
  PeerRef origin = {};
  Peers visited = {};
  Peers to_visit = {};
  Buffer body = {};
  std::uint32_t within_ms = 0;  // so long the origin waits; 0: it does not say
  bool wants_reply = false;     // from the member that takes it
  Peers passed_over = {};       // members that have had it, and are not to have it again
  bool met_busy = false;        // others that do not take it now
};

// --- Direct ---

struct GroupCreateReply {
  std::uint32_t nonce = 0;
  std::uint16_t error = 0;  // canopy::errc, 0 = created (or there already)
};

// The child is in the tree: its parents from the root down, the sender last.
struct JoinAck {
  Id group = {};
  std::uint32_t nonce = 0;
  Peers root_path = {};
  Position position = {};  // ordered: up to here the sender has everything
  // Best-effort: the child is not answered for in tracked multicasts up to this
  // round; ordered: up to `position`.
  Position tracked = {};
};

enum class JoinRefusal : std::uint8_t { loop = 1, name_conflict = 2, limit = 3, denied = 4 };
struct JoinRefused {
  Id group = {};
  std::uint32_t nonce = 0;
  JoinRefusal reason = JoinRefusal::loop;
};

// A subtree that a node answers for in tracked multicasts up to this round, though
// it cannot reach it: lost, or with another parent that answers from there on.
struct LostSubtree {
  PeerRef peer = {};  // its top; or nobody knows
  Position up_to = {};
  std::uint32_t for_ms = 0;  // then it is forgotten
  std::uint32_t count = 1;   // subtrees, if they are not named
};

enum class LeaveReason : std::uint8_t {
  gone = 0,      // out of the tree
  moved = 1,     // to another parent
  orphaned = 2,  // without any parent, for now
};

// The nonce is that of the sender's last JOIN that it is over with: a Leave
// that a newer JOIN has overtaken changes nothing.
struct Leave {
  Id group = {};
  std::uint32_t nonce = 0;
  LeaveReason reason = LeaveReason::gone;
  Position since = {};                 // moved: the other parent answers for it after this round
  std::vector<LostSubtree> lost = {};  // gone: what the sender has answered for
};

// The parent no longer is one (it departs, or never knew this child): re-JOIN.
struct Orphaned {
  Id group = {};
};

// The way from the root to the sender has changed.
struct RootPathUpdate {
  Id group = {};
  Peers root_path = {};
};

// Asks whoever gets the multicast to tell its sender who has it below: a tracked
// one. The round names the asking, as a repetition under another root is another
// one; in an ordered group it is the position, and not carried here.
struct Tracking {
  std::uint32_t within_ms = 0;  // so long the sender waits; 0: it does not ask
  Position round = {};
};

// Somebody waits for replies to a multicast.
struct Asking {
  PeerRef asker = {};           // nobody: it is no request
  std::uint32_t within_ms = 0;  // so long it waits from here on; 0: no longer
};

// Along the tree's edges. In a best-effort group the epoch is 0, and the sequence
// a number by which members count what they miss (scribe/loss_meter.hpp).
struct Multicast {
  Id group = {};
  MessageId id = {};
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint8_t stripe = 0;
  Buffer key = {};
  Buffer body = {};
  Tracking tracking = {};
  Asking asking = {};
};

enum class TrackState : std::uint8_t {
  under_way = 1,  // the sender has it, and waits for its children
  done = 2,       // as far as it will get
  missing = 3,    // the sender has not got it
  stranger = 4,   // the sender is none of the receiver's children
};

// A child's answer to a tracked multicast. Of several who sent it, one only is
// told the number of members.
struct MulticastAck {
  Id group = {};
  MessageId id = {};
  Position round = {};
  TrackState state = TrackState::done;
  Reach reach = {};
};

// To a child that has it, but has not answered for its children.
struct AckRequest {
  Id group = {};
  MessageId id = {};
  Position round = {};
};

// --- Ordered groups: what travels among the multicasts, in order ---

// The epoch begins. `previous` is the last position before it that its root
// knows of; exact: there is none between.
struct EpochStart {
  Id group = {};
  std::uint64_t epoch = 0;
  Position previous = {};
  bool exact = false;
};

// Nobody has any more what lies between the receiver's position and this one,
// itself included.
struct LostUpTo {
  Id group = {};
  Position position = {};
};

// The sender's latest position, once a group has fallen quiet: what was last may
// have got lost.
struct LatestPosition {
  Id group = {};
  Position position = {};
};

// The sender has everything up to `after`, and wants what follows; up to, and
// without, `before` if that is given.
struct RefillRequest {
  Id group = {};
  Position after = {};
  Position before = {};
};

// Per neighbour, in both roles at once: an order-independent hash and the
// number of the groups in which the sender is the receiver's parent, and of
// those in which it is its child.
struct TreeHeartbeat {
  std::uint64_t parent_hash = 0;
  std::uint32_t parent_count = 0;
  std::uint64_t child_hash = 0;
  std::uint32_t child_count = 0;
};

// After a mismatch: the groups in which the sender is the receiver's parent
// (or child), in id order, in pages.
struct GroupSetPage {
  bool as_parent = false;
  bool reply = false;  // an answer; wants none
  Id first = {};       // the page speaks of the groups in [first, last]
  Id last = {};
  std::vector<Id> groups = {};
};

struct PublishAck {
  MessageId id = {};
  std::uint16_t error = 0;  // canopy::errc
  PeerRef root = {};        // for the publisher's cache
  std::uint64_t epoch = 0;  // 0 in an ordered group: its position is not known any more
  std::uint64_t sequence = 0;
  bool ordered = false;  // the group
  bool pending = false;  // ack members: the root has it; the answer follows
  Reach reach = {};      // ack members
};

// Tells a publisher who routed, without asking for an ack, where the root is.
struct RootAddress {
  Id group = {};
  PeerRef root = {};
};

struct AnycastReply {
  MessageId id = {};
  // canopy::errc, 0 = a member took it; busy: there are members, none is willing
  std::uint16_t error = 0;
  PeerRef member = {};
  bool searching = false;  // neither; sent now and then by a long search
};

// --- Requests, between the asker and a member that has the request ---

enum class ReplyKind : std::uint8_t {
  given = 1,
  declined = 2,  // none will come in its place
};

// Sent again until it is acknowledged. `number` counts the sender's replies to the
// request, from 1.
struct Reply {
  MessageId id = {};  // of the request
  std::uint32_t number = 0;
  ReplyKind kind = ReplyKind::given;
  bool last = false;         // all that the sender will say
  std::uint32_t status = 0;  // the replier's own word; 0: all went well
  Buffer body = {};
};

enum class AskerState : std::uint8_t {
  waits = 1,  // and has the reply of that number
  over = 2,   // waits no longer, and has not taken the reply
};

// To a Reply, or to a RequestCheck (number 0).
struct ReplyAck {
  MessageId id = {};
  std::uint32_t number = 0;
  AskerState state = AskerState::waits;
};

// The sender has the request, and wants to know whether it is still waited for.
struct RequestCheck {
  MessageId id = {};
};

// Nobody waits any more.
struct RequestCancel {
  MessageId id = {};
};

// Root state to the k closest peers, and from an old root to a closer one.
struct RootStates {
  std::uint32_t nonce = 0;
  bool handover = false;  // the receiver is to be the root from now on
  std::vector<GroupState> states = {};
};
struct RootStatesAck {
  std::uint32_t nonce = 0;  // 0: of a ReplicaDigest
  bool leaving = false;     // nothing is taken: the sender leaves the ring itself
  bool differs = false;     // what the sender keeps is not what the digest says: all is to be sent
};

// From time to time, instead of the states: an order-independent hash and the
// number of those that the sender, their root, takes the receiver to keep.
struct ReplicaDigest {
  std::uint64_t hash = 0;
  std::uint32_t count = 0;
};

// A new root that does not know the group asks the peers around it before it
// founds one. `root`: the answering peer is (or was until now) the root and
// serves a tree, which belongs below the asker.
struct RootStateRequest {
  std::uint32_t nonce = 0;
  Id group = {};
};
struct RootStateReply {
  std::uint32_t nonce = 0;
  Id group = {};
  bool root = false;
  std::vector<GroupState> states = {};  // one, or none if the group is unknown here
};

// For people who look: one peer's place in a tree.
struct TreeRequest {
  std::uint32_t nonce = 0;
  Id group = {};
  PeerRef origin = {};  // routed to the root first, then asked of each child directly
};
struct TreeReply {
  std::uint32_t nonce = 0;
  Id group = {};
  bool in_tree = false;
  bool root = false;
  bool member = false;
  Peers root_path = {};
  Peers children = {};
  bool more_children = false;       // than one list may hold
  std::uint32_t round_trip_us = 0;  // to its parent; 0: not measured
  Position position = {};           // ordered: up to here the peer has everything
};

// The sender is to be relieved of the receiver, its child, which looks for the
// best parent among the candidates: its siblings (bottleneck remover), or its
// parent's parent (path collapse).
struct Relocation {
  Id group = {};
  std::uint32_t entries = 0;  // a candidate with fewer children entries takes the child
  Peers candidates = {};
  std::vector<std::uint32_t> round_trips_us = {};  // of each to the sender; 0: not known
};

}  // namespace canopy::wire
