// The queue between a group's tree and one subscriber: filled on the overlay's
// thread, emptied from any.
//
// Bounded in messages and bytes. A full queue drops its oldest messages, and
// gaps as the messages that they stand for, and tells how many in their place;
// or it refuses what is offered, and says when it has room. Anycasts are never
// dropped, as nobody else has them: they are not taken if there is no room.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/system/error_code.hpp>

#include <canopy/message.hpp>
#include <canopy/subscription.hpp>

#include "base/fifo.hpp"
#include "node/operation.hpp"

namespace canopy::detail {

class SubscriptionState {
 public:
  using Receive = node::Operation<std::vector<Event>>;

  SubscriptionState(boost::asio::any_io_executor executor, GroupName group, JoinOptions options);
  ~SubscriptionState();

  const GroupName& group() const noexcept { return group_; }
  bool accepts_anycast() const noexcept { return options_.accept_anycast; }
  bool wants_presence() const noexcept { return options_.presence; }
  bool replies() const noexcept { return options_.requests != 0; }
  // Whether it may have another request to one member.
  bool takes_request() const noexcept {
    return requests_.load(std::memory_order_relaxed) < options_.requests;
  }
  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  const boost::asio::any_io_executor& executor() const noexcept { return executor_; }

  // Set once, before the subscriber has it.
  void set_mode(GroupMode mode) noexcept { mode_ = mode; }
  GroupMode mode() const noexcept { return mode_; }

  // --- The subscriber ---
  void receive(std::size_t max_events, std::shared_ptr<Receive> operation);
  void leave();

  // --- The overlay ---
  // Called once, from any thread, when the subscriber ends it.
  void on_end(std::function<void()> ended);
  // Called when half of the queue is free after it had no room. Must not block
  // or call back.
  void on_drained(std::function<void()> drained);
  // Takes the message if there is room, or nothing else is there.
  bool offer(Message message);
  // The same of an anycast; one that is not taken stays as it is. None is once the
  // subscription is over.
  bool take(Message& message);
  bool has_room();
  // What it was too slow for.
  void miss(const Gap& gap);
  // Makes room.
  void push(Message message);
  void push(const Gap& gap);
  void push(const Lost& lost);
  void push(const NoLast& none);
  // Becomes one with that which was not taken yet.
  void push(Presence presence);
  void push(const RequestEnded& ended);
  // The last event; false if the subscription is over anyway.
  bool detach(boost::system::error_code reason);

  // Requests that it has and has not replied to.
  void request_begins() noexcept { requests_.fetch_add(1, std::memory_order_relaxed); }
  void request_ends() noexcept { requests_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  struct Queued {
    Event event;
    std::size_t bytes = 0;
    std::uint64_t number = 0;  // in the order of coming
  };
  static bool is_idle(const Event& event);
  std::size_t size() const noexcept { return queue_.size() + kept_.size(); }
  bool empty() const noexcept { return queue_.empty() && kept_.empty(); }
  bool fits(std::size_t bytes) const noexcept;
  void occupy(std::size_t bytes);
  void release(std::size_t bytes);
  bool overfull() const noexcept;
  void copy_if_it_waits(Message& message) const;
  bool deliverable();
  void enqueue(Fifo<Queued>& queue, Event event, std::size_t bytes);
  Fifo<Queued>& next_queue() noexcept;
  void hand_over();
  void shed();
  void answer(std::shared_ptr<Receive> operation, std::size_t max_events);
  std::vector<Event> take(std::size_t max_events);

  const boost::asio::any_io_executor executor_;
  const GroupName group_;
  const JoinOptions options_;
  GroupMode mode_ = GroupMode::best_effort;
  std::atomic<std::uint64_t> lost_ = 0;
  std::atomic<std::size_t> requests_ = 0;

  std::mutex mutex_;
  std::function<void()> ended_;
  std::function<void()> drained_;
  bool refused_ = false;  // has had no room since drained_ was called
  Fifo<Queued> queue_;
  Fifo<Queued> kept_;  // what is never dropped
  std::uint64_t arrivals_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t lost_here_ = 0;  // dropped in front of what is queued
  std::unique_ptr<Presence> presence_;
  bool presence_told_ = false;  // before that, the number alone
  bool over_ = false;           // nothing comes any more
  std::shared_ptr<Receive> waiting_;
  std::size_t waiting_max_ = 0;
};

}  // namespace canopy::detail
