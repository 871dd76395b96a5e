// Reads the whole ring: asks the farthest clockwise leaf that is known for its
// leaf set, again and again, until the walk has come round.
//
// Peers that do not answer are passed over for the one before them. Keeps
// itself alive by the questions under way. On the overlay's thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include <canopy/inspect.hpp>

#include "node/operation.hpp"
#include "node/questions.hpp"
#include "pastry/pastry.hpp"

namespace canopy::node {

class RingWalk : public std::enable_shared_from_this<RingWalk> {
 public:
  using Done = Operation<Ring>;

  RingWalk(const pastry::Pastry& pastry, wire::Env& env, Questions& questions,
           std::size_t peers_max, std::shared_ptr<Done> done);
  void start();

  // Every peer that it still names.
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  static constexpr unsigned failures_max = 16;  // in a row

  void advance(const Id& center, const wire::Peers& leaves);
  void ask_next();
  void finish(bool complete);

  const pastry::Pastry& pastry_;
  wire::Env& env_;
  Questions& questions_;
  const std::size_t peers_max_;
  const std::shared_ptr<Done> done_;
  const Id self_;
  std::map<Id, PeerRef> seen_;
  std::vector<PeerRef> ahead_;  // clockwise candidates to ask, the farthest last
  unsigned failures_ = 0;
};

}  // namespace canopy::node
