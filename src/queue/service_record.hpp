// What the queue service as a whole remembers: numbers that were given out, the
// term, the key of receipt handles, and the last command of each origin. In the
// store with every batch. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/command.hpp"

namespace canopy::queue {

struct ServiceRecord {
  std::uint64_t queues = 0;  // numbers given out, as the next two
  std::uint64_t tasks = 0;
  std::uint64_t outbox = 0;
  std::uint64_t outbox_delivered = 0;  // everything up to there
  std::uint64_t term = 0;
  Millis time = 0;           // of the last command
  std::uint64_t key_id = 0;  // 0: no key yet
  SecretKey key{};

  // Whether this command is new; then it is the last of its origin.
  bool take(const Command& command);

  struct LastCommand {
    Origin origin;
    std::uint64_t sequence = 0;
  };
  std::vector<LastCommand> last_commands;  // least recent first
};

std::string encode(const ServiceRecord& record);
std::optional<ServiceRecord> decode_service_record(std::string_view bytes);

}  // namespace canopy::queue
