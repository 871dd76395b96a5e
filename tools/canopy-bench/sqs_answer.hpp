// The little that a load generator has to find in SQS's JSON answers. It looks
// for the names of members and does not parse: the bodies of messages are its
// own and have none of them.
#pragma once

#include <string_view>
#include <vector>

namespace canopy::tools {

// How many members there are of this name, which is given with its quotes.
unsigned count_members(std::string_view json, std::string_view name);

// The values of all members of this name that are texts, with JSON's escapes.
void find_texts(std::string_view json, std::string_view name,
                std::vector<std::string_view>& values);

}  // namespace canopy::tools
