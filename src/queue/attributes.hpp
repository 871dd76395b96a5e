// The attributes of a queue: which there are, their ranges and defaults, and the
// values that the machine works with. Plain values and functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/system/result.hpp>

#include "queue/actions.hpp"
#include "queue/limits.hpp"
#include "queue/redrive.hpp"

namespace canopy::queue {

// What the attributes of one queue say.
struct Settings {
  bool fifo = false;
  bool content_based_deduplication = false;
  bool deduplicate_by_group = false;
  Millis scope_from = 0;  // until then the other scope of deduplication holds
  Millis visibility_ms = 0;
  Millis delay_ms = 0;
  Millis retention_ms = 0;
  Millis wait_ms = 0;
  std::size_t message_bytes_max = 0;
  std::optional<RedrivePolicy> redrive;
  RedriveAllowPolicy redrive_allow;
};

// As they are shown, however they were spelt: "True" is "true", and a count of
// receives is a number.
Attributes normalised(Attributes given);

// Whether normalised attributes may be given so when a queue is created or changed; `fifo`
// is what the queue is or, by its name, will be. Their order is that of the map.
std::optional<Error> check_attributes(const Attributes& given, bool fifo, bool creating,
                                      const Limits& limits);

// From attributes that were checked.
Settings settings_of(const Attributes& set, bool fifo, const Limits& limits);

// What remains set after `changes`: an empty value takes an attribute away, and
// what excludes another one replaces it.
Attributes merged(Attributes set, const Attributes& changes);

// Between both that were given or are default; nothing if they agree.
std::optional<std::string> first_difference(const Attributes& set, const Attributes& given,
                                            bool fifo, const Limits& limits);

// Every attribute that does not count messages or tell times, with defaults.
Attributes shown_attributes(const Attributes& set, bool fifo, const Limits& limits);

// Of GetQueueAttributes, "All" as well.
bool is_attribute_name(std::string_view name);

}  // namespace canopy::queue
