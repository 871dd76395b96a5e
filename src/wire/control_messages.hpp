// What a daemon and its command line say to each other over the control socket.
//
// The client sends Requests, each with an id of its choice; the daemon sends
// Answers that carry it. All requests but Join get one answer, which may come
// in several parts (lists longer than a page, long texts, replies). A Join is answered by Joined
// and then by events until Cancel, Detached or a Failure ends it. Closing the connection ends
// everything that was started through it. Flow control is the socket's: a client that does not read
// is sent nothing more, and one that asks too much at once is not read. Plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <canopy/bridge_counts.hpp>

#include "base/id.hpp"
#include "wire/content.hpp"
#include "wire/frame.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::wire::control {

// Requests have ids from 1 on; a Failure of the request 0 is about the connection,
// which then closes.

// --- Requests ---

struct GetVersion {};
struct GetStatus {};
struct GetRing {};
struct GetGroups {};
struct GetRoute {
  Id key;
  friend bool operator==(const GetRoute&, const GetRoute&) = default;
};
struct GetTree {
  GroupName group;
  std::string token = {};
  friend bool operator==(const GetTree&, const GetTree&) = default;
};
struct GetMembers {
  GroupName group;
  std::string token = {};
  friend bool operator==(const GetMembers&, const GetMembers&) = default;
};
// Who may do what in a group: see access.hpp.
struct AccessRights {
  Grant publish = {};
  Grant join = {};
  Grant manage = {};
  friend bool operator==(const AccessRights&, const AccessRights&) = default;
};
// Tokens are given as they are: the socket is its user's only, and the daemon signs.
// Without rights: everybody may publish and join, the daemon manages.
struct Create {
  GroupName group;
  GroupMode mode = GroupMode::best_effort;
  std::optional<AccessRights> access = {};
  std::string token = {};
  friend bool operator==(const Create&, const Create&) = default;
};
struct Join {
  GroupName group;
  std::string token = {};
  bool presence = false;  // Presence events, too
  bool last = false;      // the group's last message first, or NoLast
  bool accept_anycast = true;
  std::uint32_t requests = 0;  // that the client may have at once, to reply to
  friend bool operator==(const Join&, const Join&) = default;
};
struct Cancel {};  // the request of this id, which answers (once more) with Done or Failure
struct Publish {
  GroupName group;
  AckMode ack = AckMode::root;
  Content content;
  std::chrono::milliseconds members_time{};  // ack members; 0: the daemon's own
  std::string token = {};
  std::uint64_t chain = 0;  // of the client's publishes; none
  friend bool operator==(const Publish&, const Publish&) = default;
};
struct GetAccess {
  GroupName group;
  friend bool operator==(const GetAccess&, const GetAccess&) = default;
};
// Answered by Access, as GetAccess. `version`: that the rights were made from.
struct SetAccess {
  GroupName group;
  std::uint64_t version = 0;
  AccessRights access = {};
  std::string token = {};
  friend bool operator==(const SetAccess&, const SetAccess&) = default;
};
struct DeleteGroup {
  GroupName group;
  std::string token = {};
  friend bool operator==(const DeleteGroup&, const DeleteGroup&) = default;
};
// To one member: answered by Taken.
struct Anycast {
  GroupName group;
  Content content;
  std::chrono::milliseconds within{};  // 0: the daemon's own
  bool wait_for_member = false;
  std::string token = {};
  friend bool operator==(const Anycast&, const Anycast&) = default;
};
// Answered by Replied, once for each reply and once more for the end.
struct Ask {
  GroupName group;
  Content content;
  bool to_all = false;
  std::uint32_t replies = 0;           // complete after so many; 0: see RequestOptions
  std::chrono::milliseconds within{};  // 0: the daemon's own
  std::string token = {};
  friend bool operator==(const Ask&, const Ask&) = default;
};
// To a Message that wants one. Answered by Done when the asker has it; at once if it
// declines.
struct Reply {
  std::uint64_t join = 0;  // the id of the Join by which the request came
  MessageId request;
  bool decline = false;
  std::uint32_t status = 0;  // 0: all went well
  Content content;
  friend bool operator==(const Reply&, const Reply&) = default;
};
// An action of the daemon's queues, as AWS JSON 1.0 has it, but unsigned: whoever
// may open the socket is their owner. Answered by QueueAnswer, also if the action
// fails; by Failure if it did not get to the queues.
struct QueueCall {
  std::string action;   // "SendMessage"
  std::string account;  // whose queues; empty: those of the daemon's default account
  std::string region;   // likewise
  Buffer body;          // a JSON object: the action's parameters
  friend bool operator==(const QueueCall&, const QueueCall&) = default;
};
// A bridge from a group to a queue, which is given by its name or URL. Added:
// answered by Bridges with this one. Removed: by Done.
struct AddBridge {
  GroupName group;
  std::string queue;
  friend bool operator==(const AddBridge&, const AddBridge&) = default;
};
struct RemoveBridge {
  GroupName group;
  std::string queue;
  friend bool operator==(const RemoveBridge&, const RemoveBridge&) = default;
};
struct GetBridges {};
struct Shutdown {};  // Done when it has begun; the connection closes when it is over

// monostate: a request that this version does not know; answered by Failure.
// Special members are compiled once, as those of wire::Message.
struct Request
    : std::variant<std::monostate, GetVersion, GetStatus, GetRing, GetGroups, GetRoute, GetTree,
                   Create, Join, Cancel, Publish, Shutdown, QueueCall, AddBridge, RemoveBridge,
                   GetBridges, GetAccess, SetAccess, DeleteGroup, GetMembers, Anycast, Ask, Reply> {
  using variant::variant;
  Request();
  Request(const Request&);
  Request(Request&&) noexcept;
  Request& operator=(const Request&);
  Request& operator=(Request&&) noexcept;
  ~Request();
};

// --- Answers ---

struct Peer {
  Id id;
  std::string name;
  std::vector<std::string> addresses;  // HOST:PORT
  std::uint64_t incarnation = 0;
  std::string zone;
  friend bool operator==(const Peer&, const Peer&) = default;
};

// Of a Create: whether the group was there already, and its mode.
struct Done {
  bool existed = false;
  GroupMode mode = GroupMode::best_effort;
  friend bool operator==(const Done&, const Done&) = default;
};

struct Failure {
  std::uint16_t error = 0;  // canopy::errc
  std::string text;         // what is wrong and what to do
  friend bool operator==(const Failure&, const Failure&) = default;
};

struct Version {
  std::string version;
  std::uint32_t pid = 0;
  friend bool operator==(const Version&, const Version&) = default;
};

struct Counter {
  std::string name;
  std::uint64_t value = 0;
  friend bool operator==(const Counter&, const Counter&) = default;
};

struct Status {
  Peer self;
  std::string state;
  std::string version;
  std::string cluster;
  std::string cluster_uuid;
  bool founded = false;
  std::uint32_t digit_bits = 0;
  std::uint32_t leaf_set_size = 0;
  std::chrono::milliseconds uptime{};
  std::vector<Peer> leaves;
  std::uint64_t table_entries = 0;
  std::uint64_t neighbors = 0;
  std::uint64_t links = 0;
  std::uint64_t groups = 0;
  std::uint64_t subscriptions = 0;
  std::vector<Counter> counters;
  friend bool operator==(const Status&, const Status&) = default;
};

struct Ring {
  std::vector<Peer> peers;  // in id order; a part of them
  bool complete = false;
  friend bool operator==(const Ring&, const Ring&) = default;
};

struct Route {
  Id key;
  Peer self;
  std::vector<Peer> hops;  // after self, ending at the root
  friend bool operator==(const Route&, const Route&) = default;
};

struct TreeNode {
  Peer peer;
  std::optional<std::uint32_t> parent;  // index over all parts; none for the root
  bool member = false;
  bool answered = false;
  std::optional<std::uint32_t> round_trip_us;  // to its parent, where known
  bool denied = false;                         // it has answered that it may not tell
  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

struct Tree {
  GroupName group;
  Id group_id;
  std::vector<TreeNode> nodes;  // root first, then level by level; a part of them
  bool complete = false;
  GroupMode mode = GroupMode::best_effort;
  friend bool operator==(const Tree&, const Tree&) = default;
};

struct Group {
  GroupName name;
  Id id;
  bool member = false;
  bool root = false;
  bool attached = false;
  std::optional<Peer> parent;
  std::uint32_t depth = 0;  // edges from the root, as far as known
  std::uint64_t children = 0;
  std::uint64_t subscriptions = 0;
  GroupMode mode = GroupMode::best_effort;
  friend bool operator==(const Group&, const Group&) = default;
};

struct Groups {
  std::vector<Group> groups;  // in id order; a part of them
  friend bool operator==(const Groups&, const Groups&) = default;
};

struct Published {
  MessageId id;
  std::optional<Peer> root;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  // Ack members:
  std::optional<std::uint64_t> members;  // that have it, at least
  bool complete = false;
  std::vector<Peer> unreachable;       // tops of subtrees
  std::uint64_t unreachable_more = 0;  // such that are not listed
  friend bool operator==(const Published&, const Published&) = default;
};

// The member is in the tree.
struct Joined {
  GroupName group;
  Id group_id;
  GroupMode mode = GroupMode::best_effort;
  friend bool operator==(const Joined&, const Joined&) = default;
};

struct Message {
  MessageId id;
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;
  bool anycast = false;
  Content content;
  bool last = false;  // it was published before the member joined
  std::optional<std::chrono::milliseconds> reply_within{};  // of a request: time that is left
  friend bool operator==(const Message&, const Message&) = default;
};

struct Gap {
  std::uint64_t epoch = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const Gap&, const Gap&) = default;
};

struct Lost {
  std::uint64_t count = 0;
  bool on_the_way = false;  // in the tree; else for want of a quicker reader
  friend bool operator==(const Lost&, const Lost&) = default;
};

struct NoLast {};  // there was no message yet, or nobody remembers one

struct MemberName {
  Id id;
  std::string name;
  friend bool operator==(const MemberName&, const MemberName&) = default;
};

struct Presence {
  std::uint64_t members = 0;
  bool complete = false;
  std::vector<MemberName> joined;  // since the Presence before
  std::vector<MemberName> left;
  std::uint64_t more_joined = 0;
  std::uint64_t more_left = 0;
  friend bool operator==(const Presence&, const Presence&) = default;
};

struct MemberCount {
  GroupName group;
  std::uint64_t members = 0;
  bool complete = false;  // else at least so many
  friend bool operator==(const MemberCount&, const MemberCount&) = default;
};

// Nobody waits for the reply to this request, which the client has not given yet.
struct RequestEnded {
  MessageId id;
  std::uint16_t error = 0;  // canopy::errc
  std::string text;
  friend bool operator==(const RequestEnded&, const RequestEnded&) = default;
};

struct Taken {
  MessageId id;
  Peer member;
  friend bool operator==(const Taken&, const Taken&) = default;
};

// A reply, or the end of the request.
struct Replied {
  MessageId id;
  std::optional<Peer> peer;  // whose reply it is; none: the end
  std::uint32_t status = 0;
  Content content;
  // The end:
  std::optional<std::uint64_t> members;
  bool complete = false;
  std::uint64_t declined = 0;
  std::uint64_t dropped = 0;
  std::uint16_t error = 0;  // canopy::errc
  std::string text;         // of the error
  friend bool operator==(const Replied&, const Replied&) = default;
};

// What an HTTP client would get; a part of it.
struct QueueAnswer {
  std::uint32_t status = 0;  // of HTTP: from 400 on the body says what is wrong
  Buffer body;               // JSON
  friend bool operator==(const QueueAnswer&, const QueueAnswer&) = default;
};

struct Bridge {
  GroupName group;
  std::string queue;
  std::string queue_url;
  bool joined = false;
  std::string problem;
  BridgeCounts counts;
  friend bool operator==(const Bridge&, const Bridge&) = default;
};

struct Bridges {
  std::vector<Bridge> bridges;  // a part of them
  friend bool operator==(const Bridges&, const Bridges&) = default;
};

struct Access {
  GroupName group;
  Id group_id;
  GroupMode mode = GroupMode::best_effort;
  bool created = false;
  std::optional<AccessRights> access = {};  // none: everybody may everything
  std::uint64_t version = 0;
  friend bool operator==(const Access&, const Access&) = default;
};

// monostate: an answer that this version does not know; to be skipped.
struct Answer : std::variant<std::monostate, Done, Failure, Version, Status, Ring, Route, Tree,
                             Groups, Published, Joined, Message, Gap, Lost, QueueAnswer, Bridges,
                             Access, MemberCount, Presence, NoLast, Taken, Replied, RequestEnded> {
  using variant::variant;
  Answer();
  Answer(const Answer&);
  Answer(Answer&&) noexcept;
  Answer& operator=(const Answer&);
  Answer& operator=(Answer&&) noexcept;
  ~Answer();
};

// List entries in one part of an answer: with the longest names and all the
// addresses that a peer may have, they fit a frame's header.
inline constexpr std::size_t page_size = 64;
inline constexpr std::size_t bridge_page_size = 32;

// Of a call to a queue, which is one frame, and of one part of its answer.
inline constexpr std::size_t queue_call_bytes_max = default_max_frame - max_short_header;
inline constexpr std::size_t queue_part_bytes_max = std::size_t{512} << 10;

}  // namespace canopy::wire::control
