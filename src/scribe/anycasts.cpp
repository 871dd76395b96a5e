#include "scribe/anycasts.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/anycast_search.hpp"
#include "scribe/group_name.hpp"
#include "scribe/planted_bug.hpp"
#include "scribe/replier.hpp"
#include "scribe/time_left.hpp"

namespace canopy::scribe {

namespace {

constexpr int longest_pause = 8;       // retry intervals
constexpr int first_look_share = 16;   // of a retry interval
constexpr int longest_look_share = 2;  // likewise
constexpr std::size_t told_every = 8;  // nodes that a search has seen

}  // namespace

Anycasts::State::State(const Config& config)
    : room(config.pending_publishes_max, config.pending_bytes_max) {}

Anycasts::State& Anycasts::ensure() {
  if (!state_) state_ = std::make_unique<State>(core_.config);
  return *state_;
}

// --- At the origin ---

errc Anycasts::refusal(const wire::GroupName& name, const Buffer& body) const {
  if (core_.departing) return errc::shutting_down;
  if (!core_.pastry.active()) return errc::not_active;
  if (!valid_name(name)) return errc::bad_name;
  if (body.size() > core_.config.body_max) return errc::too_large;
  if (state_ && !state_->room.has_room_for(body.size())) return errc::queue_full;
  return {};
}

wire::MessageId Anycasts::start(const wire::GroupName& name, Buffer body, const AnycastTerms& terms,
                                AnycastCompletion done) {
  if (const errc error = refusal(name, body); error != errc{}) {
    core_.upcalls.call([done = std::move(done), error] { done({error, {}, {}}); });
    return {};
  }
  wire::Anycast message;
  message.group = group_id(name, core_.pastry.config().id_bits);
  message.id = core_.next_message_id();
  message.origin = core_.self;
  message.body = std::move(body);
  message.proof = core_.access.prove(message.group, wire::Right::publish, terms.key);
  const Duration within =
      terms.within == Duration::zero() ? core_.config.request_timeout : terms.within;
  const wire::MessageId id = message.id;
  begin({std::move(message), core_.now() + within, terms.patience, std::move(done)});
  return id;
}

void Anycasts::begin(Search search) {
  State& state = ensure();
  const std::uint64_t sequence = search.message.id.sequence;
  state.room.take(search.message.body.size());
  const Duration pause = core_.config.request_retry_interval;
  const auto [entry, fresh] = state.pending.emplace(
      sequence, Pending{std::move(search), 0, 0, pause, pause / first_look_share});
  CANOPY_ASSERT(fresh);
  launch(entry->second);
}

void Anycasts::launch(Pending& pending) {
  wire::Anycast& message = pending.search.message;
  message.within_ms = time_left(pending.search.deadline, core_.now());
  if (++pending.searches > 1) ++core_.counters.anycasts_repeated;
  schedule(pending, pending.pause);
  pending.pause = std::min(2 * pending.pause, longest_pause * core_.config.request_retry_interval);
  if (const Group* group = core_.find(message.group); group && group->in_tree()) {
    // Later, because the member that is asked first may be this node's own.
    core_.upcalls.call([this, message] { visit(message); });
  } else {
    const wire::Anycast routed = message;  // the answer may come within the call
    core_.pastry.route(routed.group, routed);
  }
}

void Anycasts::schedule(const Pending& pending, Duration pause) {
  if (!core_.config.maintenance) return;
  state_->timers.schedule(pending.search.message.id.sequence,
                          std::min(core_.now() + pause, pending.search.deadline));
  core_.wake_at(state_->timers.next());
}

void Anycasts::look_again(Pending& pending) {
  ++pending.looks;
  schedule(pending, pending.look_pause);
  pending.look_pause =
      std::min(2 * pending.look_pause, core_.config.request_retry_interval / longest_look_share);
}

void Anycasts::on_reply(const wire::AnycastReply& reply) {
  const PeerDescriptor& self = core_.env.peers()[core_.self];
  if (reply.id.publisher != self.id || reply.id.incarnation != self.incarnation || !state_) return;
  const auto found = state_->pending.find(reply.id.sequence);
  if (found == state_->pending.end()) return;
  Pending& pending = found->second;
  boost::system::error_code error;
  if (reply.error != 0) error = static_cast<errc>(reply.error);
  pending.too_fast = error == errc::limit;
  if (pending.too_fast && back_off(pending, reply)) return;
  if (reply.searching) return schedule(pending, core_.config.request_retry_interval);
  const bool busy = error == errc::busy;
  const bool nobody = error == errc::no_member;
  if ((busy || nobody) && looks_again(pending, busy)) return look_again(pending);
  finish(reply.id.sequence, busy ? errc::no_member : error, reply.member);
}

// It waits here, as long as somebody waits for it.
bool Anycasts::back_off(Pending& pending, const wire::AnycastReply& reply) {
  if (!core_.config.maintenance || reply.retry_after_ms == 0) return false;
  const Duration wait = std::chrono::milliseconds(reply.retry_after_ms);
  const Duration pause = core_.env.random().jittered(wait + wait / 8, 0.1);
  if (core_.now() + pause >= pending.search.deadline) return false;
  ++pending.looks;  // its search was not lost
  schedule(pending, pause);
  return true;
}

// Where a search was lost, the tree may be under repair.
bool Anycasts::looks_again(const Pending& pending, bool busy) const {
  if (!core_.config.maintenance) return false;
  const bool lost_one = pending.searches > pending.looks + 1;
  return lost_one || pending.search.patience == Patience::until_deadline ||
         (busy && pending.search.patience == Patience::while_busy);
}

void Anycasts::finish(std::uint64_t sequence, boost::system::error_code error, PeerRef member) {
  const auto found = state_->pending.find(sequence);
  Search& search = found->second.search;
  const AnycastOutcome outcome{error, search.message.id, member};
  core_.upcalls.call([done = std::move(search.done), outcome] { done(outcome); });
  forget(sequence);
}

void Anycasts::forget(std::uint64_t sequence) {
  if (!state_) return;
  const auto found = state_->pending.find(sequence);
  if (found == state_->pending.end()) return;
  state_->room.give_back(found->second.search.message.body.size());
  state_->timers.cancel(sequence);
  state_->pending.erase(found);
}

void Anycasts::tick() {
  if (!state_) return;
  for (const std::uint64_t sequence : state_->timers.take_due(core_.now())) {
    const auto found = state_->pending.find(sequence);
    if (found == state_->pending.end()) continue;
    Pending& pending = found->second;
    if (core_.now() < pending.search.deadline) {
      launch(pending);
    } else {
      const errc error = pending.looks > 0 ? errc::no_member : errc::timed_out;
      finish(sequence, pending.too_fast ? errc::limit : error, {});
    }
  }
}

void Anycasts::shut_down() {
  if (!state_) return;
  while (!state_->pending.empty()) {
    finish(state_->pending.begin()->first, errc::shutting_down, {});
  }
}

void Anycasts::collect_peers(std::vector<PeerRef>& in_use) const {
  if (!state_) return;
  for (const auto& [sequence, pending] : state_->pending) {
    const wire::Peers& passed_over = pending.search.message.passed_over;
    in_use.insert(in_use.end(), passed_over.begin(), passed_over.end());
  }
}

// --- On the way ---

bool Anycasts::is_late(const wire::Anycast& message) const {
  return message.within_ms != 0 && message.origin != core_.self &&
         core_.left_of(message.within_ms) == 0;
}

void Anycasts::visit(wire::Anycast message) {
  if (is_late(message)) {
    ++core_.counters.anycasts_late;
    return;
  }
  ++core_.counters.anycasts_handled;
  const Group* group = core_.find(message.group);
  if (group && !may_enter(message)) return;
  if (group && !core_.access.allows(group->list(), wire::Right::publish, message.group,
                                    message.origin, message.proof)) {
    ++core_.counters.publishes_denied;
    return reply(message, errc::denied, {});
  }
  if (!is_among(message.passed_over, core_.self)) {
    if (planted_bug != PlantedBug::anycast_retaken && state_ &&
        state_->taken.contains(message.id)) {
      rare<"anycasts: a message that was taken comes again">();
      ++core_.counters.anycasts_known;
      return reply(message, {}, core_.self);
    }
    const bool again = is_among(message.visited, core_.self);
    if (group && group->member && group->been_in_tree() && !again) {
      if (offer(message)) return reply(message, {}, core_.self);
      message.met_busy = true;
    }
  }
  const SearchStep step =
      next_step(message, core_.self, group ? group->parent() : PeerRef{},
                group ? nearest_first(*group) : wire::Peers{}, core_.config.anycast_visits_max);
  if (step.cut_short) ++core_.counters.anycasts_cut_short;
  if (!step.next) {
    // An earlier version does not expect the other error.
    const bool busy = message.met_busy && message.within_ms != 0;
    return reply(message, busy ? errc::busy : errc::no_member, {});
  }
  tell_progress(message);
  core_.send(step.next, std::move(message));
}

// Of a search that has seen nobody yet but its origin. Else that is told when to try
// again.
bool Anycasts::may_enter(const wire::Anycast& message) {
  const bool enters = std::ranges::all_of(
      message.visited, [&](PeerRef visited) { return visited == message.origin; });
  if (!enters || message.origin == core_.self) return true;
  const Duration wait =
      core_.access.wait_to_publish(message.origin, message.id, message.body.size());
  if (wait == Duration::zero()) return true;
  ++core_.counters.anycasts_over_rate;
  wire::AnycastReply refusal{message.id, static_cast<std::uint16_t>(errc::limit)};
  refusal.retry_after_ms =
      static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
  answer(message.origin, refusal);
  return false;
}

bool Anycasts::offer(const wire::Anycast& message) {
  if (core_.departing) return false;
  if (message.wants_reply && !replier_.has_room()) return false;
  if (!core_.events.anycast(message)) return false;
  ++core_.counters.anycasts_taken;
  ensure().taken.insert(message.id, core_.config.anycast_window);
  if (message.wants_reply) replier_.open(message);
  return true;
}

void Anycasts::tell_progress(const wire::Anycast& message) {
  const bool due = message.visited.size() % told_every == 0;
  if (!due || message.within_ms == 0 || message.origin == core_.self) return;
  wire::AnycastReply progress;
  progress.id = message.id;
  progress.searching = true;
  core_.send(message.origin, progress);
}

// Children of unknown distance last; ties in the order of adoption.
wire::Peers Anycasts::nearest_first(const Group& group) const {
  std::vector<std::pair<Duration, PeerRef>> children;
  for (const Child& child : group.children) {
    if (!group.may_get(child) || core_.pastry.suspected(child.peer)) continue;
    children.emplace_back(core_.pastry.round_trip(child.peer).value_or(Duration::max()),
                          child.peer);
  }
  std::ranges::stable_sort(children, {}, [](const auto& child) { return child.first; });
  wire::Peers peers;
  for (const auto& [distance, peer] : children) peers.push_back(peer);
  return peers;
}

void Anycasts::refuse_unknown(const wire::Anycast& message) { reply(message, errc::no_member, {}); }

void Anycasts::reply(const wire::Anycast& message, boost::system::error_code error,
                     PeerRef member) {
  answer(message.origin, {message.id, static_cast<std::uint16_t>(error.value()), member});
}

void Anycasts::answer(PeerRef origin, const wire::AnycastReply& reply) {
  if (origin == core_.self) {
    on_reply(reply);
  } else {
    core_.send(origin, reply);
  }
}

}  // namespace canopy::scribe
