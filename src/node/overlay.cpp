#include "node/overlay.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "base/option_value.hpp"
#include "net/log.hpp"
#include "node/advertise.hpp"
#include "node/entropy.hpp"
#include "node/overlay_config.hpp"
#include "pastry/body_peers.hpp"
#include "pastry/self_tuning.hpp"

namespace canopy::node {
namespace {

net::LinkOptions link_options(const NodeOptions& options) {
  net::LinkOptions links;
  if (options.profile == Profile::wan) {
    links.dial.time_max = std::chrono::seconds(10);
    links.handshake_time_max = std::chrono::seconds(10);
    links.alive_check_time_max = std::chrono::seconds(3);
  }
  return links;
}

Arrival::Config arrival_config(const NodeOptions& options) {
  Arrival::Config config;
  if (options.profile == Profile::wan) config.patience = std::chrono::seconds(15);
  return config;
}

FoundingFacts founding_facts(const NodeOptions& options, const wire::Hello& hello) {
  return {!options.join.empty(), options.found, !hello.cluster.is_nil()};
}

Memberships::Limits membership_limits(const NodeOptions& options) {
  Memberships::Limits limits;
  limits.payload_bytes_max = options.payload_bytes_max;
  limits.groups_max = options.groups_joined_max;
  return limits;
}

Inspector::Limits inspector_limits(const NodeOptions& options) {
  Inspector::Limits limits;
  limits.walk_peers_max = options.walk_peers_max;
  return limits;
}

}  // namespace

Overlay::Overlay(boost::asio::io_context& loop, const NodeOptions& options, wire::Hello hello,
                 std::shared_ptr<Mailbox> mailbox, boost::asio::any_io_executor executor,
                 OverlayHooks hooks)
    : loop_(loop),
      options_(options),
      config_(overlay_config(options)),
      hooks_(std::move(hooks)),
      mailbox_(std::move(mailbox)),
      random_(system_entropy()),
      timers_(loop),
      links_(loop, peers_, *this, hello, link_options(options), random_.next()),
      self_(listen(hello)),
      peer_(config_, self_, *this, *this),
      memberships_(peer_.scribe(), mailbox_, std::move(executor), membership_limits(options)),
      inspector_(peer_, *this, inspector_limits(options)),
      arrival_(founding_facts(options, hello), options.name, options.join, arrival_config(options),
               timers_, random_.fork(), *this),
      record_(options.name, timers_, hooks_.keep_cluster),
      peers_kept_(options.name, timers_, hooks_.keep_peers, [this] { return nearest_addresses(); }),
      groups_kept_(options.name, timers_, hooks_.keep_groups,
                   [this](const wire::GroupState& state) {
                     peer_.scribe().written(state.group, state.epoch, state.version);
                     after_input();
                   }),
      started_at_(net::mono_now()) {}

Overlay::~Overlay() { memberships_.end(errc::shutting_down); }

void Overlay::restore(const std::vector<wire::GroupState>& states) {
  for (const wire::GroupState& state : states) peer_.scribe().restore(state);
}

void Overlay::returned(const KnownPeers& peers) {
  peer_.scribe().returned();
  arrival_.remember(addresses_of(peers));
  peers_kept_.restore(peers);
}

PeerRef Overlay::listen(wire::Hello hello) {
  const Endpoint listening = links_.listen(*parse_endpoint(options_.listen));
  hello.peer.addresses = advertised(options_.advertise, listening, options_.join);
  links_.set_self(hello);
  return peers_.intern(hello.peer);
}

// --- wire::Env ---

void Overlay::send(PeerRef to, wire::Message message) { links_.send(to, std::move(message)); }

void Overlay::wake_at(MonoTime deadline) {
  if (deadline >= wake_timer_.first) return;
  timers_.cancel(wake_timer_);
  wake_timer_ = deadline == never ? TimerQueue::none : timers_.at(deadline, [this] { tick(); });
}

void Overlay::tick() {
  wake_timer_ = TimerQueue::none;
  peer_.tick();
  after_input();
  sweep_peers();
}

// Peers that nobody names any more are forgotten when the table has doubled. Only from the top of
// the loop: nobody below holds a handle then.
void Overlay::sweep_peers() {
  if (peers_.size() < 2 * peers_after_sweep_) return;
  std::vector<PeerRef> in_use{self_};
  peer_.collect_peers(in_use);
  links_.collect_refs(in_use);
  inspector_.collect_peers(in_use);
  arrival_.collect_peers(in_use);
  for (const auto& [joiner, held] : held_joins_) {
    in_use.insert(in_use.end(), {joiner, held.from});
    pastry::collect_body_peers(std::get<wire::Routed>(held.message), in_use);
  }
  peers_.sweep(in_use);
  peers_after_sweep_ = std::max<std::size_t>(peers_.size(), 512);
}

// --- scribe::Events ---

void Overlay::multicast(const wire::Multicast& message) {
  const std::size_t repliers = memberships_.multicast(message);
  if (message.asking.asker) peer_.scribe().expect_replies(message, repliers);
}

void Overlay::gap(const Id& group, const scribe::Missed& missed) {
  memberships_.gap(group, missed);
}

void Overlay::lost(const Id& group, std::uint64_t count) { memberships_.lost(group, count); }

void Overlay::presence(const Id& group, const scribe::Presence& presence) {
  const auto names = [this](const wire::Peers& peers) {
    std::vector<MemberName> all;
    for (const PeerRef peer : peers) all.push_back({to_key(peers_[peer].id), peers_[peer].name});
    return all;
  };
  const wire::MemberChanges& changes = presence.changes;
  memberships_.presence(group, {presence.members, presence.complete, names(changes.joined),
                                names(changes.left), changes.more_joined, changes.more_left});
}

bool Overlay::anycast(const wire::Anycast& message) { return memberships_.anycast(message); }

void Overlay::request_over(const wire::MessageId& id, boost::system::error_code reason) {
  memberships_.request_over(id, reason);
}

void Overlay::detached(const Id& group, boost::system::error_code reason) {
  memberships_.detached(group, reason);
}

void Overlay::root_state_lost(const wire::GroupName& group, const std::string& what) {
  log::warn("{}: the group '{}' had two roots, which are one now; not kept is {}", options_.name,
            group.name, what);
}

void Overlay::join_stalled(std::string_view reason) {
  log::info("{}: cannot join the ring yet: {}", options_.name, reason);
}

void Overlay::superseded(PeerRef by) {
  const PeerDescriptor& other = peers_[by];
  give_up(errc::name_conflict,
          fmt::format("another process has this node's place in the ring: the one at {}, started "
                      "later under the name {}",
                      other.addresses.empty() ? "an unknown address"
                                              : format_endpoint(other.addresses.front()),
                      other.name));
}

// --- net::LinkEvents ---

void Overlay::received(PeerRef from, wire::Message message) {
  if (hold_namesake(from, message)) return;
  peer_.receive(from, std::move(message));
  after_input();
}

void Overlay::connected(PeerRef peer, const wire::Hello& hello) {
  for (const Endpoint& address : hello.peer.addresses) std::erase(refusers_, address);
  if (hello.cluster.is_nil()) return;
  // The first peer of the cluster that is heard of tells which cluster it is.
  if (links_.self().cluster.is_nil()) member_of(hello.cluster);
  arrival_.member_met(peer);
  peer_.pastry().met(peer);
  after_input();
}

void Overlay::disconnected(PeerRef peer, net::Disconnect reason) {
  arrival_.peer_lost(peer);
  if (reason != net::Disconnect::idle) peer_.unreachable(peer);
  after_input();
}

void Overlay::unreachable(PeerRef peer, std::string_view) {
  peer_.unreachable(peer);
  after_input();
}

void Overlay::rejected(const net::Rejection& rejection) {
  const bool duplicate = rejection.code == wire::RejectCode::duplicate_name;
  // A member of a ring does not go because somebody else claims its name: that one will. Who is
  // starting goes, and so does whom the ring has replaced.
  if (duplicate && state_ == NodeState::joining)
    return give_up(errc::name_conflict, rejection.text);
  if (duplicate && is_replaced(rejection.remote))
    return give_up(
        errc::name_conflict,
        fmt::format("another process has this node's place in the ring: {}", rejection.text));
  // Seeds are Arrival's business; what others say is for people to read.
  if (!refusals_.allow()) return;
  if (const auto left_out = refusals_.take_suppressed())
    log::warn("{}: {} more refusals were left out", options_.name, left_out);
  if (duplicate)
    log::error("{}: {}", options_.name, rejection.text);
  else
    log::debug("{}: {} refuses: {}", options_.name, format_endpoint(rejection.remote),
               rejection.text);
}

// One peer may be mistaken, or under way from one process of this name to the other: not most of
// the leaf set.
bool Overlay::is_replaced(const Endpoint& refuser) {
  if (std::find(refusers_.begin(), refusers_.end(), refuser) == refusers_.end())
    refusers_.push_back(refuser);
  const auto leaves = peer_.pastry().leaf_set().all();
  const auto refuses = [&](const Endpoint& address) {
    return std::find(refusers_.begin(), refusers_.end(), address) != refusers_.end();
  };
  const auto refusing = std::count_if(leaves.begin(), leaves.end(), [&](const pastry::Leaf& leaf) {
    return std::ranges::any_of(peers_[leaf.peer].addresses, refuses);
  });
  if (refusers_.size() > 4 * leaves.size()) refusers_.clear();  // most are no leaves any more
  return leaves.empty() || 2 * static_cast<std::size_t>(refusing) > leaves.size();
}

bool Overlay::wanted(PeerRef peer) {
  const pastry::Pastry& pastry = peer_.pastry();
  return pastry.leaf_set().contains(peer) ||
         pastry.routing_table().contains(peer, peers_.id(peer)) ||
         peer_.scribe().is_tree_neighbor(peer);
}

// A join under the name of a peer that is known at another address: that peer has moved, or two
// processes have one name. A handshake with the joiner tells, because links look into such claims.
bool Overlay::hold_namesake(PeerRef from, wire::Message& message) {
  const auto* routed = std::get_if<wire::Routed>(&message);
  if (!routed || !routed->body) return false;
  const auto* request = std::get_if<wire::JoinRequest>(routed->body.get());
  if (!request || !request->joiner || request->joiner == self_) return false;
  const PeerRef joiner = request->joiner;
  const PeerDescriptor& claimed = peers_[joiner];
  const PeerRef known =
      claimed.id == self().id ? self_ : peer_.pastry().leaf_set().find(claimed.id);
  if (!known || known == joiner || peers_[known].addresses == claimed.addresses) return false;
  if (links_.has_link(joiner) || claimed.addresses.empty()) return false;
  if (held_joins_.size() >= held_joins_max || held_joins_.contains(joiner)) {
    ++namesakes_dropped_;  // it asks again
    return true;
  }
  held_joins_.emplace(joiner, HeldJoin{from, std::move(message)});
  links_.dial_seed(claimed.addresses.front(),
                   [this, joiner](boost::system::error_code error, PeerRef, std::string_view) {
                     auto held = held_joins_.extract(joiner);
                     if (error) {
                       ++namesakes_dropped_;
                       return;
                     }
                     peer_.receive(held.mapped().from, std::move(held.mapped().message));
                     after_input();
                   });
  return true;
}

// --- ArrivalHost ---

void Overlay::dial_seed(const std::string& seed) {
  links_.dial_seed(*parse_endpoint(seed), [this, seed](boost::system::error_code error,
                                                       PeerRef peer, std::string_view text) {
    if (error) {
      arrival_.seed_failed(seed, error, text);
    } else {
      arrival_.seed_answered(seed, peer);
    }
    after_input();
  });
}

void Overlay::found_cluster() {
  const Uuid cluster = Uuid::from_random_bits(system_entropy(), system_entropy());
  founded_ = true;
  log::info("{}: founds the cluster {} ({})", options_.name, options_.cluster, cluster.to_string());
  hooks_.keep_cluster(cluster, [this, cluster](boost::system::error_code error) {
    if (error)
      return give_up(
          error, fmt::format("cannot keep the new cluster's UUID on disk: {}", error.message()));
    if (state_ != NodeState::joining) return;  // stopped meanwhile
    wire::Hello hello = links_.self();
    hello.cluster = cluster;
    links_.set_self(hello);
    arrival_.became_member();
    resume_alone();
  });
}

void Overlay::resume_alone() {
  peer_.pastry().found();
  after_input();
}

void Overlay::member_of(const Uuid& cluster) {
  wire::Hello hello = links_.self();
  hello.cluster = cluster;
  links_.set_self(hello);
  arrival_.became_member();
  log::info("{}: joins the cluster {} ({})", options_.name, options_.cluster, cluster.to_string());
  record_.store(cluster);
}

void Overlay::join_by(PeerRef contact) {
  pastry::Pastry& pastry = peer_.pastry();
  if (pastry.active()) {
    pastry.meet(contact);
  } else if (std::exchange(join_begun_, true)) {
    pastry.add_contact(contact);
  } else {
    pastry.join({contact});
  }
}

std::vector<std::string> Overlay::nearest_addresses() const {
  const pastry::LeafSet& leaves = peer_.pastry().leaf_set();
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < leaves.side_size(); ++i)
    for (const PeerRef peer : {leaves.larger(i).peer, leaves.smaller(i).peer})
      if (const auto& of_peer = peers_[peer].addresses; !of_peer.empty())
        addresses.push_back(format_endpoint(of_peer.front()));
  return addresses;
}

bool Overlay::smaller_id_than(PeerRef peer) const { return self().id < peers_.id(peer); }

bool Overlay::alone() const { return peer_.pastry().leaf_set().empty(); }

double Overlay::ring_size() const {
  return pastry::estimated_nodes(peer_.pastry().leaf_set(), self().id);
}

// --- Changes that show after an input ---

void Overlay::after_input() {
  peer_.scribe().flush();
  if (state_ == NodeState::joining && peer_.pastry().active()) become_active();
  if (state_ == NodeState::departing && peer_.departed() && !std::exchange(flushing_, true))
    links_.shutdown([this] { departure_over({}); });
}

void Overlay::become_active() {
  state_ = NodeState::active;
  arrival_.activated();
  peers_kept_.start();
  log::info(
      "{}: active in the ring after {} ms", options_.name,
      std::chrono::duration_cast<std::chrono::milliseconds>(net::mono_now() - started_at_).count());
  if (start_done_) start_done_->complete({});
  start_done_.reset();
}

// --- The end ---

void Overlay::give_up(boost::system::error_code error, const std::string& text) {
  if (state_ != NodeState::joining && state_ != NodeState::active) return;
  hooks_.failed(text);
  if (start_done_) start_done_->fail(error);
  start_done_.reset();
  arrival_.stop();
  peers_kept_.stop();
  links_.shutdown([] {});
  stopped(error);
}

void Overlay::departure_over(boost::system::error_code error) {
  timers_.cancel(stop_timer_);
  stopped({});
  for (const auto& done : std::exchange(stop_done_, {})) done->complete(error);
}

void Overlay::stopped(boost::system::error_code error) {
  state_ = NodeState::stopped;
  ended_by_ = error;
  timers_.cancel(wake_timer_);
  memberships_.end(errc::shutting_down);
  for (const auto& done : std::exchange(wait_done_, {})) done->complete(error);
}

}  // namespace canopy::node
