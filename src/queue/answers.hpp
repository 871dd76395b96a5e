// What a receive answers for a message: the body, the attributes asked for, and
// the handle. Plain functions.
#pragma once

#include <string>
#include <vector>

#include "queue/actions.hpp"
#include "queue/md5.hpp"
#include "queue/standard_messages.hpp"

namespace canopy::queue {

// "All", ".*", exact names, and prefixes before ".*".
bool is_wanted(const std::vector<std::string>& names, const std::string& name);

Message answer_of(const PickedMessage& picked, bool fifo,
                  const std::vector<std::string>& system_attribute_names,
                  const std::vector<std::string>& message_attribute_names, std::string handle,
                  Md5& md5);

// 20 digits, growing.
std::string sequence_number(std::uint64_t sequence);

}  // namespace canopy::queue
