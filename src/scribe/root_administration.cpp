// The part of Roots that is about groups that somebody has created: creating,
// changing and deleting them by right, and keeping what they are.
//
// A change is answered when it is where it has to be: on this node's disk, if it has
// one, and at every replica there is. What a disk has kept is offered to whoever is
// the root now. A deleted group is remembered as that, so that no old state brings it
// back; whoever has none to remember it by, may.
#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "base/mix.hpp"
#include "base/rare.hpp"
#include "scribe/access.hpp"
#include "scribe/ordering.hpp"
#include "scribe/roots.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

namespace {

// Of the time that a request has: a replica that has died is noticed within it.
Duration keeping_time(const Config& config, std::uint32_t within_ms) {
  const Duration most = config.request_timeout;
  const Duration within = within_ms == 0 ? most : std::chrono::milliseconds(within_ms);
  return std::min(within, most) * 4 / 5;
}
constexpr std::size_t waits_max = 4096;

Keeping& ensure(std::unique_ptr<Keeping>& keeping) {
  if (!keeping) keeping = std::make_unique<Keeping>();
  return *keeping;
}

bool lasts(const wire::GroupState& state) { return state.created || state.deleted(); }

}  // namespace

// --- Changes ---

Roots::Created Roots::create(const wire::GroupCreate& create) {
  const wire::GroupState& wished = create.state;
  const Id& id = wished.group;
  if (wished.mode == wire::GroupMode::durable) return {errc::unsupported};
  if (wished.access && grants_of(*wished.access) > wire::grants_max) return {errc::limit};
  RootRecord* record = registry_.find(id);
  const bool there = record && !record->state.deleted();
  const Group* group = core_.find(id);
  if ((there && record->state.name != wished.name) ||
      (!there && group && *group->name() != wished.name)) {
    return {errc::name_conflict};
  }
  const bool existed = there && record->state.created;
  if (!existed && !core_.access.may_create(id, create.origin, create.proof)) {
    ++core_.counters.changes_denied;
    return {errc::denied};
  }
  if (!there) {
    wire::GroupState state;
    state.group = id;
    state.name = wished.name;
    state.mode = wished.mode;
    state.created = true;
    state.access = new_list(nullptr, wished.access);
    if (record) {  // once more
      state.life = record->state.life + 1;
      state.epoch = record->state.epoch + 1;
    }
    found(std::move(state));
    return {registry_.find(id) ? boost::system::error_code{} : errc::limit, false, wished.mode};
  }
  if (record->state.mode != wished.mode) {
    if (const auto error = change_mode(*record, wished.mode)) {
      return {error, existed, record->state.mode};
    }
  }
  if (!existed) {
    record->state.created = true;
    if (wished.access) record->state.access = new_list(record->state.access, wished.access);
    access_changed(id, *record);
  }
  return {{}, existed, record->state.mode};
}

boost::system::error_code Roots::may_change(const wire::GroupChange& change) const {
  const RootRecord* record = registry_.find(change.group);
  if (!record || record->state.deleted() || !record->state.created) return errc::no_such_group;
  if (record->state.name != change.name) return errc::name_conflict;
  if (core_.access.allows(record->state.access, wire::Right::manage, change.group, change.origin,
                          change.proof)) {
    return {};
  }
  ++core_.counters.changes_denied;
  return errc::denied;
}

boost::system::error_code Roots::set_access(const wire::GroupChange& change) {
  const RootRecord* known = registry_.find(change.group);
  const bool done = known && change.repeated && change.access &&
                    is_next(known->state.access, change.expected, *change.access);
  if (done) return {};
  if (const auto error = may_change(change)) return error;
  if (!change.access || grants_of(*change.access) > wire::grants_max) return errc::limit;
  RootRecord& record = *registry_.find(change.group);
  if (mark_of(record.state.access) != change.expected) return errc::conflict;
  record.state.access = new_list(record.state.access, change.access);
  access_changed(change.group, record);
  return {};
}

boost::system::error_code Roots::remove(const wire::GroupChange& change) {
  if (const auto error = may_change(change)) return error;
  ++core_.counters.groups_deleted;
  RootRecord& record = *registry_.find(change.group);
  ++record.state.life;
  ++record.state.version;
  record.state.created = false;
  record.state.access = nullptr;
  record.forget_at = core_.now() + core_.config.deletion_memory;
  replicate(change.group, record);
  note_change(change.group);
  withdraw_deleted(change.group, record);
  return {};
}

// No mark is given twice, by whatever root.
wire::AccessRef Roots::new_list(const wire::AccessRef& before, const wire::AccessRef& wished) {
  if (!wished) return before;
  const PeerDescriptor& self = core_.env.peers()[core_.self];
  const std::uint64_t number = ++ensure(keeping_).last_mark;
  return next_version(before, *wished,
                      mix64(self.id.high64() ^ mix64(self.incarnation ^ mix64(number))));
}

void Roots::access_changed(const Id& id, RootRecord& record) {
  ++record.state.version;
  if (Group* group = core_.find(id); group && record.own) {
    tree_.take_list(*group, id, record.state.access, record.state.life);
    tree_.check_membership(id);
  }
  replicate(id, record);
  note_change(id);
}

bool Roots::withdraw_deleted(const Id& id, RootRecord& record) {
  if (!record.state.deleted()) return false;
  if (record.successor) transfers_.cancel(record.successor, Purpose::handover, id);
  record.successor = record.predecessor = {};
  record.own = record.doubted = false;
  record.holders.clear();
  if (core_.find(id)) tree_.fail(id, wire::JoinRefusal::no_such_group);
  return true;
}

std::optional<wire::GroupState> Roots::known(const Id& id) const {
  const RootRecord* record = registry_.find(id);
  if (!record || record->state.deleted()) return std::nullopt;
  return record->state;
}

// --- Kept by everybody who should ---

void Roots::when_kept(const Id& id, PeerRef asker, std::uint32_t within_ms, Completion done) {
  if (!core_.config.maintenance) return done({});
  std::vector<Keeping::Wait>& waits = ensure(keeping_).waits;
  if (waits.size() >= waits_max) return done(errc::unconfirmed);
  waits.push_back(
      {id, asker, std::move(done), core_.now() + keeping_time(core_.config, within_ms)});
  core_.wake_at(waits.back().deadline);
  look_after_kept();
}

bool Roots::is_kept(const Id& id, const RootRecord& record) const {
  if (core_.config.keeps_states) {
    const auto written = keeping_->written.find(id);
    const Keeping::Version version{record.state.epoch, record.state.version};
    if (written == keeping_->written.end() || written->second != version) return false;
  }
  const wire::Peers holders = core_.pastry.closest(id, core_.config.root_replicas);
  return std::ranges::all_of(holders, [&](PeerRef peer) {
    return peer == core_.self || is_leaving(peer) ||
           (RootRegistry::holds(record, peer) && !transfers_.queued(peer, Purpose::replica, id));
  });
}

void Roots::look_after_kept() {
  if (!keeping_ || keeping_->waits.empty()) return;
  std::vector<std::pair<Completion, boost::system::error_code>> over;
  std::erase_if(keeping_->waits, [&](Keeping::Wait& wait) {
    const RootRecord* record = registry_.find(wait.group);
    boost::system::error_code error;
    if (!record) {
      error = errc::unconfirmed;
    } else if (!is_kept(wait.group, *record)) {
      if (core_.now() < wait.deadline) return false;
      error = errc::unconfirmed;
    }
    over.emplace_back(std::move(wait.done), error);
    return true;
  });
  for (const auto& [done, error] : over) done(error);
}

// --- The host's disk ---

void Roots::note_change(const Id& id) {
  if (core_.config.keeps_states) ensure(keeping_).changed.insert(id);
}

void Roots::forget(const Id& id) {
  registry_.erase(id);
  note_change(id);
}

void Roots::write_changes() {
  if (!keeping_ || keeping_->changed.empty()) return;
  for (const Id& id : std::exchange(keeping_->changed, {})) {
    const RootRecord* record = registry_.find(id);
    if (record && lasts(record->state)) {
      keeping_->written.try_emplace(id);
      core_.upcalls.call(
          [&events = core_.events, state = RootRegistry::told(*record, core_.now())] {
            events.keep_state(state);
          });
    } else if (keeping_->written.erase(id) > 0) {
      core_.upcalls.call([&events = core_.events, id] { events.forget_state(id); });
    }
  }
}

void Roots::on_written(const Id& id, std::uint64_t epoch, std::uint64_t version) {
  if (!keeping_) return;
  const auto written = keeping_->written.find(id);
  if (written != keeping_->written.end()) written->second = {epoch, version};
  look_after_kept();
}

void Roots::restore(const wire::GroupState& state) {
  if (!valid(state)) {
    ++core_.counters.malformed;
    return;
  }
  RootRecord* record = registry_.merge(state, core_.now());
  if (!record) {
    ++core_.counters.limits_met;
    return;
  }
  record->offered = false;
  ensure(keeping_).written[state.group] = {record->state.epoch, record->state.version};
  plan_refresh();
}

void Roots::returned() { bereft_until_ = core_.now() + core_.config.child_expiry; }

// To whoever is the root, if that is another.
void Roots::offer(const RootRecord& record) {
  if (!record.own) offer(RootRegistry::told(record, core_.now()));
}

void Roots::offer(const wire::GroupState& state) {
  if (!core_.pastry.active() || core_.pastry.is_root(state.group)) return;
  wire::GroupChange change;
  change.group = state.group;
  change.name = state.name;
  change.origin = core_.self;
  change.kind = wire::ChangeKind::offer;
  change.states.push_back(state);
  core_.pastry.route(state.group, std::move(change));
}

void Roots::offer_list(const Group& group, const Id& id) {
  wire::GroupState state;
  state.group = id;
  state.name = *group.name();
  if (group.order) state.mode = wire::GroupMode::ordered;
  state.created = true;
  state.access = group.list();
  state.life = group.life();
  offer(state);
}

void Roots::offer_kept() {
  // Where this node is to keep a replica, the next root has had time to confirm it.
  const MonoTime overdue = core_.now() - 2 * core_.config.child_refresh_interval;
  for (auto& [id, record] : registry_.records()) {
    if (record.rootless && record.touched < overdue) {
      offer_again(record);
    } else if (!record.offered) {
      offer(record);
    }
  }
}

// The next root may not have it, where all who kept it with this node have gone and
// newcomers have taken their places: they ask each other only.
void Roots::offer_again(RootRecord& record) {
  if (core_.pastry.is_root(record.state.group)) return;
  rare<"roots: a replica whose root has gone is offered">();
  record.rootless = record.offered = false;
  offer(record);
}

void Roots::adopt(const wire::GroupState& state) {
  if (!valid(state)) {
    ++core_.counters.malformed;
    return;
  }
  if (!keep(state)) return;
  RootRecord& record = *registry_.find(state.group);
  record.offered = true;
  if (!record.own && core_.pastry.is_root(state.group)) {
    serve(state.group, record, Start::takeover);
  }
}

void Roots::on_offered(const wire::GroupChangeReply& reply) {
  const RootRecord* offered = registry_.find(reply.group);
  if (!offered || offered->offered) return;  // nothing was asked
  for (const wire::GroupState& state : reply.states) {
    if (state.group == reply.group && valid(state)) keep(state);
  }
  if (RootRecord* record = registry_.find(reply.group)) {
    record->offered = true;
    record->touched = core_.now();
  }
}

}  // namespace canopy::scribe
