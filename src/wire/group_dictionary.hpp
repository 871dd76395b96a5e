// Group ids interned per link and direction: the first message about a group
// carries its id together with a number, later ones the number alone.
//
// The sender hands out the numbers 1 to capacity in turn and then starts over,
// which takes them from the groups that got them longest ago. So both ends stay
// bounded and agree as long as messages are encoded in the order in which they
// are written. One pair belongs to one connection and dies with it; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/id.hpp"

namespace canopy::wire {

inline constexpr std::uint32_t group_dictionary_capacity = 1024;

class SendDictionary {
 public:
  struct Use {
    std::uint32_t number = 0;
    bool first = false;  // the id has to go along
  };
  Use use(const Id& group);

  // The message that was to define this group's number is not sent.
  void forget(const Id& group) noexcept { numbers_.erase(group); }

  std::size_t size() const noexcept { return numbers_.size(); }

 private:
  std::unordered_map<Id, std::uint32_t> numbers_;  // looked up, never iterated
  std::vector<Id> ids_;                            // by number - 1: whom it was given to last
  std::uint32_t next_ = 0;
};

class ReceiveDictionary {
 public:
  // False if there is no such number.
  bool define(std::uint32_t number, const Id& group);

  // Nothing if the number was never defined.
  std::optional<Id> find(std::uint32_t number) const noexcept;

 private:
  struct Entry {
    Id group;
    bool defined = false;
  };
  std::vector<Entry> entries_;
};

}  // namespace canopy::wire
