// The active nodes of a simulation as they come and go: who is closest to a key
// now, and who is next to whom. Global knowledge, like RingOrder's, and like
// that worked out without the protocol's code.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/id.hpp"
#include "base/random.hpp"
#include "sim/network.hpp"

namespace canopy::sim {

class LiveRing {
 public:
  void add(const Id& id, NodeIndex node);
  // Nothing happens to an id that is not there.
  void remove(const Id& id);

  bool contains(const Id& id) const { return places_.contains(id); }
  std::size_t size() const { return nodes_.size(); }
  // Of a ring that is not empty. Of two as close, the one of smaller id.
  NodeIndex closest(const Id& key) const;
  NodeIndex random(Random& random) const { return nodes_[random.below(nodes_.size())].node; }
  // So many on either side of the id, or all that there are.
  std::vector<NodeIndex> around(const Id& id, std::size_t each_side) const;

 private:
  struct Member {
    Id id;
    NodeIndex node = no_node;
  };
  using Places = std::map<Id, std::size_t>;

  Places::const_iterator after(const Id& id) const;

  std::vector<Member> nodes_;  // in no order
  Places places_;              // in nodes_, by id
};

}  // namespace canopy::sim
