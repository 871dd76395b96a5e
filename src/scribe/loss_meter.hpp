// What a member of a best-effort group does not get, to the message: by the
// numbers that the root gives to its multicasts.
//
// A number that stays missing although a later one has come is a loss, once it
// can no longer be on its way through a former parent. What the end of a root
// takes with it nobody counts; numbers of the next root begin anew. Bounded. No
// I/O. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "base/id.hpp"
#include "base/time.hpp"

namespace canopy::scribe {

// A root's numbers: `count` from 1 on, under a mark of the root's life and epoch.
std::uint64_t loss_number(const Id& root, std::uint64_t incarnation, std::uint64_t epoch,
                          std::uint64_t count) noexcept;

// The count within its root's reign.
std::uint64_t count_of(std::uint64_t number) noexcept;

class LossMeter {
 public:
  // A multicast came, perhaps a second time.
  void note(std::uint64_t number, MonoTime now);
  // How many have been missing since then or longer. They count as lost.
  std::uint64_t take_lost(MonoTime missing_since);
  // Since when the first of the missing ones is missing; never if there is none.
  MonoTime oldest() const noexcept;

 private:
  struct Stretch {
    std::uint64_t last = 0;
    MonoTime since{};
  };
  // Of one root; the one before may still send.
  struct Reign {
    std::uint64_t mark = 0;  // 0: none yet
    std::uint64_t highest = 0;
    std::map<std::uint64_t, Stretch> missing;  // by first
  };
  Reign& reign_of(std::uint64_t mark);
  void fill(Reign& reign, std::uint64_t count);
  std::uint64_t lost_of(Reign& reign, MonoTime missing_since);

  std::array<Reign, 2> reigns_;   // the latest first
  std::uint64_t lost_early_ = 0;  // for want of room to wait for them
};

}  // namespace canopy::scribe
