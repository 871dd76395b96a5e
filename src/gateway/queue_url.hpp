// Queues by their URLs: how callers name them, and how they are told.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "queue/actions.hpp"

namespace canopy::gateway {

// Where a request came to, and on whose behalf: what a URL leaves open.
struct Place {
  std::string region;
  queue::AccountId account;
  std::string origin;  // "http://localhost:9324", by which the caller reached us
};

// Any of the forms that AWS or a local emulator has had:
//   http://HOST/ACCOUNT/NAME, with the region in HOST if it is one of
//     sqs.REGION.*, REGION.queue.*, queue.* and *.queue.amazonaws.com
//   http://HOST/queue/REGION/ACCOUNT/NAME, http://HOST/queue/NAME
// such a path alone, or a NAME without any '/'. Nothing for any other text.
std::optional<queue::QueueName> parse_queue_url(std::string_view url, const Place& place);

std::string queue_url(const queue::QueueName& queue, const Place& place);

// The region that a host says, as of sqs.REGION.amazonaws.com.
std::string_view region_of_host(std::string_view host);

// Twelve digits.
bool is_account(std::string_view text) noexcept;

}  // namespace canopy::gateway
