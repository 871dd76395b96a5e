#include "scribe/scribe.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "scribe/administration.hpp"
#include "scribe/anycasts.hpp"
#include "scribe/asker.hpp"
#include "scribe/bottleneck_remover.hpp"
#include "scribe/core.hpp"
#include "scribe/dissemination.hpp"
#include "scribe/last_messages.hpp"
#include "scribe/member_counts.hpp"
#include "scribe/membership.hpp"
#include "scribe/ordering.hpp"
#include "scribe/path_collapse.hpp"
#include "scribe/relocations.hpp"
#include "scribe/repair.hpp"
#include "scribe/replier.hpp"
#include "scribe/requests.hpp"
#include "scribe/roots.hpp"
#include "scribe/routed.hpp"
#include "scribe/tracking.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

using pastry::ForwardAction;

struct Scribe::Parts {
  Parts(const Config& config, pastry::Pastry& pastry, wire::Env& env, Events& events)
      : core(config, pastry, env, events),
        tracking(core, [this](const TrackedRound& round) { dissemination.report(round); }),
        tree(core, roots, ordering, tracking),
        roots(core, tree, ordering, tracking,
              [this](const wire::RoutedBody& body, bool known) { answer(body, known); }),
        ordering(core, tree, roots, tracking,
                 [this](const wire::Publish& publish, const wire::Position& position) {
                   dissemination.placed(publish, position);
                 }),
        dissemination(core, roots, tree, ordering, tracking),
        anycasts(core, replier),
        asker(core, anycasts, dissemination, replier),
        replier(core, asker),
        requests(core, roots),
        administration(core, roots),
        repair(core, tree, counts),
        counts(core),
        last(core),
        relocations(core, tree),
        remover(core),
        collapse(core) {}

  // --- Routed messages ---
  ForwardAction forward(PeerRef from, wire::Routed& message, PeerRef& next_hop);
  ForwardAction forward_join(PeerRef from, wire::Routed& message);
  void deliver(const wire::RoutedBody& body);
  void deliver_join(const wire::GroupJoin& join);
  void answer(const wire::RoutedBody& body, bool known);
  bool well_formed(const wire::Routed& message);
  std::shared_ptr<const wire::RoutedBody> aged(const wire::Routed& message);
  bool age(wire::RoutedBody& body, std::uint32_t waited_ms);
  bool outlived(const wire::Publish& publish, std::uint32_t waited_ms);
  bool age(std::uint32_t& within_ms, PeerRef origin, std::uint32_t waited_ms);

  // --- Direct ones ---
  void on(PeerRef from, wire::Publish& m);
  void on(PeerRef from, wire::Multicast& m);
  void on(PeerRef, wire::Anycast& m) { anycasts.visit(std::move(m)); }
  void on(PeerRef, const wire::TreeRequest& m) { requests.on_tree_request(m); }
  void on(PeerRef, const wire::TreeReply& m) { requests.on_tree_reply(m); }
  void on(PeerRef, const wire::GroupCreateReply& m) { requests.on_create_reply(m); }
  void on(PeerRef from, const wire::JoinAck& m) {
    tree.on_join_ack(from, m);
    relocations.on_join_ack(m.group);
    last.on_join_ack(from, m);
  }
  void on(PeerRef from, const wire::JoinRefused& m) {
    if (!relocations.on_refused(from, m)) tree.on_join_refused(from, m);
  }
  void on(PeerRef from, const wire::GroupJoin& m) {
    tree.on_direct_join(from, m);
    last.on_join(m, roots.record(m.group));
  }
  void on(PeerRef from, const wire::Relocation& m) { relocations.on_relocation(from, m); }
  void on(PeerRef from, const wire::Leave& m) { tree.on_leave(from, m); }
  void on(PeerRef from, const wire::Orphaned& m) { tree.on_orphaned(from, m); }
  void on(PeerRef from, const wire::RootPathUpdate& m) { tree.on_root_path(from, m); }
  void on(PeerRef from, const wire::TreeHeartbeat& m) { repair.on_heartbeat(from, m); }
  void on(PeerRef from, const wire::GroupSetPage& m) { repair.on_page(from, m); }
  void on(PeerRef from, const wire::PublishAck& m) { dissemination.on_publish_ack(from, m); }
  void on(PeerRef, const wire::RootAddress& m) { dissemination.on_root_address(m); }
  void on(PeerRef, const wire::AnycastReply& m) { anycasts.on_reply(m); }
  void on(PeerRef from, const wire::Reply& m) { asker.on(from, m); }
  void on(PeerRef from, const wire::RequestCheck& m) { asker.on(from, m); }
  void on(PeerRef from, const wire::ReplyAck& m) { replier.on(from, m); }
  void on(PeerRef from, const wire::RequestCancel& m) { replier.on(from, m); }
  void on(PeerRef from, const wire::RootStates& m) { roots.on_states(from, m); }
  void on(PeerRef from, const wire::RootStatesAck& m) { roots.on_states_ack(from, m); }
  void on(PeerRef from, const wire::ReplicaDigest& m) { roots.on_digest(from, m); }
  void on(PeerRef from, const wire::RootStateRequest& m) { roots.on_state_request(from, m); }
  void on(PeerRef from, const wire::RootStateReply& m) { roots.on_state_reply(from, m); }
  void on(PeerRef from, const wire::EpochStart& m) { ordering.on_item(from, m); }
  void on(PeerRef from, const wire::LostUpTo& m) { ordering.on_item(from, m); }
  void on(PeerRef from, const wire::LatestPosition& m) { ordering.on_latest(from, m); }
  void on(PeerRef from, const wire::RefillRequest& m) { ordering.on_refill_request(from, m); }
  void on(PeerRef from, const wire::AccessUpdate& m) { tree.on_access_update(from, m); }
  void on(PeerRef from, const wire::AccessClaim& m) { tree.on_access_claim(from, m); }
  void on(PeerRef, const wire::GroupChangeReply& m) { administration.on_reply(m); }
  void on(PeerRef from, const wire::MulticastAck& m) { tracking.on_ack(from, m); }
  void on(PeerRef from, const wire::AckRequest& m) { tracking.on_request(from, m); }
  void on(PeerRef from, const wire::MemberWords& m) { counts.on_words(from, m); }
  void on(PeerRef from, const wire::PresenceUpdate& m) { counts.on_presence(from, m); }
  void on(PeerRef from, const wire::LastRequest& m) { last.on_request(from, m); }
  void on(PeerRef from, const wire::LastReply& m) { last.on_reply(from, m, roots.record(m.group)); }
  template <class OfPastry>
  void on(PeerRef, const OfPastry&) {
    ++core.counters.malformed;
  }

  // What follows from this node's places in the trees as they are now.
  void watch() {
    remover.watch();
    collapse.watch();
    counts.look();
  }

  // Users are told from the next tick on what came of a call of theirs.
  void tell_later() {
    if (!core.upcalls.empty()) core.wake_at(core.now());
  }

  Core core;
  Tracking tracking;
  Tree tree;
  Roots roots;
  Ordering ordering;
  Dissemination dissemination;
  Anycasts anycasts;
  Asker asker;
  Replier replier;
  Requests requests;
  Administration administration;
  Repair repair;
  MemberCounts counts;
  LastMessages last;
  Relocations relocations;
  BottleneckRemover remover;
  PathCollapse collapse;
  MonoTime departure_deadline = never;
};

Scribe::Scribe(const Config& config, pastry::Pastry& pastry, wire::Env& env, Events& events)
    : parts_(std::make_unique<Parts>(config, pastry, env, events)) {}

Scribe::~Scribe() = default;

// --- Operations ---

void Scribe::create(const wire::GroupName& name, wire::GroupMode mode, Completion done) {
  create(name, mode, nullptr, nullptr,
         [done = std::move(done)](boost::system::error_code error, const CreateOutcome&) {
           done(error);
         });
}

void Scribe::create(const wire::GroupName& name, wire::GroupMode mode, wire::AccessRef access,
                    const TokenKey& key, CreateCompletion done) {
  parts_->requests.create(name, mode, std::move(access), key, std::move(done));
  parts_->tell_later();
}

void Scribe::join(const wire::GroupName& name, Completion done, const TokenKey& key) {
  parts_->tree.join(name, key, std::move(done));
  parts_->tell_later();
}

void Scribe::look(const wire::GroupName& name, StateCompletion done) {
  parts_->administration.look(name, std::move(done));
  parts_->tell_later();
}

void Scribe::set_access(const wire::GroupName& name, std::uint64_t expected, wire::AccessRef rights,
                        const TokenKey& key, StateCompletion done) {
  parts_->administration.set_access(name, expected, std::move(rights), key, std::move(done));
  parts_->tell_later();
}

void Scribe::remove(const wire::GroupName& name, const TokenKey& key, StateCompletion done) {
  parts_->administration.remove(name, key, std::move(done));
  parts_->tell_later();
}

void Scribe::restore(const wire::GroupState& state) { parts_->roots.restore(state); }

void Scribe::returned() { parts_->roots.returned(); }

void Scribe::written(const Id& group, std::uint64_t epoch, std::uint64_t version) {
  parts_->roots.on_written(group, epoch, version);
  parts_->tell_later();
}

void Scribe::leave(const Id& group) {
  parts_->tree.leave(group);
  parts_->tell_later();
}

void Scribe::publish(const wire::GroupName& name, wire::AckMode ack, Buffer body,
                     PublishCompletion done, const PublishTerms& terms) {
  parts_->core.pastry.look_at_clock();
  parts_->dissemination.publish(name, ack, std::move(body), std::move(done), terms);
  parts_->tell_later();
}

void Scribe::break_chain(std::uint64_t chain) { parts_->dissemination.break_chain(chain); }

wire::MessageId Scribe::anycast(const wire::GroupName& name, Buffer body, AnycastCompletion done,
                                const AnycastTerms& terms) {
  const wire::MessageId id = parts_->anycasts.start(name, std::move(body), terms, std::move(done));
  parts_->tell_later();
  return id;
}

wire::MessageId Scribe::request(const wire::GroupName& name, Buffer body, const RequestTerms& terms,
                                RequestCompletion done) {
  parts_->core.pastry.look_at_clock();
  const wire::MessageId id = parts_->asker.start(name, std::move(body), terms, std::move(done));
  parts_->tell_later();
  return id;
}

void Scribe::cancel_request(const wire::MessageId& id) {
  parts_->asker.cancel(id);
  parts_->tell_later();
}

void Scribe::expect_replies(const wire::Multicast& request, std::size_t replies) {
  parts_->replier.open(request, replies);
  parts_->tell_later();
}

void Scribe::reply(const wire::MessageId& request, std::uint32_t status, Buffer body,
                   Completion done) {
  parts_->replier.reply(request, status, std::move(body), std::move(done));
  parts_->tell_later();
}

void Scribe::decline(const wire::MessageId& request) {
  parts_->replier.decline(request);
  parts_->tell_later();
}

void Scribe::tree(const Id& group, PeerRef peer, const TokenKey& key, TreeCompletion done) {
  parts_->requests.tree(group, peer, key, std::move(done));
  parts_->tell_later();
}

void Scribe::members(const wire::GroupName& name, MemberCountCompletion done, const TokenKey& key) {
  parts_->requests.members(name, key, std::move(done));
  parts_->tell_later();
}

void Scribe::watch(const Id& group, bool wanted) {
  parts_->counts.watch(group, wanted);
  parts_->counts.look();
}

std::optional<Presence> Scribe::presence(const Id& group) const {
  return parts_->counts.shown(group);
}

void Scribe::last(const Id& group, LastCompletion done) {
  parts_->last.ask(group, std::move(done));
  parts_->tell_later();
}

void Scribe::depart() {
  Core& core = parts_->core;
  if (core.departing) return;
  core.departing = true;
  parts_->departure_deadline = core.now() + core.config.departure_timeout;
  core.wake_at(parts_->departure_deadline);
  parts_->roots.depart();
  parts_->tree.depart();
  parts_->dissemination.shut_down();
  parts_->asker.shut_down();
  parts_->replier.shut_down();
  parts_->anycasts.shut_down();
  parts_->requests.shut_down();
  parts_->administration.shut_down();
  parts_->last.shut_down();
  parts_->tell_later();
}

bool Scribe::departed() const {
  return parts_->core.departing && parts_->core.groups.empty() && !parts_->tracking.waiting();
}

// --- Input from the host ---

void Scribe::receive(PeerRef from, wire::Message message) {
  std::visit([&](auto& m) { parts_->on(from, m); }, message);
  flush();
}

void Scribe::tick() {
  Parts& parts = *parts_;
  parts.core.look_at_clock();
  parts.core.next_wake = never;
  const bool maintenance = parts.core.config.maintenance;
  if (maintenance) parts.repair.tick();
  parts.relocations.tick();
  parts.remover.tick();
  parts.collapse.tick();
  parts.tree.tick();
  parts.counts.tick();
  parts.last.tick();
  parts.roots.tick();
  parts.ordering.tick();
  parts.tracking.tick();
  parts.dissemination.tick();
  parts.anycasts.tick();
  parts.asker.tick();
  parts.replier.tick();
  parts.requests.tick();
  parts.administration.tick();
  if (parts.departure_deadline <= parts.core.now()) {
    parts.departure_deadline = never;
    parts.tree.leave_all();
    parts.tracking.give_up_all();
  }
  flush();
  parts.core.wake_at(std::min(
      {maintenance ? parts.core.neighbors.next_deadline() : never, parts.tree.next_deadline(),
       parts.roots.next_deadline(), parts.ordering.next_deadline(), parts.tracking.next_deadline(),
       parts.dissemination.next_deadline(), parts.anycasts.next_deadline(),
       parts.asker.next_deadline(), parts.replier.next_deadline(), parts.requests.next_deadline(),
       parts.administration.next_deadline(), parts.relocations.next_deadline(),
       parts.remover.next_deadline(), parts.collapse.next_deadline(), parts.counts.next_deadline(),
       parts.last.next_deadline(), parts.departure_deadline}));
}

void Scribe::unreachable(PeerRef peer) {
  parts_->dissemination.avoid(peer);
  parts_->asker.unreachable(peer);
  if (is_tree_neighbor(peer)) parts_->core.pastry.suspect(peer);
  flush();
}

void Scribe::flush() {
  parts_->core.look_at_clock();
  parts_->core.active_at = parts_->core.now();
  parts_->watch();
  parts_->roots.write_changes();
  if (parts_->core.upcalls.empty()) return;
  parts_->core.upcalls.run(parts_->core.events);
  parts_->tell_later();
}

void Scribe::parent_failed(PeerRef peer, const Id& group) {
  parts_->tree.parent_failed(group, peer);
  flush();
}

void Scribe::child_failed(PeerRef peer) {
  parts_->tree.child_lost(peer);
  flush();
}

// --- State ---

std::vector<Id> Scribe::groups() const {
  std::vector<Id> ids;
  ids.reserve(parts_->core.groups.size());
  for (const auto& [id, group] : parts_->core.groups) ids.push_back(id);
  return ids;
}

std::optional<GroupView> Scribe::view(const Id& id) const {
  const Group* group = parts_->core.find(id);
  if (!group) return std::nullopt;
  GroupView view;
  view.group = id;
  view.name = *group->name();
  view.member = group->member;
  view.root = group->serves_as_root();
  view.attached = group->in_tree();
  view.parent = group->parent();
  view.root_path = group->root_path();
  view.children = group->children.peers();
  view.ordered = group->order != nullptr;
  view.position = Ordering::position(*group);
  view.access = group->list();
  const MemberTally below = tally_of(*group, parts_->core.now());
  view.below = {below.members, below.complete == 1};
  if (const auto last = parts_->core.last.find(id)) view.last = last->stamp;
  return view;
}

const OrderHistory* Scribe::history(const Id& id) const {
  const Group* group = parts_->core.find(id);
  return group && group->order ? &group->order->stream.history() : nullptr;
}

bool Scribe::is_tree_neighbor(PeerRef peer) const { return parts_->core.neighbors.contains(peer); }

const Counters& Scribe::counters() const { return parts_->core.counters; }

void Scribe::collect_peers(std::vector<PeerRef>& in_use) const {
  const Core& core = parts_->core;
  for (const auto& [id, group] : core.groups) group.collect_peers(in_use);
  core.neighbors.collect_peers(in_use);
  parts_->roots.collect_peers(in_use);
  parts_->tracking.collect_peers(in_use);
  parts_->dissemination.collect_peers(in_use);
  parts_->anycasts.collect_peers(in_use);
  parts_->asker.collect_peers(in_use);
  parts_->replier.collect_peers(in_use);
  parts_->requests.collect_peers(in_use);
  parts_->administration.collect_peers(in_use);
  parts_->counts.collect_peers(in_use);
  parts_->last.collect_peers(in_use);
  parts_->relocations.collect_peers(in_use);
  parts_->remover.collect_peers(in_use);
}

// --- pastry::Application ---

ForwardAction Scribe::forward(PeerRef from, wire::Routed& message, PeerRef& next_hop) {
  return parts_->forward(from, message, next_hop);
}

void Scribe::deliver(PeerRef from, const wire::Routed& message) {
  if (!parts_->well_formed(message)) return;
  if (parts_->core.departing) {
    parts_->core.pastry.hand_over(from, message);
  } else if (const auto body = parts_->aged(message)) {
    parts_->deliver(*body);
  }
}

void Scribe::leaf_set_changed() { parts_->roots.ring_changed(); }

void Scribe::leaf_failed(PeerRef peer) { parts_->roots.leaf_failed(peer); }

void Scribe::peer_failed(PeerRef peer) {
  Parts& parts = *parts_;
  parts.dissemination.peer_failed(peer);
  parts.roots.peer_failed(peer);
  parts.requests.peer_failed(peer);
  parts.asker.peer_failed(peer);
  parts.replier.peer_failed(peer);
  if (parts.core.config.maintenance) {
    parts.tree.parent_lost(peer, Tree::Loss::failed, parts.core.config.heartbeat_interval / 20);
    parts.tree.child_lost(peer);
    parts.tracking.peer_failed(peer);
  }
  parts.tell_later();
}

void Scribe::measured(PeerRef peer, Duration round_trip) {
  parts_->relocations.measured(peer, round_trip);
  parts_->remover.measured(peer, round_trip);
}

void Scribe::activated() {
  parts_->tree.activated();
  parts_->roots.ring_changed();
  parts_->roots.offer_kept();
}

// `reason` is a literal, and lives as long as anybody.
void Scribe::stalled() {
  parts_->core.stalled();
  parts_->roots.doubt();
}

void Scribe::join_stalled(std::string_view reason) {
  parts_->core.upcalls.call([this, reason] { parts_->core.events.join_stalled(reason); });
}

void Scribe::superseded(PeerRef by) {
  parts_->core.upcalls.call([this, by] { parts_->core.events.superseded(by); });
}

// --- Routed messages ---

bool Scribe::Parts::well_formed(const wire::Routed& message) {
  const bool fits =
      consistent(message, core.env.peers(), core.pastry.config().id_bits, core.config.body_max);
  if (!fits) ++core.counters.malformed;
  return fits;
}

// What a message says of the time that its origin has: false if that is over.
bool Scribe::Parts::age(std::uint32_t& within_ms, PeerRef origin, std::uint32_t waited_ms) {
  if (within_ms == 0) return true;  // it says nothing
  const MonoTime came = core.now() - std::chrono::milliseconds(waited_ms);
  const std::uint32_t left = origin == core.self ? within_ms : core.left_of(within_ms, came);
  within_ms = left - std::min(left, waited_ms);
  return within_ms != 0;
}

bool Scribe::Parts::age(wire::RoutedBody& body, std::uint32_t waited_ms) {
  if (auto* publish = std::get_if<wire::Publish>(&body)) {
    // Late or not, it is published: only its publisher knows no more of it.
    age(publish->reply_within_ms, publish->origin, waited_ms);
    if (!age(publish->within_ms, publish->origin, waited_ms)) publish->within_ms = 1;
    return true;
  }
  if (auto* anycast = std::get_if<wire::Anycast>(&body)) {
    if (age(anycast->within_ms, anycast->origin, waited_ms)) return true;
    ++core.counters.anycasts_late;
    return false;
  }
  auto* create = std::get_if<wire::GroupCreate>(&body);
  auto* change = std::get_if<wire::GroupChange>(&body);
  const bool in_time = create   ? age(create->within_ms, create->origin, waited_ms)
                       : change ? age(change->within_ms, change->origin, waited_ms)
                                : true;
  if (!in_time) ++core.counters.changes_late;
  return in_time;
}

// Whether it may be from before this process was stopped, and another root have served it
// since. Whoever still waits for it sends it again. A root that serves knows better,
// unless it had to wait itself.
bool Scribe::Parts::outlived(const wire::Publish& publish, std::uint32_t waited_ms) {
  const MonoTime came = core.now() - std::chrono::milliseconds(waited_ms);
  if (publish.origin == core.self || came >= core.stale_until) return false;
  const Group* group = core.find(publish.group);
  const bool serves = group && group->serves_as_root();
  const bool long_ago = !serves && core.stale_by >= core.config.request_timeout;
  if (waited_ms == 0 && !long_ago) return false;
  ++core.counters.publishes_shed;
  return true;
}

// The same where this process was stopped meanwhile or the message had to wait. Nothing
// if its sender waits no longer, and has been told that nothing was done.
std::shared_ptr<const wire::RoutedBody> Scribe::Parts::aged(const wire::Routed& message) {
  core.look_at_clock();
  if (message.waited_ms == 0 && core.now() >= core.stale_until) return message.body;
  const auto* publish = std::get_if<wire::Publish>(message.body.get());
  if (publish && outlived(*publish, message.waited_ms)) return nullptr;
  auto older = std::make_shared<wire::RoutedBody>(*message.body);
  return age(*older, message.waited_ms) ? older : nullptr;
}

ForwardAction Scribe::Parts::forward(PeerRef from, wire::Routed& message, PeerRef&) {
  if (std::holds_alternative<wire::OpaqueBody>(*message.body)) return ForwardAction::proceed;
  if (!well_formed(message)) return ForwardAction::stop;
  if (std::holds_alternative<wire::GroupJoin>(*message.body)) {
    return forward_join(from, message);
  }
  message.body = aged(message);
  if (!message.body) return ForwardAction::stop;
  message.waited_ms = 0;
  if (core.departing) return ForwardAction::proceed;  // others serve it
  const auto* anycast = std::get_if<wire::Anycast>(message.body.get());
  const Group* group = core.find(message.key);
  if (!group) return ForwardAction::proceed;
  if (group->standing() == Standing::root) {
    // Closer peers there may be, but none that has taken the group over.
    answer(*message.body, true);
    return ForwardAction::stop;
  }
  if (anycast && group->in_tree()) {
    anycasts.visit(*anycast);
    return ForwardAction::stop;
  }
  return ForwardAction::proceed;
}

ForwardAction Scribe::Parts::forward_join(PeerRef from, wire::Routed& message) {
  const auto& join = std::get<wire::GroupJoin>(*message.body);
  if (join.child == core.self) {
    // What has come back from a random first hop goes on by the usual way.
    return from && !join.straight ? ForwardAction::stop : ForwardAction::proceed;
  }
  ++core.counters.joins_received;
  // Whoever is on the way into the ring or out of it takes no children.
  if (core.departing || !core.pastry.active()) return ForwardAction::proceed;
  const Group* group = core.find(join.group);
  if (join.straight && (!group || !group->in_tree())) return ForwardAction::proceed;
  if (tree.on_join(join, true) != Tree::Outcome::handled) return ForwardAction::proceed;
  last.on_join(join, roots.record(join.group));
  return ForwardAction::stop;
}

void Scribe::Parts::deliver(const wire::RoutedBody& body) {
  if (const auto* join = std::get_if<wire::GroupJoin>(&body)) return deliver_join(*join);
  if (roots.serve_or_hold(*group_of(body), body)) answer(body, true);
}

void Scribe::Parts::deliver_join(const wire::GroupJoin& join) {
  if (join.child == core.self) {
    const Group* group = core.find(join.group);
    if (group && group->standing() == Standing::joining) roots.become_root_of(join.group);
    return;
  }
  ++core.counters.joins_received;
  roots.prepare_for_join(join.group);
  tree.on_join(join, false);
  last.on_join(join, roots.record(join.group));
}

// As the group's root, which serves it (`known`) or has found that nobody does.
void Scribe::Parts::answer(const wire::RoutedBody& body, bool known) {
  if (const auto* publish = std::get_if<wire::Publish>(&body)) {
    if (known) {
      dissemination.serve(*publish, Dissemination::Way::routed);
    } else {
      dissemination.refuse_unknown(*publish);
    }
  } else if (const auto* anycast = std::get_if<wire::Anycast>(&body)) {
    if (known) {
      anycasts.visit(*anycast);
    } else {
      anycasts.refuse_unknown(*anycast);
    }
  } else if (const auto* create = std::get_if<wire::GroupCreate>(&body)) {
    requests.on_create(*create);
  } else if (const auto* request = std::get_if<wire::TreeRequest>(&body)) {
    requests.on_tree_request(*request);
  } else if (const auto* change = std::get_if<wire::GroupChange>(&body)) {
    administration.on_change(*change);
  }
}

// --- Direct messages ---

void Scribe::Parts::on(PeerRef from, wire::Publish& message) {
  message.reply_within_ms = core.left_of(message.reply_within_ms);
  if (!dissemination.acceptable(message.body)) {
    ++core.counters.limits_met;
  } else if (!outlived(message, 0)) {
    dissemination.on_direct_publish(from, message);
  }
}

void Scribe::Parts::on(PeerRef from, wire::Multicast& message) {
  message.asking.within_ms = core.left_of(message.asking.within_ms);
  if (message.tracking.within_ms != 0) {
    message.tracking.within_ms =
        time_below(core.config, message.tracking.within_ms, core.round_trip_to(from));
  }
  if (!dissemination.acceptable(message.body)) {
    ++core.counters.limits_met;
  } else {
    dissemination.on_multicast(from, message);
  }
}

}  // namespace canopy::scribe
