// One subscription's part in a request: a reply is owed, once.
//
// The subscriber's message holds it. If that goes without a reply, the request is
// declined, so that no asker waits for a message that was dropped. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "node/mailbox.hpp"
#include "node/subscription_state.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::detail {

class OpenRequest {
 public:
  // Called through the mailbox.
  using Decline = std::function<void(const wire::MessageId& id)>;

  OpenRequest(const wire::MessageId& id, const std::shared_ptr<SubscriptionState>& subscription,
              std::shared_ptr<node::Mailbox> mailbox, Decline decline);
  ~OpenRequest() { decline(); }
  OpenRequest(const OpenRequest&) = delete;
  OpenRequest& operator=(const OpenRequest&) = delete;

  const wire::MessageId& id() const noexcept { return id_; }

  // True for the one who may reply. What became of that: kept, or as if nothing
  // had been tried.
  bool claim() noexcept { return !claimed_.exchange(true); }
  void keep() noexcept { settle(); }
  void release() noexcept { claimed_ = false; }
  void decline() noexcept;
  // It was never owed.
  void revoke() noexcept;
  bool settled() const noexcept { return settled_; }

  // The queue gives it to the subscriber.
  void hand_out() noexcept { handed_out_ = true; }
  bool over() const noexcept { return over_; }
  // Nobody waits any more: the subscriber is told if he has it.
  void end(boost::system::error_code reason);

 private:
  void settle() noexcept;

  const wire::MessageId id_;
  const std::weak_ptr<SubscriptionState> subscription_;
  const std::shared_ptr<node::Mailbox> mailbox_;
  const Decline decline_;
  std::atomic<bool> claimed_ = false;
  std::atomic<bool> settled_ = false;
  std::atomic<bool> handed_out_ = false;
  std::atomic<bool> over_ = false;
};

}  // namespace canopy::detail
