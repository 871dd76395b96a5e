#include "scribe/administration.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <canopy/error.hpp>

#include "scribe/answers.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/group_name.hpp"
#include "scribe/roots.hpp"
#include "scribe/time_left.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t changes_max = 1024;  // under way

}  // namespace

struct Administration::State {
  struct Pending {
    wire::GroupChange message;
    StateCompletion done;
    MonoTime deadline;
  };
  std::map<std::uint32_t, Pending> pending;
  DeadlineSet<std::uint32_t> timers;
  std::uint32_t last_nonce = 0;
  Answers<wire::GroupChangeReply> answers;
};

Administration::Administration(Core& core, Roots& roots) : core_(core), roots_(roots) {}
Administration::~Administration() = default;

Administration::State& Administration::state() {
  if (!state_) state_ = std::make_unique<State>();
  return *state_;
}

// --- Asking ---

void Administration::look(const wire::GroupName& name, StateCompletion done) {
  ask({}, name, std::move(done));
}

void Administration::set_access(const wire::GroupName& name, std::uint64_t expected,
                                wire::AccessRef rights, const TokenKey& key, StateCompletion done) {
  wire::GroupChange change;
  change.kind = wire::ChangeKind::set_access;
  change.expected = expected;
  change.access = std::move(rights);
  change.proof =
      core_.access.prove(group_id(name, core_.pastry.config().id_bits), wire::Right::manage, key);
  ask(std::move(change), name, std::move(done));
}

void Administration::remove(const wire::GroupName& name, const TokenKey& key,
                            StateCompletion done) {
  wire::GroupChange change;
  change.kind = wire::ChangeKind::remove;
  change.proof =
      core_.access.prove(group_id(name, core_.pastry.config().id_bits), wire::Right::manage, key);
  ask(std::move(change), name, std::move(done));
}

void Administration::ask(wire::GroupChange change, const wire::GroupName& name,
                         StateCompletion done) {
  errc error{};
  if (!valid_name(name)) error = errc::bad_name;
  if (change.access && grants_of(*change.access) > wire::grants_max) error = errc::limit;
  if (state().pending.size() >= changes_max) error = errc::queue_full;
  if (!core_.pastry.active()) error = errc::not_active;
  if (core_.departing) error = errc::shutting_down;
  if (error != errc{}) {
    core_.upcalls.call([done = std::move(done), error] { done(error, {}); });
    return;
  }
  change.group = group_id(name, core_.pastry.config().id_bits);
  change.name = name;
  change.origin = core_.self;
  const MonoTime deadline = core_.now() + core_.config.change_timeout;
  change.within_ms = time_left(deadline, core_.now());
  const std::uint32_t nonce = change.nonce = ++state_->last_nonce;
  if (core_.config.maintenance) {
    state_->timers.schedule(nonce, core_.now() + core_.config.request_retry_interval);
    core_.wake_at(state_->timers.next());
  }
  state_->pending.emplace(nonce, State::Pending{change, std::move(done), deadline});
  core_.pastry.route(change.group, change);
}

void Administration::tick() {
  if (!state_) return;
  for (const std::uint32_t nonce : state_->timers.take_due(core_.now())) {
    const auto found = state_->pending.find(nonce);
    if (found == state_->pending.end()) continue;
    const MonoTime deadline = found->second.deadline;
    if (core_.now() >= deadline) {
      end(nonce, errc::timed_out);
      continue;
    }
    state_->timers.schedule(nonce,
                            std::min(core_.now() + core_.config.request_retry_interval, deadline));
    found->second.message.repeated = true;
    found->second.message.within_ms = time_left(deadline, core_.now());
    const wire::GroupChange message = found->second.message;  // answered within the call, maybe
    core_.pastry.route(message.group, message);
  }
}

MonoTime Administration::next_deadline() const { return state_ ? state_->timers.next() : never; }

void Administration::end(std::uint32_t nonce, boost::system::error_code error,
                         const wire::GroupState& result) {
  const auto found = state_->pending.find(nonce);
  if (found == state_->pending.end()) return;
  core_.upcalls.call(
      [done = std::move(found->second.done), error, result] { done(error, result); });
  state_->timers.cancel(nonce);
  state_->pending.erase(found);
}

void Administration::on_reply(const wire::GroupChangeReply& reply) {
  if (reply.nonce == 0) return roots_.on_offered(reply);
  if (!state_) return;
  const auto found = state_->pending.find(reply.nonce);
  if (found == state_->pending.end() || found->second.message.group != reply.group) return;
  boost::system::error_code error;
  if (reply.error != 0) error = static_cast<errc>(reply.error);
  // By a root that has been replaced since, it seems; anyhow it is gone.
  const wire::GroupChange& asked = found->second.message;
  const bool removes = asked.kind == wire::ChangeKind::remove;
  if (removes && asked.repeated && error == errc::no_such_group) error = {};
  end(reply.nonce, error, reply.states.empty() ? wire::GroupState{} : reply.states.front());
}

void Administration::shut_down() {
  while (state_ && !state_->pending.empty()) {
    end(state_->pending.begin()->first, errc::shutting_down);
  }
}

// --- At the root, which serves the group or has found that nobody does ---

void Administration::on_change(const wire::GroupChange& change) {
  if (change.kind == wire::ChangeKind::offer) {
    for (const wire::GroupState& offered : change.states) {
      if (offered.group == change.group) roots_.adopt(offered);
    }
    return answer(change, {});
  }
  if (change.kind == wire::ChangeKind::look) return answer(change, {});
  if (const auto* known = state().answers.find(change.origin, change.nonce)) {
    if (known->reply && change.origin != core_.self) core_.send(change.origin, *known->reply);
    return;
  }
  // In doubt whether it still is the root, or about to hand over: what was changed now
  // could get lost.
  if (roots_.hold_in_doubt(change.group, change)) return;
  const Group* group = core_.find(change.group);
  if (group && group->standing() == Standing::handing_over) return;  // it asks again
  carry_out(change);
}

void Administration::carry_out(const wire::GroupChange& change) {
  state_->answers.begin(change.origin, change.nonce);
  const auto error =
      change.kind == wire::ChangeKind::remove ? roots_.remove(change) : roots_.set_access(change);
  if (error) return answer(change, error);
  roots_.when_kept(change.group, change.origin, change.within_ms,
                   [this, change](boost::system::error_code unkept) { answer(change, unkept); });
}

void Administration::answer(const wire::GroupChange& change, boost::system::error_code error) {
  wire::GroupChangeReply reply;
  reply.nonce = change.nonce;
  reply.group = change.group;
  reply.error = static_cast<std::uint16_t>(error.value());
  if (change.kind == wire::ChangeKind::offer) {
    if (const RootRecord* record = roots_.record(change.group)) {
      reply.states.push_back(RootRegistry::told(*record, core_.now()));
    }
  } else if (const auto known = roots_.known(change.group)) {
    reply.states.push_back(*known);
  } else if (change.kind == wire::ChangeKind::look) {
    reply.error = static_cast<std::uint16_t>(errc::no_such_group);
  }
  if (change.nonce != 0) state().answers.end(change.origin, change.nonce, reply);
  if (change.origin == core_.self) {
    on_reply(reply);
  } else {
    core_.send(change.origin, reply);
  }
}

void Administration::collect_peers(std::vector<PeerRef>& in_use) const {
  if (state_) state_->answers.collect_peers(in_use);
}

}  // namespace canopy::scribe
