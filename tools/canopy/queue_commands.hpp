// The commands below `canopy queue`: as those of commands.hpp.
#pragma once

#include "canopy/queue_client.hpp"

namespace canopy::tools {

int run(QueueClient& queues, const QueueList& command);
int run(QueueClient& queues, const QueueCreate& command);
int run(QueueClient& queues, const QueueSend& command);
int run(QueueClient& queues, const QueueReceive& command);
int run(QueueClient& queues, const QueuePeek& command);
int run(QueueClient& queues, const QueueDelete& command);
int run(QueueClient& queues, const QueuePurge& command);
int run(QueueClient& queues, const QueueStats& command);
int run(QueueClient& queues, const QueueRemove& command);
int run(QueueClient& queues, const QueueCallAction& command);

// What the failed part of a batch's answer says first, if it has one.
std::optional<Failure> failure_in_batch(const QueueClient& queues,
                                        const boost::json::object& answer);

}  // namespace canopy::tools
