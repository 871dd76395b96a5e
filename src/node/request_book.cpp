#include "node/request_book.hpp"

#include <chrono>
#include <utility>

namespace canopy::node {

WantedReply RequestBook::issue(const wire::MessageId& id, std::uint32_t within_ms,
                               const std::shared_ptr<State>& subscription) {
  auto request = std::make_shared<detail::OpenRequest>(id, subscription, mailbox_, decline_);
  open_[id].push_back(request);
  return {std::chrono::milliseconds(within_ms), std::move(request)};
}

void RequestBook::settled(const wire::MessageId& id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  std::erase_if(found->second, [](const auto& weak) {
    const auto request = weak.lock();
    return !request || request->settled();
  });
  if (found->second.empty()) open_.erase(found);
}

void RequestBook::over(const wire::MessageId& id, boost::system::error_code reason) {
  const auto ended = open_.extract(id);
  if (ended.empty()) return;
  for (const auto& weak : ended.mapped())
    if (const auto request = weak.lock()) request->end(reason);
}

}  // namespace canopy::node
