// A queue as it was created and changed, apart from its messages. Plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "queue/actions.hpp"
#include "queue/command.hpp"

namespace canopy::queue {

struct Definition {
  QueueNumber number = 0;
  QueueName name;
  Millis created = 0;
  Millis modified = 0;
  Attributes attributes;  // those that were set
  Tags tags;
  Millis scope_changed = 0;  // when DeduplicationScope was, the last time; 0: never

  bool fifo() const { return name.name.ends_with(".fifo"); }
};

std::string encode(const Definition& definition);
std::optional<Definition> decode_definition(std::string_view bytes);

}  // namespace canopy::queue
