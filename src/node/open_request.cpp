#include "node/open_request.hpp"

#include "node/values.hpp"

namespace canopy::detail {

OpenRequest::OpenRequest(const wire::MessageId& id,
                         const std::shared_ptr<SubscriptionState>& subscription,
                         std::shared_ptr<node::Mailbox> mailbox, Decline decline)
    : id_(id),
      subscription_(subscription),
      mailbox_(std::move(mailbox)),
      decline_(std::move(decline)) {
  subscription->request_begins();
}

void OpenRequest::decline() noexcept {
  if (!claim()) return;
  settle();
  if (!over_) mailbox_->post_always([decline = decline_, id = id_] { decline(id); });
}

void OpenRequest::revoke() noexcept {
  if (claim()) settle();
}

void OpenRequest::settle() noexcept {
  if (settled_.exchange(true)) return;
  if (const auto subscription = subscription_.lock()) subscription->request_ends();
}

void OpenRequest::end(boost::system::error_code reason) {
  over_ = true;
  settle();
  const auto subscription = subscription_.lock();
  if (subscription && handed_out_ && !claimed_)
    subscription->push(RequestEnded{node::to_message_id(id_), reason});
}

}  // namespace canopy::detail
