// Names of queues as Amazon writes them: "arn:PARTITION:sqs:REGION:ACCOUNT:NAME".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "queue/actions.hpp"

namespace canopy::queue {

std::string arn_of(const QueueName& queue);

// Nothing for what is no queue's ARN.
std::optional<QueueName> parse_arn(std::string_view arn);

}  // namespace canopy::queue
