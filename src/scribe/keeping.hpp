// What Roots remembers of states that are to last: who waits for them to be kept, and
// which of them the host's disk is to be told. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/id.hpp"
#include "base/time.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

struct Keeping {
  struct Wait {
    Id group;
    PeerRef asker;  // who will be told
    Completion done;
    MonoTime deadline{};
  };
  std::vector<Wait> waits;
  std::uint64_t last_mark = 0;  // of access lists made here
  std::set<Id> changed;         // since the host was told last
  // What the host's disk has, by what it has confirmed.
  struct Version {
    std::uint64_t epoch = 0;
    std::uint64_t version = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };
  std::map<Id, Version> written;

  MonoTime next_deadline() const noexcept {
    MonoTime next = never;
    for (const Wait& wait : waits) next = wait.deadline < next ? wait.deadline : next;
    return next;
  }
};

}  // namespace canopy::scribe
