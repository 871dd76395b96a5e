// A membership in a group, pulled in batches.
//
// A Subscription is a handle: it does not keep its Node alive, may be used from
// any thread, and destroying it cancels a receive under way and ends the
// membership. Several subscriptions of one node to one group share one place in
// the tree and each get every message; the node leaves the group when the last
// one ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/system/error_code.hpp>

#include <canopy/detail/initiate.hpp>
#include <canopy/error.hpp>
#include <canopy/message.hpp>

namespace canopy {

namespace detail {
class SubscriptionState;
}

// Room that the queues of several subscriptions share, beside their own bounds.
// Thread-safe.
class QueueRoom {
 public:
  explicit QueueRoom(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

 private:
  friend class detail::SubscriptionState;
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_ = 0;
};

// The queue between the tree and the subscriber. A full one drops its oldest
// messages and tells how many by Lost. That of an ordered group drops nothing:
// what does not fit is taken later from what the node keeps of the group anyway
// (30 seconds, 16 MiB), and what has left that is a Gap. Anycasts are not dropped
// by either: they go to another member when there is no room.
struct JoinOptions {
  std::size_t queue_messages_max = 65'536;
  std::size_t queue_bytes_max = 64U << 20;  // payloads, headers and bookkeeping
  bool accept_anycast = true;               // those that want no reply may end here
  // Requests to one member that it may have at the same time, replied to neither
  // yet. 0: it does not reply, and requests to all are messages like any other.
  std::size_t requests = 0;
  // Where the group's access list asks for one. It is the node that joins: who is a
  // member already shares that with all subscriptions of the node.
  std::string token = {};
  std::shared_ptr<QueueRoom> shared_room{};
  bool presence = false;  // yields Presence
  // The group's last message comes first, marked, and then what follows it; NoLast, if
  // there was none, within some seconds. Where something is published just then,
  // that may come in its stead.
  bool last = false;
};

class Subscription {
 public:
  Subscription() noexcept = default;  // belongs to no group: receives errc::not_joined
  explicit Subscription(std::shared_ptr<detail::SubscriptionState> state) noexcept;
  Subscription(Subscription&&) noexcept = default;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription();

  // Yields what the queue holds, at most max_events (>= 1), as soon as there is
  // something.
  //
  // Completion: void(error_code, std::vector<Event>). Success comes with at
  // least one event. errc::not_joined after the last event (Detached, or
  // leave()), errc::shutting_down when the node is gone, errc::busy if a
  // receive is already under way, errc::cancelled.
  // Cancellation: total; no event is lost by it.
  // Thread-safe. The handler runs on its associated executor, by default the
  // node's, never within this call.
  template <class Token>
  auto async_receive(std::size_t max_events, Token&& token) {
    return detail::initiate<std::vector<Event>>(std::forward<Token>(token), &start_receive, state_,
                                                max_events);
  }

  // Ends the membership at once; what is queued is dropped and a receive under
  // way completes with errc::not_joined. Thread-safe.
  void leave() noexcept;

  // The group, with its creator filled in; empty for a default-constructed one.
  GroupName group() const;

  // The group's, as of the join.
  GroupMode mode() const noexcept;

  // Messages that it did not get so far because it read too slowly. Thread-safe.
  std::uint64_t lost() const noexcept;

  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  static void start_receive(const std::shared_ptr<detail::SubscriptionState>& state,
                            std::size_t max_events, detail::Completion<std::vector<Event>> done);

  std::shared_ptr<detail::SubscriptionState> state_;
};

}  // namespace canopy
