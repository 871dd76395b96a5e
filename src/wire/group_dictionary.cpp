#include "wire/group_dictionary.hpp"

namespace canopy::wire {

SendDictionary::Use SendDictionary::use(const Id& group) {
  if (const auto it = numbers_.find(group); it != numbers_.end()) return {it->second, false};
  if (ids_.size() < group_dictionary_capacity) {
    ids_.push_back(group);
  } else {
    // The number may have passed on already, or its group been forgotten.
    const auto previous = numbers_.find(ids_[next_]);
    if (previous != numbers_.end() && previous->second == next_ + 1) numbers_.erase(previous);
    ids_[next_] = group;
  }
  const std::uint32_t number = next_ + 1;
  next_ = number % group_dictionary_capacity;
  numbers_.emplace(group, number);
  return {number, true};
}

bool ReceiveDictionary::define(std::uint32_t number, const Id& group) {
  if (number < 1 || number > group_dictionary_capacity) return false;
  if (entries_.size() < number) entries_.resize(number);
  entries_[number - 1] = {group, true};
  return true;
}

std::optional<Id> ReceiveDictionary::find(std::uint32_t number) const noexcept {
  if (number < 1 || number > entries_.size() || !entries_[number - 1].defined) return std::nullopt;
  return entries_[number - 1].group;
}

}  // namespace canopy::wire
