// The messages of the Scribe layer, as plain structs.
//
// `body` fields hold encoded content (user headers and payload, see
// content.hpp) that no peer on the way looks into: encoded once, shared by all
// copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/id.hpp"
#include "base/peer.hpp"
#include "wire/access.hpp"
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

// The same boot of it: the sequences tell which message is later.
inline bool same_publisher(const MessageId& a, const MessageId& b) noexcept {
  return a.publisher == b.publisher && a.incarnation == b.incarnation;
}

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

// What the root knows of a group and its replicas keep. (life, epoch, version) only
// grows; the larger one wins a merge, access lists apart.
struct GroupState {
  Id group = {};
  GroupName name = {};
  GroupMode mode = GroupMode::best_effort;
  std::uint64_t epoch = 0;
  std::uint64_t version = 0;
  bool created = false;  // by a create: kept while nobody is in the tree, else forgotten
  // In a handover of an ordered group: the position that the old root ended at.
  Position closed = {};
  AccessRef access = {};
  std::uint32_t life = 0;            // odd: the group was deleted; then, created anew
  std::uint32_t deleted_for_ms = 0;  // so long that is still to be remembered

  bool deleted() const noexcept { return life % 2 == 1; }
};

// The members in a node's subtree, itself included. The default stands for a
// node that does not say: one of an earlier version.
struct Membership {
  std::uint32_t members = 0;
  // Exact, but for who comes or goes just now: every branch says so, none was lost of
  // late, and nobody is on the way from one parent to another.
  bool complete = false;
  bool itself = false;   // the node is one of them
  bool watched = false;  // it, or somebody below, wants PresenceUpdates
  friend bool operator==(const Membership&, const Membership&) = default;
};

// --- Routed to the group's id ---

// What a child says of itself. Only members need a right to be in the tree.
enum class Claim : std::uint8_t {
  none = 0,     // it is of a version that knows no access lists
  carries = 1,  // for others
  member = 2,
};

// `child` wants the receiver as its parent. Each hop that is not in the tree
// yet adopts the child and sends a JOIN of its own. Sent direct, it is for the
// receiver alone, which adopts the child if it is in the tree and has fewer
// children entries than `entries`, or refuses.
struct GroupJoin {
  Id group = {};
  GroupName name = {};  // lets the root found the group and refuse another of the same hash
  PeerRef child = {};
  std::uint32_t nonce = 0;
  std::uint32_t entries = 0;
  Position position = {};  // ordered: up to here the child has everything
  bool straight = false;   // to get out of a loop: whoever is not in the tree passes it on
  Claim claim = Claim::none;
  ProofRef proof = {};
  Position last = {};  // the stamp of the latest message that the child knows of: see LastReply
};

struct GroupCreate {
  GroupState state = {};
  PeerRef origin = {};
  std::uint32_t nonce = 0;
  ProofRef proof = {};
  std::uint32_t within_ms = 0;  // so long the origin waits; 0: it does not say
};

// A question to the group's root, or something for it to do, about what a create
// has made.
enum class ChangeKind : std::uint8_t {
  look = 1,
  set_access = 2,  // if the list is still the one with the mark `expected`
  remove = 3,      // the group
  offer = 4,       // the sender has kept this state, which the root may lack
};
struct GroupChange {
  Id group = {};
  GroupName name = {};
  PeerRef origin = {};
  std::uint32_t nonce = 0;  // 0: of an offer
  ChangeKind kind = ChangeKind::look;
  std::uint64_t expected = 0;  // 0: the group has no list
  AccessRef access = {};
  ProofRef proof = {};
  std::vector<GroupState> states = {};  // one, or none
  std::uint32_t within_ms = 0;          // so long the origin waits; 0: it does not say
  bool repeated = false;                // an earlier root may have done it
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
  std::uint32_t within_ms = 0;  // ack members: so long the publisher waits
  ProofRef proof = {};
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
  ProofRef proof = {};
  std::uint32_t within_ms = 0;  // so long the origin waits; 0: it does not say
  bool wants_reply = false;     // from the member that takes it
  Peers passed_over = {};       // members that have had it, and are not to have it again
  bool met_busy = false;        // others that do not take it now
};

// --- Direct ---

struct GroupCreateReply {
  std::uint32_t nonce = 0;
  std::uint16_t error = 0;  // canopy::errc, 0 = created (or there already)
  bool existed = false;     // it was there already
  std::uint8_t mode = 0;    // GroupMode; 0: not known
};

struct GroupChangeReply {
  std::uint32_t nonce = 0;
  Id group = {};
  std::uint16_t error = 0;              // canopy::errc, 0 = done
  std::vector<GroupState> states = {};  // the group as it is now; none if there is none
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
  AccessRef access = {};    // the group's
  Membership counted = {};  // as the JOIN had it, or a later word: so the child is counted
  Position last = {};       // the stamp of the latest message that the sender knows of
  // The group's, which the list is of; none: the sender does not say.
  std::optional<std::uint32_t> life = {};
};

// A parent's list is another one now; null: everybody may everything. Answered by an
// AccessClaim.
struct AccessUpdate {
  Id group = {};
  AccessRef access = {};
  std::optional<std::uint32_t> life = {};  // as in JoinAck
};

// What the sender, a child, is in the group, by the list with this mark (0: none).
struct AccessClaim {
  Id group = {};
  Claim claim = Claim::none;
  std::uint64_t mark = 0;
  ProofRef proof = {};
};

// Sent to a child that is in the tree already, too: it is denied from now on, or the
// group was deleted.
enum class JoinRefusal : std::uint8_t {
  loop = 1,
  name_conflict = 2,
  limit = 3,
  denied = 4,
  no_such_group = 5,
};
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
  // Best-effort: the epoch of its root, of which the later one is larger. Tells
  // which of two messages is the later one; 0: the root is of an earlier version.
  std::uint64_t reign = 0;
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
  Position latest = {};  // best-effort: if another root's later round may have been here
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
  // Where the sender is the parent: what the receiver has told it of members, and
  // was shown of them. 0: the sender does not say.
  std::uint32_t parent_words = 0;
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

// --- Members: counted up the tree, shown down to those who want it ---

// Who came and who went, as far as it is known by name.
struct MemberChanges {
  Peers joined = {};
  Peers left = {};
  std::uint32_t more_joined = 0;  // such that are not named
  std::uint32_t more_left = 0;
};

// To the parent: the members in the sender's subtree have changed.
struct MemberWord {
  Id group = {};
  Membership below = {};
  MemberChanges changes = {};  // since the word before
};
struct MemberWords {
  std::vector<MemberWord> words = {};
  bool again = false;  // the two ends differed: what the parent has shown is wanted, too
};

// From the root down, where somebody wants it.
struct PresenceUpdate {
  Id group = {};
  std::uint32_t members = 0;  // of the whole group
  bool complete = false;      // as in Membership
  MemberChanges changes = {};
};

// --- The latest message of a group, for members that have just joined ---

// To the parent; or to a child that has told of a later message than the sender has.
struct LastRequest {
  Id group = {};
};

// An answer; unasked for if a child or a former root has a later one than the
// receiver may have. A hint: there is a later one, which can be asked for.
struct LastReply {
  Id group = {};
  // Later messages have larger ones: the position in an ordered group, else the
  // root's reign and its count of messages, with the top bit set. None if that is not known.
  Position stamp = {};
  bool found = false;
  bool hint = false;
  MessageId id = {};
  std::uint64_t epoch = 0;  // these as in Multicast
  std::uint64_t sequence = 0;
  std::uint64_t reign = 0;
  Buffer body = {};
};

struct PublishAck {
  MessageId id = {};
  std::uint16_t error = 0;  // canopy::errc
  PeerRef root = {};        // for the publisher's cache
  std::uint64_t epoch = 0;  // 0 in an ordered group: its position is not known any more
  std::uint64_t sequence = 0;
  bool ordered = false;              // the group
  bool pending = false;              // ack members: the root has it; the answer follows
  Reach reach = {};                  // ack members
  std::uint32_t retry_after_ms = 0;  // errc::limit: too early; then there is room again
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
  bool searching = false;            // neither; sent now and then by a long search
  std::uint32_t retry_after_ms = 0;  // errc::limit: too early; then there is room again
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
  // For so long yet a group that the sender does not know may have a tree.
  std::uint32_t bereft_for_ms = 0;
};

// For people who look: one peer's place in a tree.
struct TreeRequest {
  std::uint32_t nonce = 0;
  Id group = {};
  PeerRef origin = {};  // routed to the root first, then asked of each child directly
  bool brief = false;   // neither ancestors nor children are wanted
  ProofRef proof = {};  // of the right to join
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
  Membership below = {};
  std::uint16_t error = 0;  // errc: nothing but that is told
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
