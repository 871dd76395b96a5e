// One subscription's way through its group.
//
// Of a best-effort group it gets what comes; a full queue makes room. Of an
// ordered group it gets what comes as long as its queue has room, and then goes
// on, as it has room again, through what the node keeps of the group anyway: a
// subscriber that reads slowly is behind, and holds no more memory than one that
// does not. What it comes too late for is told as a gap.
// On the overlay's thread, as Memberships is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "node/subscription_state.hpp"
#include "scribe/order_history.hpp"

namespace canopy::node {

class Follower {
 public:
  using State = detail::SubscriptionState;
  // A multicast as users see it; false if it makes no sense.
  using Translate = std::function<bool(const wire::Multicast& multicast, Message& message)>;

  explicit Follower(std::shared_ptr<State> subscription) : subscription_(std::move(subscription)) {}

  State& subscription() const noexcept { return *subscription_; }
  const std::shared_ptr<State>& handle() const noexcept { return subscription_; }

  // The next message of the group, as both see it; the history of an ordered one.
  void multicast(const wire::Multicast& multicast, const Message& message,
                 const scribe::OrderHistory* history, const Translate& translate);
  // The order goes on behind this gap, or it has ended: there is no history then.
  void gap(const scribe::Missed& missed, const scribe::OrderHistory* history,
           const Translate& translate);
  // The queue has room again.
  void catch_up(const scribe::OrderHistory* history, const Translate& translate);
  // What comes from now on waits for the group's last message, which is to come first.
  void await_last();
  // Here it is, as users see it; or there is none.
  void last(const std::optional<Message>& message, const scribe::OrderHistory* history,
            const Translate& translate);
  // Nobody has answered: what came is told.
  void no_last_known(const scribe::OrderHistory* history, const Translate& translate);
  // The membership ends.
  void detach(boost::system::error_code reason);

 private:
  // What came while the last message was asked for. That of an ordered group is in
  // its history.
  struct Held {
    std::vector<Message> messages;
    std::size_t bytes = 0;
  };

  bool is_over(const scribe::OrderHistory* history) const;
  void tell_rest();
  void hold(const Message& message);
  void release(const std::optional<Message>& last = {}, bool none = false);

  std::shared_ptr<State> subscription_;
  wire::Position position_;  // of an ordered group: up to here it was told everything
  bool behind_ = false;
  std::unique_ptr<Held> held_;  // while it waits
};

}  // namespace canopy::node
