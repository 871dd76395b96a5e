// What the fuzzers of both protocols share.
#pragma once

#include <string_view>

#include "gateway/action_reader.hpp"
#include "gateway/action_table.hpp"

namespace canopy::fuzz {

inline const gateway::ReadContext read_context{
    {"us-east-1", "000000000000", "http://localhost:9324"},
    queue::QueueName{"us-east-1", "000000000000", "q"},
    10};

inline std::string_view action_of(unsigned char byte) {
  return gateway::action_names[byte % gateway::action_names.size()];
}

}  // namespace canopy::fuzz
