// The actions by name, in one fixed order for counters.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace canopy::gateway {

inline constexpr std::array<std::string_view, 27> action_names{
    "AddPermission",
    "CancelMessageMoveTask",
    "ChangeMessageVisibility",
    "ChangeMessageVisibilityBatch",
    "CreateQueue",
    "DeleteMessage",
    "DeleteMessageBatch",
    "DeleteQueue",
    "GetAPIStats",
    "GetCallerIdentity",
    "GetQueueAttributes",
    "GetQueueUrl",
    "HealthCheck",
    "ListDeadLetterSourceQueues",
    "ListMessageMoveTasks",
    "ListQueueTags",
    "ListQueues",
    "PeekMessage",
    "PurgeQueue",
    "ReceiveMessage",
    "RemovePermission",
    "SendMessage",
    "SendMessageBatch",
    "SetQueueAttributes",
    "StartMessageMoveTask",
    "TagQueue",
    "UntagQueue",
};

// Index in action_names.
inline std::optional<std::size_t> action_index(std::string_view name) noexcept {
  for (std::size_t i = 0; i < action_names.size(); ++i)
    if (action_names[i] == name) return i;
  return std::nullopt;
}

}  // namespace canopy::gateway
