#include "scribe/member_counts.hpp"

#include <utility>

#include "scribe/member_changes.hpp"
#include "scribe/membership.hpp"
#include "scribe/planted_bug.hpp"

namespace canopy::scribe {

namespace {

// Many changes at once make one word. Names wait less: they are to go with the
// number that they explain.
constexpr int word_delay_share = 20;  // of a heartbeat interval
constexpr int name_delay_share = 100;
constexpr int show_delay_share = 2;
// For so many intervals it may be that who is missing has only lost its parent; who
// moves has settled before.
constexpr int show_patience_intervals = 6;
constexpr std::size_t member_words_max = 1024;  // in a message
constexpr std::size_t names_per_message_max = 128;
constexpr std::size_t repeated_messages_max = 16;  // of one repetition

std::size_t names_of(const wire::MemberChanges& changes) {
  return changes.joined.size() + changes.left.size();
}

}  // namespace

MemberCounts::State& MemberCounts::state() {
  if (!state_) state_ = std::make_unique<State>();
  return *state_;
}

MemberCounts::Change& MemberCounts::change_of(const Id& id) {
  const auto [entry, fresh] = state().changes.try_emplace(id);
  if (fresh) entry->second.since = core_.now();
  return entry->second;
}

wire::MemberChanges MemberCounts::take_changes(const Id& id) {
  const auto taken = state().changes.extract(id);
  return taken ? std::move(taken.mapped().who) : wire::MemberChanges{};
}

// --- What has changed ---

void MemberCounts::watch(const Id& id, bool wanted) {
  Group* group = core_.find(id);
  if (!group || group->watching == wanted) return;
  group->watching = wanted;
  core_.members_changed(id);
}

std::optional<Presence> MemberCounts::shown(const Id& id) const {
  const Group* group = core_.find(id);
  if (!group || !group->shown.known) return std::nullopt;
  return Presence{group->shown.members, group->shown.complete == 1, {}};
}

void MemberCounts::look() {
  if (!core_.member_news || core_.member_news->empty()) return;
  const auto news = std::exchange(*core_.member_news, {});
  for (const auto& [id, left] : news) {
    Group* group = core_.find(id);
    if (!group) {
      if (state_) state_->changes.erase(id);
      continue;
    }
    std::size_t dropped = 0;
    if (left) dropped += went(change_of(id).who, left);
    if (std::exchange(group->announced, group->member) != group->member) {
      wire::MemberChanges& who = change_of(id).who;
      dropped += group->member ? came(who, core_.self) : went(who, core_.self);
    }
    core_.counters.member_names_dropped += dropped;
    const bool shows = group->serves_as_root() && group->shown.known;
    const bool names = state_ && state_->changes.contains(id);
    const bool first = group->parent() && group->told == MemberTally{};
    const int share = shows            ? show_delay_share
                      : names || first ? name_delay_share
                                       : word_delay_share;
    if (revokes(*group, id)) state_->paused.cancel(id);
    look_at(id, core_.config.heartbeat_interval / share);
  }
}

// The parent takes a sum for complete, and it is not: that is told without a pause.
bool MemberCounts::revokes(const Group& group, const Id& id) const {
  return state_ && state_->paused.contains(id) && group.parent() && group.told.complete &&
         !tally_of(group, core_.now()).complete;
}

void MemberCounts::look_at(const Id& id, Duration delay) {
  State& all = state();
  MonoTime at = core_.now() + delay;
  if (all.paused.contains(id)) at = std::max(at, all.paused.deadline_of(id));
  if (all.due.deadline_of(id) <= at) return;
  all.due.schedule(id, at);
  core_.wake_at(at);
}

void MemberCounts::tick() {
  look();  // so that numbers and names go together
  if (!state_) return;
  Batches batches;
  state_->paused.take_due(core_.now());
  for (const Id& id : state_->due.take_due(core_.now())) review(id, batches);
  for (auto& [parent, words] : batches) send(parent, words);
}

MonoTime MemberCounts::next_deadline() const { return state_ ? state_->due.next() : never; }

void MemberCounts::review(const Id& id, Batches& batches) {
  Group* group = core_.find(id);
  if (!group) {
    state_->changes.erase(id);
    return;
  }
  if (!watched(*group)) set_shown(core_, *group, id, {});
  if (group->parent()) {
    tell(*group, id, batches);
  } else if (group->serves_as_root()) {
    show_as_root(*group, id);
  }
  const MonoTime until = incomplete_until(*group, core_.now());
  if (until != MonoTime{}) look_at(id, until - core_.now());
}

// --- Up ---

// Whoever leaves its parent tells it first what it has not told yet of others.
void MemberCounts::take_leave(const Id& id) {
  look();
  Group* group = core_.find(id);
  if (!state_ || !group || !group->parent()) return;
  const auto change = state_->changes.find(id);
  const bool of_others = change != state_->changes.end() && !names_only_self(change->second.who);
  if (group->told.members == group->told.itself && !of_others) {
    state_->changes.erase(id);
    return;
  }
  Batches batches;
  tell(*group, id, batches);
  for (auto& [parent, words] : batches) send(parent, words);
}

// The parent names this node by itself.
bool MemberCounts::names_only_self(const wire::MemberChanges& who) const {
  return who.joined.empty() && who.more_joined == 0 && who.more_left == 0 &&
         (who.left.empty() || who.left == wire::Peers{core_.self});
}

void MemberCounts::tell(Group& group, const Id& id, Batches& batches) {
  const MemberTally now = tally_of(group, core_.now());
  const auto change = state_->changes.find(id);
  const bool names = change != state_->changes.end() && !nothing(change->second.who);
  if (now == group.told && !names) return;
  set_told(core_, group, id, now);
  wire::MemberWords& words = batches[group.parent()];
  words.words.push_back({id, to_wire(now), take_changes(id)});
  state_->paused.schedule(id, core_.now() + core_.config.heartbeat_interval);
}

// In as many messages as it takes.
void MemberCounts::send(PeerRef to, wire::MemberWords& words) {
  core_.counters.member_words_sent += words.words.size();
  core_.neighbors.word_sent_to(to);
  wire::MemberWords part;
  std::size_t names = 0;
  const auto flush = [&] {
    part.again = words.again;
    core_.send(to, std::exchange(part, {}));
    names = 0;
  };
  for (wire::MemberWord& word : words.words) {
    const std::size_t more = names_of(word.changes);
    if (part.words.size() == member_words_max ||
        (names != 0 && names + more > names_per_message_max))
      flush();
    names += more;
    part.words.push_back(std::move(word));
  }
  if (!part.words.empty()) flush();
}

void MemberCounts::on_words(PeerRef from, const wire::MemberWords& words) {
  for (const wire::MemberWord& word : words.words) {
    Group* group = core_.find(word.group);
    Child* child = group ? group->children.find(from) : nullptr;
    if (!child) continue;  // heartbeats find out
    const bool fresh = !child->below.watched;
    take_tally(core_, *group, word.group, *child, to_tally(word.below));
    if (!nothing(word.changes)) {
      core_.counters.member_names_dropped += merge(change_of(word.group).who, word.changes);
      core_.members_changed(word.group);
    }
    const bool wants = child->below.watched && (fresh || words.again);
    if (wants && child->acknowledged && group->shown.known) {
      core_.send(from, presence_of(*group, word.group));
    }
  }
}

void MemberCounts::tell_again(PeerRef parent) {
  if (planted_bug == PlantedBug::word_not_repeated) return;
  look();
  std::vector<Id> shared;
  for (const auto& [id, group] : core_.groups) {
    if (group.parent() == parent) shared.push_back(id);
  }
  if (shared.empty()) return;
  // Where there are too many for once, another time gets to the others.
  const std::size_t count = std::min(shared.size(), member_words_max * repeated_messages_max);
  const std::size_t start = count == shared.size() ? 0 : core_.env.random().below(shared.size());
  wire::MemberWords words;
  words.again = true;
  state();
  for (std::size_t i = 0; i < count; ++i) {
    const Id& id = shared[(start + i) % shared.size()];
    Group& group = *core_.find(id);
    const MemberTally now = tally_of(group, core_.now());
    set_told(core_, group, id, now);
    words.words.push_back({id, to_wire(now), take_changes(id)});
  }
  core_.counters.member_words_again += words.words.size();
  send(parent, words);
}

// --- Down ---

// As long as somebody is on the way to another parent, what no name explains is no news
// yet: most of those who are missing come back, and nobody stays counted twice.
bool MemberCounts::patient(const Id& id) {
  return core_.now() <
         change_of(id).since + show_patience_intervals * core_.config.heartbeat_interval;
}

void MemberCounts::show_as_root(Group& group, const Id& id) {
  const MemberTally now = tally_of(group, core_.now());
  ShownMembers shown = shown_members(now.members, now.complete);
  const auto change = state_->changes.find(id);
  const bool names = change != state_->changes.end() && !nothing(change->second.who);
  if (!now.watched || (shown == group.shown && !names)) {
    state_->changes.erase(id);
    return;
  }
  const bool by_names_alone = group.shown.known && !now.complete && patient(id);
  if (by_names_alone) look_at(id, core_.config.heartbeat_interval / show_delay_share);
  if (by_names_alone && !names) return;
  const MonoTime since = change_of(id).since;
  wire::MemberChanges who = take_changes(id);
  if (by_names_alone) {
    shown = shown_members(explained(group.shown.members, who), false);
    change_of(id).since = since;
  }
  show(group, id, shown, std::move(who));
  state_->paused.schedule(id, core_.now() + core_.config.heartbeat_interval);
}

void MemberCounts::show(Group& group, const Id& id, const ShownMembers& shown,
                        wire::MemberChanges changes) {
  const ShownMembers before = group.shown;
  set_shown(core_, group, id, shown);
  wire::PresenceUpdate update = presence_of(group, id);
  update.changes = std::move(changes);
  for (const Child& child : group.children) {
    if (child.acknowledged && child.below.watched) core_.send(child.peer, update);
  }
  if (!group.watching) return;
  Presence told{shown.members, shown.complete == 1, {}};
  if (before.known) {
    told.changes = std::move(update.changes);
    explain(told.changes, before.members, shown.members);
    if (before == shown && nothing(told.changes)) return;
  }
  core_.upcalls.call([&events = core_.events, id, told] { events.presence(id, told); });
}

void MemberCounts::on_presence(PeerRef from, const wire::PresenceUpdate& update) {
  Group* group = core_.find(update.group);
  if (!group || group->parent() != from || !watched(*group)) return;
  core_.neighbors.heard_from_parent(from, core_.now());
  show(*group, update.group, shown_members(update.members, update.complete), update.changes);
}

void MemberCounts::collect_peers(std::vector<PeerRef>& in_use) const {
  if (!state_) return;
  for (const auto& [id, change] : state_->changes) {
    in_use.insert(in_use.end(), change.who.joined.begin(), change.who.joined.end());
    in_use.insert(in_use.end(), change.who.left.begin(), change.who.left.end());
  }
}

}  // namespace canopy::scribe
