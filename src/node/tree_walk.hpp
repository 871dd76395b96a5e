// Reads a group's whole tree: finds the root by a traced route to the group's
// id, then asks every node for its place, level by level, several at a time.
//
// A node that does not answer, or may not tell, stays in the tree as such; its
// subtree is not seen. Keeps itself alive by the questions under way. On the overlay's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

#include <canopy/inspect.hpp>

#include "node/operation.hpp"
#include "scribe/scribe.hpp"
#include "wire/env.hpp"

namespace canopy::node {

class TreeWalk : public std::enable_shared_from_this<TreeWalk> {
 public:
  using Done = Operation<Tree>;

  // `key`: of a token that lets it look; null: this node may, or is a member.
  TreeWalk(scribe::Scribe& scribe, wire::Env& env, const wire::GroupName& group,
           scribe::TokenKey key, std::size_t nodes_max, std::shared_ptr<Done> done);
  void start(PeerRef root);

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  static constexpr std::size_t asked_max = 16;  // at a time

  void ask_more();
  void answered(std::size_t index, boost::system::error_code error, const wire::TreeReply& reply);
  bool add(PeerRef peer, std::size_t parent);

  scribe::Scribe& scribe_;
  wire::Env& env_;
  const Id group_;
  const scribe::TokenKey key_;
  const std::size_t nodes_max_;
  const std::shared_ptr<Done> done_;
  Tree tree_;
  std::vector<PeerRef> peers_;  // of tree_.nodes
  std::set<Id> seen_;
  std::size_t next_ = 0;   // to be asked
  std::size_t asked_ = 0;  // whose answers are awaited
};

}  // namespace canopy::node
