// The overlay of a node: Pastry and Scribe with real sockets and the boot
// clock, and everything that lives on their thread beside them.
//
// One event loop's thread calls all of it, but for constructor and destructor,
// which run while the loop does not. The loop, the peer's mailbox and the
// hooks' owner must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <canopy/access.hpp>
#include <canopy/inspect.hpp>
#include <canopy/options.hpp>
#include <canopy/publish.hpp>
#include <canopy/request.hpp>
#include <canopy/subscription.hpp>

#include "base/peer.hpp"
#include "base/random.hpp"
#include "base/uuid.hpp"
#include "net/clock.hpp"
#include "net/links.hpp"
#include "net/log_limit.hpp"
#include "node/arrival.hpp"
#include "node/cluster_record.hpp"
#include "node/group_record.hpp"
#include "node/inspector.hpp"
#include "node/mailbox.hpp"
#include "node/memberships.hpp"
#include "node/operation.hpp"
#include "node/peer_record.hpp"
#include "node/timer_queue.hpp"
#include "scribe/overlay_peer.hpp"
#include "wire/env.hpp"

namespace canopy::node {

struct OverlayHooks {
  // These put something on disk, if there is a data directory, then call `kept` on the
  // overlay's thread: the cluster's UUID, definitions of groups, peers to remember.
  ClusterRecord::Keep keep_cluster;
  GroupRecord::Keep keep_groups;
  PeerRecord::Keep keep_peers;
  // The node ends of itself; why, in words for people.
  std::function<void(const std::string& text)> failed;
};

class Overlay final : private wire::Env,
                      private scribe::Events,
                      private net::LinkEvents,
                      private ArrivalHost {
 public:
  // `hello` is what the peer says of itself; its descriptor lacks addresses.
  // Listens; throws StartError.
  Overlay(boost::asio::io_context& loop, const NodeOptions& options, wire::Hello hello,
          std::shared_ptr<Mailbox> mailbox, boost::asio::any_io_executor executor,
          OverlayHooks hooks);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // What the disk had of groups, before start().
  void restore(const std::vector<wire::GroupState>& states);
  // The disk tells of an earlier life in the ring, and of peers from then; before start().
  void returned(const KnownPeers& peers);

  const PeerDescriptor& self() const { return peers_[self_]; }
  FoundingStep first_step() const noexcept { return arrival_.first(); }

  // --- The operations of the public interface ---
  void start(std::shared_ptr<Operation<>> done);
  void stop(std::shared_ptr<Operation<>> done);
  void wait(std::shared_ptr<Operation<>> done);
  void create(const GroupName& group, GroupMode mode, const std::shared_ptr<Operation<>>& done);
  void create(const GroupName& group, const CreateOptions& options,
              const std::shared_ptr<Operation<CreateResult>>& done);
  void access(const GroupName& group, const std::shared_ptr<Operation<GroupDefinition>>& done);
  void set_access(const GroupName& group, std::uint64_t version, const AccessList& access,
                  const std::string& secret,
                  const std::shared_ptr<Operation<GroupDefinition>>& done);
  void delete_group(const GroupName& group, const std::string& secret,
                    const std::shared_ptr<Operation<>>& done);
  void join(const GroupName& group, const JoinOptions& options,
            std::shared_ptr<Operation<Subscription>> done);
  void publish(const GroupName& group, const Payload& payload, const PublishOptions& options,
               const std::shared_ptr<Operation<PublishResult>>& done);
  // One of its publishes has failed before it came here.
  void break_chain(std::uint64_t chain);
  void anycast(const GroupName& group, const Payload& payload, const AnycastOptions& options,
               const std::shared_ptr<Operation<AnycastResult>>& done);
  // The request's id; zero if it cannot be sent.
  wire::MessageId request(const GroupName& group, const Payload& payload,
                          const RequestOptions& options,
                          const std::shared_ptr<Operation<RequestResult>>& done);
  void cancel_request(const wire::MessageId& id);
  void reply(const std::shared_ptr<detail::OpenRequest>& request, const Payload& payload,
             const ReplyOptions& options, const std::shared_ptr<Operation<>>& done);
  void status(const std::shared_ptr<Operation<NodeStatus>>& done);
  void ring(std::shared_ptr<Operation<Ring>> done);
  void route(const Key& key, std::shared_ptr<Operation<Route>> done);
  void tree(const GroupName& group, const std::string& secret,
            const std::shared_ptr<Operation<Tree>>& done);
  void member_count(const GroupName& group, const std::string& secret,
                    const std::shared_ptr<Operation<MemberCount>>& done);
  void groups(const std::shared_ptr<Operation<std::vector<GroupInfo>>>& done);

 private:
  static constexpr std::size_t held_joins_max = 64;

  // wire::Env
  MonoTime now() const override { return net::mono_now(); }
  Random& random() override { return random_; }
  PeerTable& peers() override { return peers_; }
  void send(PeerRef to, wire::Message message) override;
  std::size_t backlog(PeerRef to) override { return links_.queued_bytes(to); }
  void wake_at(MonoTime deadline) override;

  // scribe::Events
  void multicast(const wire::Multicast& message) override;
  void gap(const Id& group, const scribe::Missed& missed) override;
  void lost(const Id& group, std::uint64_t count) override;
  void presence(const Id& group, const scribe::Presence& presence) override;
  bool anycast(const wire::Anycast& message) override;
  void request_over(const wire::MessageId& id, boost::system::error_code reason) override;
  void detached(const Id& group, boost::system::error_code reason) override;
  void keep_state(const wire::GroupState& state) override { groups_kept_.keep(state); }
  void forget_state(const Id& group) override { groups_kept_.forget(group); }
  void root_state_lost(const wire::GroupName& group, const std::string& what) override;
  void join_stalled(std::string_view reason) override;
  void superseded(PeerRef by) override;

  // net::LinkEvents
  void received(PeerRef from, wire::Message message) override;
  void connected(PeerRef peer, const wire::Hello& hello) override;
  void disconnected(PeerRef peer, net::Disconnect reason) override;
  void unreachable(PeerRef peer, std::string_view text) override;
  void rejected(const net::Rejection& rejection) override;
  bool wanted(PeerRef peer) override;

  // ArrivalHost
  void dial_seed(const std::string& seed) override;
  void found_cluster() override;
  void resume_alone() override;
  void join_by(PeerRef contact) override;
  void give_up(boost::system::error_code error, const std::string& text) override;
  bool smaller_id_than(PeerRef peer) const override;
  bool alone() const override;
  double ring_size() const override;

  PeerRef listen(wire::Hello hello);
  void tick();
  void after_input();
  void become_active();
  void member_of(const Uuid& cluster);
  std::vector<std::string> nearest_addresses() const;
  bool hold_namesake(PeerRef from, wire::Message& message);
  bool is_replaced(const Endpoint& refuser);
  void sweep_peers();

  void departure_over(boost::system::error_code error);
  void stopped(boost::system::error_code error);

  template <class... Results>
  bool refuse(const std::shared_ptr<Operation<Results...>>& done,
              const wire::GroupName* group) const;
  wire::GroupName full_name(const GroupName& group) const;
  scribe::StateCompletion tells(const std::shared_ptr<Operation<GroupDefinition>>& done) const;
  std::vector<PeerInfo> infos(std::span<const PeerRef> peers) const;
  GroupInfo info_of(const scribe::GroupView& view) const;
  PublishResult result_of(const scribe::PublishOutcome& outcome, Ack ack) const;
  RequestResult result_of(const scribe::RequestOutcome& outcome) const;
  std::vector<Counter> counters(const net::LinkCounters& links) const;

  boost::asio::io_context& loop_;
  const NodeOptions options_;
  const scribe::OverlayConfig config_;
  const OverlayHooks hooks_;
  std::shared_ptr<Mailbox> mailbox_;

  PeerTable peers_;
  Random random_;
  TimerQueue timers_;
  net::Links links_;
  const PeerRef self_;
  scribe::OverlayPeer peer_;
  Memberships memberships_;
  Inspector inspector_;
  Arrival arrival_;
  ClusterRecord record_;
  PeerRecord peers_kept_;
  GroupRecord groups_kept_;

  NodeState state_ = NodeState::created;
  bool founded_ = false;
  MonoTime started_at_{};
  TimerQueue::Entry wake_timer_ = TimerQueue::none;
  std::shared_ptr<Operation<>> start_done_;
  std::vector<std::shared_ptr<Operation<>>> stop_done_;
  std::vector<std::shared_ptr<Operation<>>> wait_done_;
  boost::system::error_code ended_by_;  // once stopped; none: by stop()
  TimerQueue::Entry stop_timer_ = TimerQueue::none;
  struct HeldJoin {
    PeerRef from;
    wire::Message message;
  };
  std::map<PeerRef, HeldJoin> held_joins_;  // by joiner, while their names are looked into
  std::uint64_t namesakes_dropped_ = 0;     // joins that came to nothing so
  std::vector<Endpoint> refusers_;          // of this node's name, since they were linked last
  net::LogLimit refusals_;                  // what others say may be said often
  bool join_begun_ = false;
  bool flushing_ = false;  // said goodbye; the links write what is left
  std::size_t peers_after_sweep_ = 512;
};

}  // namespace canopy::node
