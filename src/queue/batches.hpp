// What makes the entries of a batch acceptable as a whole, with Amazon's errors.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "queue/actions.hpp"
#include "queue/limits.hpp"

namespace canopy::queue {

inline bool is_batch_entry_id(std::string_view id) {
  constexpr std::size_t size_max = 80;
  return !id.empty() && id.size() <= size_max && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

template <typename Entry>
std::optional<Error> check_batch(const std::vector<Entry>& entries, const Limits& limits) {
  if (entries.empty()) {
    return Error{ErrorCode::empty_batch_request,
                 "There should be at least one entry in the request."};
  }
  if (entries.size() > static_cast<std::size_t>(limits.batch_entries_max)) {
    return Error{ErrorCode::too_many_entries_in_batch_request,
                 fmt::format("Maximum number of entries per request are {}. You have sent {}.",
                             limits.batch_entries_max, entries.size())};
  }
  std::set<std::string_view> ids;
  for (const Entry& entry : entries) {
    if (!is_batch_entry_id(entry.id)) {
      return Error{ErrorCode::invalid_batch_entry_id,
                   "A batch entry id can only contain alphanumeric characters, hyphens and "
                   "underscores. It can be at most 80 letters long."};
    }
    if (!ids.insert(entry.id).second) {
      return Error{ErrorCode::batch_entry_ids_not_distinct,
                   fmt::format("Id {} repeated.", entry.id)};
    }
  }
  return std::nullopt;
}

}  // namespace canopy::queue
