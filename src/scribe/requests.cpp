#include "scribe/requests.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "pastry/proximity.hpp"
#include "scribe/group_name.hpp"
#include "scribe/membership.hpp"
#include "scribe/ordering.hpp"
#include "scribe/roots.hpp"
#include "scribe/time_left.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t pending_max = 4096;
constexpr std::size_t reply_children_max = 1024;  // as the codec carries them

}  // namespace

// --- Asking ---

void Requests::create(const wire::GroupName& name, wire::GroupMode mode, wire::AccessRef access,
                      const TokenKey& key, CreateCompletion done) {
  errc error{};
  if (!valid_name(name)) error = errc::bad_name;
  if (mode == wire::GroupMode::durable) error = errc::unsupported;
  if (access && grants_of(*access) > wire::grants_max) error = errc::limit;
  if (error != errc{} || !acceptable(error)) {
    core_.upcalls.call([done = std::move(done), error] { done(error, {}); });
    return;
  }
  wire::GroupCreate message;
  message.state.group = group_id(name, core_.pastry.config().id_bits);
  message.state.name = name;
  message.state.mode = mode;
  message.state.access = std::move(access);
  message.proof = core_.access.prove(message.state.group, wire::Right::create, key);
  message.origin = core_.self;
  message.nonce = ++last_nonce_;
  ask(message.nonce, Creation{message, std::move(done)});
}

// What lets this node look: without a token, what it became a member by.
wire::ProofRef Requests::pass(const Id& group, const TokenKey& key) {
  wire::ProofRef proof = core_.access.prove(group, wire::Right::join, key);
  const Group* known = core_.find(group);
  return proof || !known ? proof : known->proof();
}

void Requests::tree(const Id& group, PeerRef peer, const TokenKey& key, TreeCompletion done) {
  look({0, group, core_.self, false, pass(group, key)}, peer, std::move(done));
}

void Requests::members(const wire::GroupName& name, const TokenKey& key,
                       MemberCountCompletion done) {
  if (!valid_name(name)) {
    return core_.upcalls.call([done = std::move(done)] { done(errc::bad_name, {}); });
  }
  const Id id = group_id(name, core_.pastry.config().id_bits);
  look({0, id, core_.self, true, pass(id, key)}, {},
       [done = std::move(done)](boost::system::error_code error, const wire::TreeReply& reply) {
         done(error, {reply.below.members, reply.below.complete});
       });
}

void Requests::look(const wire::TreeRequest& request, PeerRef peer, TreeCompletion done) {
  errc error{};
  if (!acceptable(error)) {
    core_.upcalls.call([done = std::move(done), error] { done(error, {}); });
    return;
  }
  wire::TreeRequest message = request;
  message.nonce = ++last_nonce_;
  ask(message.nonce, Look{message, peer, std::move(done)});
}

bool Requests::acceptable(errc& error) const {
  if (core_.departing) {
    error = errc::shutting_down;
  } else if (!core_.pastry.active()) {
    error = errc::not_active;
  } else if (pending_.size() >= pending_max) {
    error = errc::queue_full;
  } else {
    return true;
  }
  return false;
}

void Requests::ask(std::uint32_t nonce, std::variant<Creation, Look> what) {
  if (core_.config.maintenance) {
    timers_.schedule(nonce, core_.now() + core_.config.request_retry_interval);
    core_.wake_at(timers_.next());
  }
  const bool creates = std::holds_alternative<Creation>(what);
  const Duration within = creates ? core_.config.change_timeout : core_.config.request_timeout;
  const auto entry = pending_.emplace(nonce, Pending{std::move(what), core_.now() + within});
  send(entry.first->second);
}

void Requests::send(Pending& pending) {
  if (auto* creation = std::get_if<Creation>(&pending.what)) {
    creation->message.within_ms = time_left(pending.deadline, core_.now());
  }
  const auto what = pending.what;  // the answer may come within the call
  if (const auto* creation = std::get_if<Creation>(&what)) {
    core_.pastry.route(creation->message.state.group, creation->message);
    return;
  }
  const Look& look = std::get<Look>(what);
  if (!look.peer) {
    core_.pastry.route(look.message.group, look.message);
  } else if (look.peer == core_.self) {
    on_tree_reply(place_in(look.message));
  } else {
    core_.send(look.peer, look.message);
  }
}

void Requests::tick() {
  for (const std::uint32_t nonce : timers_.take_due(core_.now())) {
    const auto found = pending_.find(nonce);
    if (found == pending_.end()) continue;  // another's retry has ended it
    Pending& pending = found->second;
    if (core_.now() >= pending.deadline) {
      end(nonce, errc::timed_out);
      continue;
    }
    timers_.schedule(nonce,
                     std::min(core_.now() + core_.config.request_retry_interval, pending.deadline));
    send(pending);
  }
}

void Requests::end(std::uint32_t nonce, boost::system::error_code error,
                   const CreateOutcome& created) {
  const auto found = pending_.find(nonce);
  if (found == pending_.end()) return;
  if (auto* creation = std::get_if<Creation>(&found->second.what)) {
    core_.upcalls.call(
        [done = std::move(creation->done), error, created] { done(error, created); });
  } else {
    auto& look = std::get<Look>(found->second.what);
    core_.upcalls.call([done = std::move(look.done), error] { done(error, {}); });
  }
  timers_.cancel(nonce);
  pending_.erase(found);
}

// --- Answering ---

void Requests::on_create(const wire::GroupCreate& create) {
  if (roots_.hold_in_doubt(create.state.group, create)) return;
  if (!answers_) answers_ = std::make_unique<Answers<wire::GroupCreateReply>>();
  if (const auto* known = answers_->find(create.origin, create.nonce)) {
    if (known->reply) answer_create(create.origin, *known->reply);
    return;
  }
  answers_->begin(create.origin, create.nonce);
  const Roots::Created created = roots_.create(create);
  wire::GroupCreateReply reply{create.nonce, static_cast<std::uint16_t>(created.error.value()),
                               created.existed, static_cast<std::uint8_t>(created.mode)};
  if (created.error || created.existed) return answer_create(create.origin, reply);
  roots_.when_kept(create.state.group, create.origin, create.within_ms,
                   [this, origin = create.origin, reply](boost::system::error_code unkept) mutable {
                     reply.error = static_cast<std::uint16_t>(unkept.value());
                     answer_create(origin, reply);
                   });
}

void Requests::answer_create(PeerRef origin, const wire::GroupCreateReply& reply) {
  answers_->end(origin, reply.nonce, reply);
  if (origin == core_.self) {
    on_create_reply(reply);
  } else {
    core_.send(origin, reply);
  }
}

void Requests::on_tree_request(const wire::TreeRequest& request) {
  const wire::TreeReply reply = place_in(request);
  if (request.origin == core_.self) {
    on_tree_reply(reply);
  } else {
    core_.send(request.origin, reply);
  }
}

// Who is in a group is told to whoever may join, or has another right that not everybody
// has: by its id, or by a token with which it would join.
bool Requests::may_look(const Group& group, const wire::TreeRequest& request) {
  const wire::AccessRef list = group.list();
  const auto has = [&](const wire::Grant& grant) {
    return core_.access.allows(grant, wire::Right::join, request.group, request.origin,
                               request.proof);
  };
  return !list || has(list->join) || (!list->publish.everybody && has(list->publish)) ||
         (!list->manage.everybody && has(list->manage));
}

wire::TreeReply Requests::place_in(const wire::TreeRequest& request) {
  wire::TreeReply reply;
  reply.nonce = request.nonce;
  reply.group = request.group;
  if (const Group* group = core_.find(request.group)) {
    if (!may_look(*group, request)) {
      reply.error = static_cast<std::uint16_t>(errc::denied);
      return reply;
    }
    reply.in_tree = group->in_tree();
    reply.root = group->serves_as_root();
    reply.member = group->member;
    reply.position = Ordering::position(*group);
    reply.below = to_wire(tally_of(*group, core_.now()));
    if (request.brief) return reply;
    reply.root_path = group->root_path();
    reply.children = group->children.peers();
    reply.more_children = reply.children.size() > reply_children_max;
    reply.children.resize(std::min(reply.children.size(), reply_children_max));
    if (group->parent()) {
      const auto round_trip = core_.round_trip_to(group->parent());
      reply.round_trip_us = round_trip ? pastry::distance_of(*round_trip) : 0;
    }
  }
  return reply;
}

// --- Answers ---

void Requests::on_create_reply(const wire::GroupCreateReply& reply) {
  const auto found = pending_.find(reply.nonce);
  if (found == pending_.end() || !std::holds_alternative<Creation>(found->second.what)) return;
  boost::system::error_code error;
  if (reply.error != 0) error = static_cast<errc>(reply.error);
  const auto& creation = std::get<Creation>(found->second.what);
  const wire::AccessRef& asked = creation.message.state.access;
  const bool closed = asked && !(asked->publish.everybody && asked->join.everybody);
  // The root is of a version that knows no lists: the group is open.
  if (!error && reply.mode == 0 && closed) error = errc::version;
  CreateOutcome created{reply.existed, creation.message.state.mode};
  if (reply.mode == static_cast<std::uint8_t>(wire::GroupMode::best_effort) ||
      reply.mode == static_cast<std::uint8_t>(wire::GroupMode::ordered)) {
    created.mode = static_cast<wire::GroupMode>(reply.mode);
  }
  end(reply.nonce, error, created);
}

void Requests::on_tree_reply(const wire::TreeReply& reply) {
  const auto found = pending_.find(reply.nonce);
  if (found == pending_.end()) return;
  auto* look = std::get_if<Look>(&found->second.what);
  if (!look || look->message.group != reply.group) return;
  boost::system::error_code error;
  if (reply.error != 0) {
    error = static_cast<errc>(reply.error);
  } else if (!look->peer && !reply.in_tree) {
    error = errc::no_such_group;
  }
  core_.upcalls.call([done = std::move(look->done), error, reply] { done(error, reply); });
  timers_.cancel(reply.nonce);
  pending_.erase(found);
}

void Requests::peer_failed(PeerRef peer) {
  std::vector<std::uint32_t> vain;
  for (const auto& [nonce, pending] : pending_) {
    const auto* look = std::get_if<Look>(&pending.what);
    if (look && look->peer == peer) vain.push_back(nonce);
  }
  for (const std::uint32_t nonce : vain) end(nonce, errc::unreachable);
}

void Requests::shut_down() {
  while (!pending_.empty()) end(pending_.begin()->first, errc::shutting_down);
}

void Requests::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [nonce, pending] : pending_) {
    const auto* look = std::get_if<Look>(&pending.what);
    if (look && look->peer) in_use.push_back(look->peer);
  }
  if (answers_) answers_->collect_peers(in_use);
}

}  // namespace canopy::scribe
