#include "node/tree_walk.hpp"

#include <utility>

#include <canopy/error.hpp>

#include "node/values.hpp"

namespace canopy::node {

TreeWalk::TreeWalk(scribe::Scribe& scribe, wire::Env& env, const wire::GroupName& group,
                   scribe::TokenKey key, std::size_t nodes_max, std::shared_ptr<Done> done)
    : scribe_(scribe),
      env_(env),
      group_(scribe::group_id(group, Id::bits)),
      key_(std::move(key)),
      nodes_max_(nodes_max),
      done_(std::move(done)) {
  tree_.group = to_group_name(group);
  tree_.group_id = to_key(group_);
  tree_.complete = true;
}

void TreeWalk::start(PeerRef root) {
  add(root, 0);
  ask_more();
}

bool TreeWalk::add(PeerRef peer, std::size_t parent) {
  if (tree_.nodes.size() >= nodes_max_ || !seen_.insert(env_.peers().id(peer)).second) return false;
  TreeNode node;
  node.peer = to_peer_info(env_.peers()[peer]);
  if (!tree_.nodes.empty()) {
    node.parent = parent;
    tree_.nodes[parent].children.push_back(tree_.nodes.size());
  }
  tree_.nodes.push_back(std::move(node));
  peers_.push_back(peer);
  return true;
}

void TreeWalk::ask_more() {
  if (done_->claimed()) return;  // cancelled
  while (next_ < peers_.size() && asked_ < asked_max) {
    const std::size_t index = next_++;
    ++asked_;
    scribe_.tree(group_, peers_[index], key_,
                 [self = shared_from_this(), index](boost::system::error_code error,
                                                    const wire::TreeReply& reply) {
                   self->answered(index, error, reply);
                 });
  }
  if (asked_ == 0) done_->complete({}, std::move(tree_));
}

void TreeWalk::answered(std::size_t index, boost::system::error_code error,
                        const wire::TreeReply& reply) {
  --asked_;
  const bool is_root = index == 0;
  if (is_root && (error || !reply.in_tree))
    return done_->fail(error ? error : make_error_code(errc::no_such_group));
  if (error) {
    tree_.complete = false;
    tree_.nodes[index].denied = error == errc::denied;
  } else {
    TreeNode& node = tree_.nodes[index];
    node.answered = true;
    node.member = reply.member;
    if (reply.round_trip_us != 0) node.round_trip = std::chrono::microseconds(reply.round_trip_us);
    if (is_root && reply.position) tree_.mode = GroupMode::ordered;
    if (reply.more_children) tree_.complete = false;
    for (PeerRef child : reply.children)
      if (!add(child, index)) tree_.complete = false;
  }
  ask_more();
}

void TreeWalk::collect_peers(std::vector<PeerRef>& in_use) const {
  in_use.insert(in_use.end(), peers_.begin(), peers_.end());
}

}  // namespace canopy::node
