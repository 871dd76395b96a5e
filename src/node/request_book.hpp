// The requests that subscriptions of this node have, so that each learns when
// nobody waits for its reply any more. On the overlay's thread, but for what it
// hands out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <boost/system/error_code.hpp>

#include <canopy/message.hpp>

#include "node/mailbox.hpp"
#include "node/open_request.hpp"

namespace canopy::node {

class RequestBook {
 public:
  using State = detail::SubscriptionState;

  // `decline` is called on the overlay's thread.
  RequestBook(std::shared_ptr<Mailbox> mailbox, detail::OpenRequest::Decline decline)
      : mailbox_(std::move(mailbox)), decline_(std::move(decline)) {}

  WantedReply issue(const wire::MessageId& id, std::uint32_t within_ms,
                    const std::shared_ptr<State>& subscription);
  // One of the subscriptions has replied or declined.
  void settled(const wire::MessageId& id);
  void over(const wire::MessageId& id, boost::system::error_code reason);

 private:
  std::shared_ptr<Mailbox> mailbox_;
  detail::OpenRequest::Decline decline_;
  std::map<wire::MessageId, std::vector<std::weak_ptr<detail::OpenRequest>>> open_;
};

}  // namespace canopy::node
