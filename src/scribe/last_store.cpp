#include "scribe/last_store.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <map>
#include <utility>

#include "scribe/loss_meter.hpp"

namespace canopy::scribe {

namespace {

// A body smaller than this does not keep the block alive that it was read into.
constexpr std::size_t small_last_body = std::size_t{16} << 10;
// A message that comes later than this after a later one is none that was held up:
// the group has been founded anew, with smaller epochs.
constexpr int overtaking_intervals = 10;  // heartbeats

struct Kept {
  wire::LastReply message;
  wire::Position newest;  // known of, perhaps elsewhere
  MonoTime came{};
  bool settled = true;
};

// What it occupies, with its place in the list and the map.
std::size_t bytes_kept(const Kept& kept) noexcept {
  return sizeof(Kept) + 128 + kept.message.body.size();
}

wire::LastReply reply_of(const wire::Multicast& message) {
  wire::LastReply reply;
  reply.group = message.group;
  reply.found = true;
  reply.id = message.id;
  reply.epoch = message.epoch;
  reply.sequence = message.sequence;
  reply.reign = message.reign;
  reply.stamp = stamp_of(message);
  reply.body = message.body;
  return reply;
}

}  // namespace

wire::Position stamp_of(const wire::Multicast& message) noexcept {
  if (message.epoch != 0) return {message.epoch, message.sequence};
  if (message.reign == 0) return {};
  return {message.reign, count_of(message.sequence) | best_effort_stamp};
}

struct LastStore::State {
  using List = std::list<Kept>;

  // A group without a message counts as the oldest.
  List::iterator entry(const Id& group) {
    const auto [known, fresh] = by_group.try_emplace(group);
    if (fresh) {
      known->second = kept.emplace(kept.begin());
      known->second->message.group = group;
      bytes += bytes_kept(*known->second);
    }
    return known->second;
  }
  void put(List::iterator to, wire::LastReply message) {
    bytes -= bytes_kept(*to);
    to->message = std::move(message);
    to->newest = to->message.stamp;
    to->settled = false;
    bytes += bytes_kept(*to);
    kept.splice(kept.end(), kept, to);
  }
  void drop(List::iterator which) {
    bytes -= bytes_kept(*which);
    by_group.erase(which->message.group);
    kept.erase(which);
  }

  List kept;  // in the order in which their messages came
  std::map<Id, List::iterator> by_group;
  std::size_t bytes = 0;
  MonoTime settle_at = never;
};

LastStore::LastStore() noexcept = default;

LastStore::~LastStore() = default;

LastStore::State& LastStore::state() {
  if (!state_) state_ = std::make_unique<State>();
  return *state_;
}

void LastStore::passed(const wire::Multicast& message, const Config& config, MonoTime now,
                       Counters& counters) {
  wire::LastReply reply = reply_of(message);
  State& all = state();
  const auto kept = all.entry(message.group);
  const bool overtaken = reply.stamp && reply.stamp < kept->message.stamp &&
                         of_an_order(reply.stamp) == of_an_order(kept->message.stamp) &&
                         now < kept->came + overtaking_intervals * config.heartbeat_interval;
  if (overtaken) return;
  all.put(kept, std::move(reply));
  kept->came = now;
  if (all.settle_at == never) all.settle_at = now + config.heartbeat_interval;
  while (all.bytes > config.last_bytes_max && !all.kept.empty()) {
    ++counters.last_dropped;
    all.drop(all.kept.begin());
  }
}

bool LastStore::wants(const wire::LastReply& reply) const {
  const auto here = find(reply.group);
  if (here && !later(reply.stamp, here->stamp)) return false;
  const wire::Position known = newest(reply.group);
  return reply.stamp == known || later(reply.stamp, known);
}

bool LastStore::heard_of(const Id& group, const wire::Position& stamp) {
  if (!later(stamp, newest(group))) return false;
  state().entry(group)->newest = stamp;
  return true;
}

void LastStore::disbelieve(const Id& group) {
  if (!state_ || !state_->by_group.contains(group)) return;
  Kept& kept = *state_->entry(group);
  kept.newest = kept.message.stamp;
}

std::optional<wire::LastReply> LastStore::find(const Id& group) const {
  if (!state_) return std::nullopt;
  const auto found = state_->by_group.find(group);
  if (found == state_->by_group.end()) return std::nullopt;
  const Kept& kept = *found->second;
  if (!kept.message.found || later(kept.newest, kept.message.stamp)) return std::nullopt;
  return kept.message;
}

wire::Position LastStore::newest(const Id& group) const {
  if (!state_) return {};
  const auto found = state_->by_group.find(group);
  return found == state_->by_group.end() ? wire::Position{} : found->second->newest;
}

void LastStore::forget(const Id& group) {
  if (!state_) return;
  const auto found = state_->by_group.find(group);
  if (found != state_->by_group.end()) state_->drop(found->second);
}

MonoTime LastStore::settle_at() const noexcept { return state_ ? state_->settle_at : never; }

// Those that have come since are at the end of the list.
void LastStore::settle() {
  if (!state_) return;
  state_->settle_at = never;
  for (auto kept = state_->kept.rbegin(); kept != state_->kept.rend(); ++kept) {
    if (std::exchange(kept->settled, true)) return;
    Buffer& body = kept->message.body;
    if (!body.empty() && body.size() < small_last_body) body = Buffer::copy_of(body.view());
  }
}

}  // namespace canopy::scribe
