// A peer of a Canopy cluster, embedded in this process.
//
//   boost::asio::io_context io;
//   canopy::Node node(io.get_executor(), {.name = "a", .join = {"10.0.0.1:7000"}});
//   node.async_start([&](boost::system::error_code error) { ... });
//   io.run();
//
// The node runs the overlay on a thread of its own. All functions are
// thread-safe. Each async_ function starts its operation on the node's thread
// through a bounded mailbox and takes any completion token (a callback,
// boost::asio::use_future, use_awaitable, deferred, ...).
//
// Completions: the handler runs on its associated executor, by default the
// executor given to the constructor, which is passed through in any case and
// therefore has to run. A handler never runs within the call that started its
// operation. An operation counts as work of both executors.
// Errors: canopy::errc (see error.hpp). Common to all: not_active before the
// node is a member of the ring, queue_full when the mailbox is full,
// shutting_down once it departs, cancelled.
// Cancellation: every operation can be cancelled through its handler's
// cancellation slot (total): it then completes with errc::cancelled at once,
// and what the other side does about it is no longer reported.
// Lifetimes: destroying the Node stops it without a goodbye (async_stop says
// it); operations under way complete with errc::shutting_down and
// subscriptions end with Detached. The executor's context must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/system/error_code.hpp>

#include <canopy/access.hpp>
#include <canopy/detail/initiate.hpp>
#include <canopy/detail/node_ref.hpp>
#include <canopy/error.hpp>
#include <canopy/inspect.hpp>
#include <canopy/message.hpp>
#include <canopy/options.hpp>
#include <canopy/publish.hpp>
#include <canopy/request.hpp>
#include <canopy/subscription.hpp>

namespace canopy {

class Gateway;

enum class Beginning : std::uint8_t {
  founds,   // a new cluster
  resumes,  // alone, for now, in the cluster that its data directory names
  joins,    // through a seed, or a peer that its data directory names
};

class Node {
 public:
  // Checks the options, locks the data directory and listens. Throws
  // StartError when that cannot be done.
  Node(boost::asio::any_io_executor executor, NodeOptions options);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Founds or joins, as the options and the data directory say; completes when
  // this node is active, a full member of the ring. Without an answer from any
  // seed it goes on trying until it is stopped, also after a cancellation.
  //
  // Completion: void(error_code). wrong_cluster, version, name_conflict: this
  // node cannot be part of that cluster; failure() tells details, and the node
  // is stopped. busy if it was started before.
  template <class Token>
  auto async_start(Token&& token) {
    return detail::initiate<>(std::forward<Token>(token), &detail::NodeRef::start, ref_);
  }

  // Departs: leaves its groups, hands over what it is the root of, says goodbye
  // and flushes its queues, within a bounded time. Further operations fail with
  // shutting_down; subscriptions end with Detached.
  //
  // Completion: void(error_code). timed_out if not everything could be flushed;
  // the node is stopped all the same. After a cancellation it goes on departing;
  // destroying the Node ends that at once.
  template <class Token>
  auto async_stop(Token&& token) {
    return detail::initiate<>(std::forward<Token>(token), &detail::NodeRef::stop, ref_);
  }

  // Completes when the node has stopped, for whatever reason, also when it had to
  // of itself: a daemon that is to end with its node waits for this.
  //
  // Completion: void(error_code). None after async_stop. What ended the start.
  // name_conflict also later: a process started since has this node's name and
  // its place in the ring, which happens to one that hung for long; failure()
  // tells details.
  template <class Token>
  auto async_wait(Token&& token) {
    return detail::initiate<>(std::forward<Token>(token), &detail::NodeRef::wait, ref_);
  }

  // Makes the group known at its root, with this mode and creator. Joining an
  // unknown group creates it, too: a best-effort one. A group keeps its mode.
  //
  // Completion: void(error_code). bad_name, name_conflict, mode_conflict,
  // timed_out.
  template <class Token>
  auto async_create(GroupName group, GroupMode mode, Token&& token) {
    return detail::initiate<>(std::forward<Token>(token), &detail::NodeRef::create, ref_,
                              std::move(group), mode);
  }

  // The same with an access list: see access.hpp. Complete when the group's root has
  // it on its disk, if it keeps a data directory, and the peers that stand in for it
  // have it too.
  //
  // Completion: void(error_code, CreateResult). The above, and denied: the root lets
  // others create groups; limit: too long a list; unconfirmed.
  template <class Token>
  auto async_create(GroupName group, CreateOptions options, Token&& token) {
    return detail::initiate<CreateResult>(std::forward<Token>(token), &detail::NodeRef::create_with,
                                          ref_, std::move(group), std::move(options));
  }

  // What the group's root knows of it.
  //
  // Completion: void(error_code, GroupDefinition). bad_name, no_such_group, timed_out.
  template <class Token>
  auto async_access(GroupName group, Token&& token) {
    return detail::initiate<GroupDefinition>(std::forward<Token>(token), &detail::NodeRef::access,
                                             ref_, std::move(group));
  }

  // Replaces the access list, if it still is the one of this version (that of
  // async_access). Members that lose the right to join are detached with denied.
  // `secret`: a token that gives the right to manage; empty: this node has it.
  //
  // Completion: void(error_code, GroupDefinition), as it is now. bad_name,
  // no_such_group (also one that nobody has created), denied, conflict, limit,
  // unconfirmed (done, but not all who are to keep it have said so), timed_out: nobody
  // has answered within 10 s (Profile::wan: 30 s), and it may have been done, or not.
  template <class Token>
  auto async_set_access(GroupName group, std::uint64_t version, AccessList access,
                        std::string secret, Token&& token) {
    return detail::initiate<GroupDefinition>(std::forward<Token>(token),
                                             &detail::NodeRef::set_access, ref_, std::move(group),
                                             version, std::move(access), std::move(secret));
  }

  // Deletes a group that was created: its members are detached with no_such_group, and
  // nobody can join it until it is created anew (or a week has passed).
  //
  // Completion: void(error_code). As async_set_access.
  template <class Token>
  auto async_delete_group(GroupName group, std::string secret, Token&& token) {
    return detail::initiate<>(std::forward<Token>(token), &detail::NodeRef::delete_group, ref_,
                              std::move(group), std::move(secret));
  }

  // Becomes a member. Complete when this node is in the tree: what anybody
  // publishes from then on arrives.
  //
  // Completion: void(error_code, Subscription). bad_name, name_conflict, limit,
  // denied (by the group's access list), no_such_group (it was deleted), timed_out.
  // Cancellation gives the membership up.
  template <class Token>
  auto async_join(GroupName group, JoinOptions options, Token&& token) {
    return detail::initiate<Subscription>(std::forward<Token>(token), &detail::NodeRef::join, ref_,
                                          std::move(group), options);
  }

  // Sends a message to all members; who publishes need not be one. In an ordered
  // group a node's messages come in the order of its calls, except that one whose
  // publish has failed may come later, or never.
  //
  // Completion: void(error_code, PublishResult), see Ack for when. The result
  // holds the message's id also when the error says that it may not have
  // arrived. That members lack it is no error. bad_name, too_large,
  // no_such_group, denied, limit, lost_root, timed_out.
  // limit: too much for the root, though this node has waited for it. What it has
  // published to the group since is refused along with it, unless the root has it
  // already: so all can be sent again in their order, after PublishResult::retry_after.
  // What is published before that is known may overtake them, unless it is of their chain:
  // PublishOptions::chain (chain_broken).
  template <class Token>
  auto async_publish(GroupName group, Payload payload, PublishOptions options, Token&& token) {
    return detail::initiate<PublishResult>(std::forward<Token>(token), &detail::NodeRef::publish,
                                           ref_, std::move(group), std::move(payload),
                                           std::move(options));
  }

  // Sends a message to one member, the nearest in the tree that is willing: one of
  // its subscriptions accepts anycasts and has room for it. A peer's subscriptions
  // take turns.
  //
  // A search that is lost with a peer is begun again; a member does not take a
  // message twice. Two members may have it if the first one dies with it, or its
  // answer is lost and it is not found again, and so may one if this says timed_out.
  //
  // Completion: void(error_code, AnycastResult). bad_name, too_large, no_member
  // (nobody is willing, or none of the 256 nearest nodes), timed_out.
  template <class Token>
  auto async_anycast(GroupName group, Payload payload, AnycastOptions options, Token&& token) {
    return detail::initiate<AnycastResult>(std::forward<Token>(token), &detail::NodeRef::anycast,
                                           ref_, std::move(group), std::move(payload),
                                           std::move(options));
  }

  // Sends a message to one member or to all, and waits for replies. Subscribers that
  // reply (JoinOptions::requests) get it as a Message with a `request`; others get a
  // request to all as an ordinary message.
  //
  // To one member: as an anycast. If the member declines it, leaves, or is lost with
  // it, it goes to another one, which may so do again what the first has done. To
  // all: in its place in the order, in an ordered group. Each subscriber replies once.
  //
  // Completion: void(error_code, RequestResult), success when enough replies have
  // come; to all also when all members have spoken, and there was a reply. Else
  // bad_name, too_large (also the one reply, for replies_bytes_max), queue_full;
  // no_member (nobody is willing, or all have declined), lost_member, no_such_group,
  // lost_root, timed_out (at the deadline, with what has come).
  // Cancellation is told to the member that has the request. Of a request to all,
  // members learn it by their reply, or within some heartbeats.
  template <class Token>
  auto async_request(GroupName group, Payload payload, RequestOptions options, Token&& token) {
    return detail::initiate<RequestResult>(std::forward<Token>(token), &detail::NodeRef::request,
                                           ref_, std::move(group), std::move(payload),
                                           std::move(options));
  }

  // Replies to a message that one of this node's subscriptions has received.
  //
  // Completion: void(error_code), when the asker has the reply. not_awaited: nobody
  // waits for it (any more), or it was replied to before; too_large; queue_full: try
  // again; timed_out, unreachable: the asker may have it or not. A cancellation does
  // not take the reply back.
  template <class Token>
  auto async_reply(const Message& request, Payload payload, ReplyOptions options, Token&& token) {
    return detail::initiate<>(std::forward<Token>(token), &detail::NodeRef::reply, ref_,
                              request.request.value_or(WantedReply{}).handle, std::move(payload),
                              std::move(options));
  }

  // No reply will come: a request to one member goes to the next. Thread-safe.
  static void decline(const Message& request) noexcept;

  // This node itself. Completion: void(error_code, NodeStatus); works in every
  // state until the node is stopped.
  template <class Token>
  auto async_status(Token&& token) {
    return detail::initiate<NodeStatus>(std::forward<Token>(token), &detail::NodeRef::status, ref_);
  }

  // Every peer, found by asking leaf set after leaf set around the ring.
  // Completion: void(error_code, Ring). timed_out if the walk does not come
  // round.
  template <class Token>
  auto async_ring(Token&& token) {
    return detail::initiate<Ring>(std::forward<Token>(token), &detail::NodeRef::ring, ref_);
  }

  // The way that a message from here to this key takes. Completion:
  // void(error_code, Route). timed_out.
  template <class Token>
  auto async_route(Key key, Token&& token) {
    return detail::initiate<Route>(std::forward<Token>(token), &detail::NodeRef::route, ref_, key);
  }

  // The group's whole tree, read from the root down. Who may ask, and `secret`: see
  // async_member_count. Completion: void(error_code, Tree). bad_name, denied (by the root; by
  // others: TreeNode::denied), no_such_group, timed_out.
  template <class Token>
  auto async_tree(GroupName group, std::string secret, Token&& token) {
    return detail::initiate<Tree>(std::forward<Token>(token), &detail::NodeRef::tree, ref_,
                                  std::move(group), std::move(secret));
  }
  template <class Token>
  auto async_tree(GroupName group, Token&& token) {
    return async_tree(std::move(group), std::string(), std::forward<Token>(token));
  }

  // How many members the group has. Who asks need not be one, but must be allowed to join,
  // or be among those who are listed as allowed to publish or to manage. `secret`: a token
  // that gives such a right; empty: this node has one, or is a member. One message to the root,
  // which knows. Completion: void(error_code, MemberCount). bad_name, denied, no_such_group,
  // timed_out.
  template <class Token>
  auto async_member_count(GroupName group, std::string secret, Token&& token) {
    return detail::initiate<MemberCount>(std::forward<Token>(token), &detail::NodeRef::member_count,
                                         ref_, std::move(group), std::move(secret));
  }
  template <class Token>
  auto async_member_count(GroupName group, Token&& token) {
    return async_member_count(std::move(group), std::string(), std::forward<Token>(token));
  }

  // The groups in whose trees this node is, in id order. Completion:
  // void(error_code, std::vector<GroupInfo>).
  template <class Token>
  auto async_groups(Token&& token) {
    return detail::initiate<std::vector<GroupInfo>>(std::forward<Token>(token),
                                                    &detail::NodeRef::groups, ref_);
  }

  // This peer, with the port that it really listens on.
  PeerInfo self() const;

  // What ended the node, other than async_stop, in words for people.
  std::string failure() const;

  // How this node begins, as its options and its data directory say.
  Beginning beginning() const;

  boost::asio::any_io_executor get_executor() const;

 private:
  friend class Gateway;

  std::shared_ptr<detail::NodeCore> core_;
  detail::NodeRef ref_;
  boost::asio::any_io_executor executor_;
};

}  // namespace canopy
