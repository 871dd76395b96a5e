// How far each publisher's messages to one group have got here. A publisher counts its
// messages, so one that comes behind a later one is known by that, however long ago
// that was.
//
// Keeps a 64-bit hash of each publisher's boot. Bounded: of very many, those that have
// been silent for longest are forgotten. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

class PublisherMarks {
 public:
  // The latest message that the publisher of this one is known by; 0 if there is none.
  std::uint64_t latest_of(const wire::MessageId& id) const;
  // Remembers at least the last `capacity` publishers.
  void note(const wire::MessageId& id, std::size_t capacity);

 private:
  using Marks = std::unordered_map<std::uint64_t, std::uint64_t>;  // looked up, never iterated

  Marks recent_;
  Marks older_;  // until the recent ones are full
};

}  // namespace canopy::scribe
