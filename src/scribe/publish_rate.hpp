// How much each publisher may publish at a root: a token bucket of messages and one
// of bytes per peer, over all groups. Each holds a second's worth, and at least one
// message of any size. Bounded; who has not published for longest is forgotten, as
// if its buckets were full again. No clock: the caller says what time it is. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <utility>

#include "base/id.hpp"
#include "base/time.hpp"

namespace canopy::scribe {

class PublishRates {
 public:
  // Per second; 0: any number.
  PublishRates(std::uint32_t messages, std::uint64_t bytes) : messages_(messages), bytes_(bytes) {}

  // Nothing to wait for: it is taken. Else how long until there is room for it.
  Duration take(const Id& publisher, std::size_t bytes, MonoTime now);

  std::size_t size() const noexcept { return buckets_.size(); }
  static constexpr std::size_t publishers_max = 4096;

 private:
  struct Bucket {
    double messages = 0;
    double bytes = 0;
    MonoTime filled{};
    std::list<Id>::iterator age;
  };
  Bucket& bucket_of(const Id& publisher, MonoTime now);

  const double messages_;
  const double bytes_;
  std::map<Id, Bucket> buckets_;
  std::list<Id> oldest_first_;
};

}  // namespace canopy::scribe
