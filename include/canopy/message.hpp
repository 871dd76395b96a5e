// What a subscription yields: messages, what happened to messages that it did not
// get, and who the members are. Plain values, safe to pass between threads.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/system/error_code.hpp>

#include <canopy/key.hpp>
#include <canopy/payload.hpp>

namespace canopy {

// A group is the pair (name, creator). An empty creator stands for the
// cluster's name, so that everybody who says `prices` means one group.
struct GroupName {
  std::string name;
  std::string creator;

  // "NAME" or "NAME@CREATOR"; the last '@' divides.
  static GroupName parse(std::string_view text);

  // "NAME@CREATOR", or "NAME" when the creator is empty or `default_creator`.
  std::string to_string(std::string_view default_creator = {}) const;

  friend bool operator==(const GroupName&, const GroupName&) = default;
  friend auto operator<=>(const GroupName&, const GroupName&) = default;
};

// What a group promises its members.
enum class GroupMode : std::uint8_t {
  best_effort = 1,  // losses around repairs are possible
  ordered = 2,      // one order for all; what is missing is filled, or told as a Gap
};
const char* to_string(GroupMode mode) noexcept;

// Key-value pairs that the publisher set, in its order; keys may repeat.
using Headers = std::vector<std::pair<std::string, std::string>>;

// Names a message for ever: a retry carries the same one.
struct MessageId {
  Key publisher;
  std::uint64_t incarnation = 0;  // of the publisher; larger for a later boot
  std::uint64_t sequence = 0;     // counts the publisher's messages of that boot
  friend auto operator<=>(const MessageId&, const MessageId&) = default;
};

namespace detail {
class OpenRequest;
}

// The sender waits for this subscriber's reply: see Node::async_reply. One that
// lets go of all copies without a reply declines. Only subscribers whose JoinOptions
// say that they reply get it.
struct WantedReply {
  std::chrono::milliseconds within{0};  // that were left when the message came here
  std::shared_ptr<detail::OpenRequest> handle{};
};

// In an ordered group (epoch, position) only grows, and every member gets what is
// at a position there or not at all. A position may be passed over without a Gap
// when it holds a message that the member has had under an earlier one.
struct Message {
  GroupName group;
  MessageId id;
  std::uint64_t epoch = 0;     // of the group's order; 0 in best-effort groups
  std::uint64_t position = 0;  // within the epoch; 0 in best-effort groups
  bool anycast = false;        // only this member got it
  bool last = false;           // it was published before this member joined (JoinOptions::last)
  Headers headers;
  Payload payload;
  std::optional<WantedReply> request{};
};

// Messages that could not be got any more (ordered groups), or came so late that
// one that their publisher had sent after them was there already, where they would have
// come. `last` is 0 where the order changed its epoch and its upper end is not
// known: up to the next message any number may be missing, of this epoch and of
// others.
struct Gap {
  std::uint64_t epoch = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const Gap&, const Gap&) = default;
};

// So many messages were lost: the subscription's queue was full and dropped the
// oldest ones, which would have come where this event stands; or, in a
// best-effort group, they did not come through the tree while it was repaired,
// told within some heartbeats. The latter is exact as long as the group's root
// lives: counted from the first message after joining, or after the root before.
struct Lost {
  std::uint64_t count = 0;
  bool on_the_way = false;  // in the tree
  friend bool operator==(const Lost&, const Lost&) = default;
};

// The group has had no message yet, or nobody who was asked remembers one
// (JoinOptions::last).
struct NoLast {
  friend bool operator==(const NoLast&, const NoLast&) = default;
};

struct MemberName {
  Key id;
  std::string name;
  friend bool operator==(const MemberName&, const MemberName&) = default;
};

// Who is in the group (JoinOptions::presence): daemons, each once however many
// subscriptions it has. The first one tells the number, others what has changed
// since the one before: as many have joined and left as the numbers differ. When nothing changes
// any more the number is right within some heartbeats; who came and went is listed as far as it is
// known, each list up to 64. What is not taken in time makes one event.
struct Presence {
  std::uint64_t members = 0;
  // Else about so many: some may be counted twice or not at all, as peers of the tree
  // change their places, part of it was lost within the last minute, or has peers of an
  // earlier version.
  bool complete = false;
  std::vector<MemberName> joined;
  std::vector<MemberName> left;
  std::uint64_t more_joined = 0;  // that are not listed
  std::uint64_t more_left = 0;
  friend bool operator==(const Presence&, const Presence&) = default;
};

// The last event of a subscription: the membership is over although nobody
// left. The reason is a canopy::errc.
struct Detached {
  boost::system::error_code reason;
  friend bool operator==(const Detached&, const Detached&) = default;
};

// Nobody waits for the reply to this request any more, which the subscriber has
// had, and has not replied to: its time is up (timed_out), the asker has cancelled
// it or has enough (not_awaited), or is gone (unreachable).
struct RequestEnded {
  MessageId id;
  boost::system::error_code reason;
  friend bool operator==(const RequestEnded&, const RequestEnded&) = default;
};

using Event = std::variant<Message, Gap, Lost, Presence, NoLast, Detached, RequestEnded>;

}  // namespace canopy
