// Limits of the queue service. The defaults are Amazon's; the later ones are our
// own bounds on memory. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace canopy::queue {

// Milliseconds since 1970, or a span of them: what commands and the store hold.
using Millis = std::int64_t;

inline constexpr Millis second_ms = 1000;

struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t usual = 0;  // when it is not given

  bool contains(std::int64_t value) const noexcept { return value >= min && value <= max; }
};

struct Limits {
  Range maximum_message_size{1'024, 1'048'576, 1'048'576};  // bytes
  std::size_t batch_bytes_max = 1'048'576;
  std::int64_t batch_entries_max = 10;  // also of a receive
  Range visibility_timeout_s{0, 43'200, 30};
  Range delay_s{0, 900, 0};
  Range retention_s{60, 1'209'600, 345'600};
  Range wait_s{0, 20, 0};
  Range kms_reuse_s{60, 86'400, 300};
  Range receives_before_dead{1, 1'000, 10};
  std::size_t queue_name_max = 80;
  std::size_t in_flight_max = 120'000;
  std::size_t in_flight_fifo_max = 20'000;
  std::size_t message_attributes_max = 10;
  std::size_t group_id_max = 128;  // also of deduplication and attempt ids
  std::size_t attribute_name_max = 256;
  std::size_t tags_max = 50;
  std::size_t tag_key_max = 128;
  std::size_t tag_value_max = 256;
  std::size_t permission_statements_max = 20;
  std::size_t permission_actions_max = 7;
  std::size_t redrive_sources_max = 10;  // of a RedriveAllowPolicy
  std::int64_t moves_per_second_max = 500;
  std::int64_t moves_per_second_usual = 2'000;  // of a task that names no rate
  std::uint32_t list_max = 1'000;
  Millis deduplication_ms = 300 * second_ms;
  // A change of its scope takes effect this much later.
  Millis scope_change_ms = 60 * second_ms;
  Millis attempt_ms = 300 * second_ms;
  Millis purge_interval_ms = 60 * second_ms;
  // 0: a name can be used again at once.
  Millis deleted_recently_ms = 0;

  std::size_t bridges_max = 64;
  // Publishers whose multicasts a bridge remembers: the last of them, and up to as
  // many again.
  std::size_t bridge_publishers_max = 8'192;

  // Of the messages that one command moves between queues, or that pass it by the last one: a
  // record of the log holds as much.
  std::size_t move_bytes_max = 4'194'304;
  std::size_t waiters_max = 65'536;
  std::size_t queues_loaded_max = 16'384;
  std::size_t firsts_max = 10'000;         // FIFO groups whose first message is remembered
  std::size_t lanes_max = 256;             // message groups of a standard queue read at once
  std::int64_t peek_max = 1'000;           // messages of a look at a queue
  std::size_t peek_bytes_max = 8'388'608;  // it ends with the message that passes this,
  std::size_t peek_steps_max = 50'000;     // or when it has passed so many, hidden ones too
  std::size_t ready_max = 128;             // messages of a queue read ahead
  std::size_t ready_bytes_max = 128 * 1'024;
};

}  // namespace canopy::queue
