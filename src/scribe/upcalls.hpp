// What is to be told to this node's users, kept until the protocol is at rest.
//
// Users may call back into Scribe from what they are told, so nothing is told
// from within protocol code: the host's call ends with run(). Order of telling
// is order of happening. Not thread-safe.
#pragma once

#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "scribe/order_item.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

class Events;

class Upcalls {
 public:
  using Call = std::function<void()>;

  void call(Call call) { waiting_.emplace_back(std::move(call)); }
  void multicast(const wire::Multicast& message) { waiting_.emplace_back(message); }
  void gap(const Id& group, const Missed& missed) { waiting_.emplace_back(Gap{group, missed}); }
  void lost(const Id& group, std::uint64_t count) { waiting_.emplace_back(Lost{group, count}); }

  bool empty() const noexcept { return waiting_.empty(); }

  // Tells all that waits now; what is added meanwhile waits for the next run.
  void run(Events& events);

 private:
  struct Gap {
    Id group;
    Missed missed;
  };
  struct Lost {
    Id group;
    std::uint64_t count = 0;
  };
  std::vector<std::variant<Call, wire::Multicast, Gap, Lost>> waiting_;
  bool running_ = false;
};

}  // namespace canopy::scribe
