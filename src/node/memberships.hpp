// Which subscriptions of this process belong to which group: several share one
// membership of the node, which ends with the last of them.
//
// On the overlay's thread. The Scribe and the mailbox, which brings the ends of
// subscriptions in from other threads, must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/system/error_code.hpp>

#include <canopy/subscription.hpp>

#include "base/id.hpp"
#include "node/follower.hpp"
#include "node/mailbox.hpp"
#include "node/operation.hpp"
#include "node/request_book.hpp"
#include "scribe/scribe.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::node {

class Memberships {
 public:
  using Join = Operation<Subscription>;

  struct Limits {
    std::size_t subscriptions_max = 100'000;  // of this node
    std::size_t groups_max = 100'000;
    std::size_t payload_bytes_max = 0;
  };

  Memberships(scribe::Scribe& scribe, std::shared_ptr<Mailbox> mailbox,
              boost::asio::any_io_executor executor, const Limits& limits);

  // The creator is filled in. Becomes a member if this node is none yet.
  void join(const wire::GroupName& name, const JoinOptions& options, std::shared_ptr<Join> join);

  // --- From the tree ---
  // So many subscriptions owe a reply, if it asks for any.
  std::size_t multicast(const wire::Multicast& message);
  void gap(const Id& group, const scribe::Missed& missed);
  void lost(const Id& group, std::uint64_t count);
  void presence(const Id& group, const Presence& presence);
  bool anycast(const wire::Anycast& message);
  // Nobody waits for what is still to be replied to it.
  void request_over(const wire::MessageId& id, boost::system::error_code reason);
  // A subscription has replied.
  void request_settled(const wire::MessageId& id) { requests_.settled(id); }
  void detached(const Id& group, boost::system::error_code reason);

  // The node stops: every subscription and every join under way ends.
  void end(boost::system::error_code reason);

  std::size_t subscriptions() const noexcept { return subscriptions_; }
  std::size_t subscriptions_of(const Id& group) const;
  std::uint64_t malformed() const noexcept { return malformed_; }
  // For want of room for another group or subscription.
  std::uint64_t refused() const noexcept { return refused_; }
  // Messages that subscribers were too slow for.
  std::uint64_t lost() const noexcept;

 private:
  using State = detail::SubscriptionState;
  struct Waiting {
    JoinOptions options;
    std::shared_ptr<Join> join;
  };
  struct Group {
    wire::GroupName name;
    bool joined = false;
    std::vector<Follower> subscriptions;
    std::vector<Waiting> waiting;  // for the tree
    std::size_t next_anycast = 0;  // whose turn it is to be offered one
    std::string token;             // that the join under way shows
  };

  void start_join(const Id& id, Group& group);
  void joined(const Id& id, boost::system::error_code error);
  bool try_other_token(const Id& id, Group& group);
  void subscribe(const Id& id, Group& group, const Waiting& waiting);
  void begin_presence(const Id& id, State& subscription);
  void begin_last(const Id& id, Follower& follower);
  void last(const Id& id, const std::shared_ptr<State>& subscription,
            boost::system::error_code error, const std::optional<wire::Multicast>& found);
  void ended(const Id& id, const std::shared_ptr<State>& subscription);
  void drained(const Id& id, const std::shared_ptr<State>& subscription);
  static std::vector<Follower>::iterator find(Group& group,
                                              const std::shared_ptr<State>& subscription);
  Follower::Translate translation(const Group& group);
  void leave_if_unused(const Id& id);
  void end_group(Group& group, boost::system::error_code reason);
  bool to_message(const Group& group, const wire::MessageId& id, const Buffer& body,
                  Message& message);
  bool to_message(const Group& group, const wire::Multicast& multicast, Message& message);
  bool give(Follower& follower, const wire::Anycast& anycast, Message& message);

  scribe::Scribe& scribe_;
  std::shared_ptr<Mailbox> mailbox_;
  boost::asio::any_io_executor executor_;
  Limits limits_;
  RequestBook requests_;
  std::map<Id, Group> groups_;
  std::size_t subscriptions_ = 0;
  std::size_t waiting_ = 0;  // joins, of all groups; cancelled ones stay until the tree answers
  std::uint64_t malformed_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t lost_before_ = 0;  // by subscriptions that are over
};

}  // namespace canopy::node
