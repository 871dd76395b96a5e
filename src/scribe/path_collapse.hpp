// Scribe's path collapse (JSAC 2002, section 4.5): a node that is no member of a
// group and forwards for one child alone takes itself out of the path. It tells
// the child to move below its own parent (relocations.hpp), and leaves the tree
// when the child has left it.
//
// A node that has just got into a tree waits, since more children may come. One
// that gets in again and again, by JOINs that come by, waits twice as long each
// time; so does one whose child does not move.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <map>
#include <vector>

#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"

namespace canopy::scribe {

class PathCollapse {
 public:
  explicit PathCollapse(Core& core) : core_(core) {}

  // The protocol is at rest: looks at the groups whose place in the tree has
  // changed. Cheap.
  void watch();
  void tick();
  MonoTime next_deadline() const { return due_.next(); }

 private:
  struct Memory {
    unsigned times = 0;  // that the child was told to move
    MonoTime until{};
  };

  bool superfluous(const Id& id) const;
  void schedule(const Id& id);
  void collapse(const Id& id);
  void remember(const Id& id);

  Core& core_;
  DeadlineSet<Id> due_;
  std::map<Id, Memory> memories_;
};

}  // namespace canopy::scribe
