// Publishes of this node that a root has found to be too many, and those after
// them: a line for each group, so that they are sent in their order, a few at a
// time. One is sent when the root has said that there is room; each that gets its
// place makes room for two, as then there may be more. Only remembers whose turn it
// is. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "base/id.hpp"

namespace canopy::scribe {

class PublishLines {
 public:
  struct Refusal {
    bool ordered = false;              // the group
    std::uint32_t retry_after_ms = 0;  // as the root said last
  };

  bool any(const Id& group) const { return lines_.contains(group); }
  bool waits(const Id& group, std::uint64_t sequence) const;
  // Waits, and is the first that does.
  bool is_next(const Id& group, std::uint64_t sequence) const;
  Refusal refusal(const Id& group) const;

  // It waits, at its place in the order.
  void add(const Id& group, std::uint64_t sequence);
  void refuse(const Id& group, std::uint64_t sequence, const Refusal& refusal);

  // It is sent, but stays in the line until it leaves.
  void take_turn(const Id& group, std::uint64_t sequence);

  // It has its place, or nobody waits for that any more. Whether it was in the line.
  bool leave(const Id& group, std::uint64_t sequence);

  // The first ones that wait.
  std::vector<std::uint64_t> next(const Id& group, std::size_t count) const;

 private:
  struct Line {
    std::set<std::uint64_t> waiting;
    std::set<std::uint64_t> sent;
    Refusal refusal;
  };
  boost::container::flat_map<Id, Line> lines_;  // seldom any
};

}  // namespace canopy::scribe
