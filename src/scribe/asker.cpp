#include "scribe/asker.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/anycast_search.hpp"
#include "scribe/anycasts.hpp"
#include "scribe/dissemination.hpp"
#include "scribe/group_name.hpp"
#include "scribe/replier.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t takers_max = 64;              // as the codec carries passed_over
constexpr std::size_t repliers_max = 65'536;        // peers that a request to all hears of
constexpr std::size_t replies_of_peer_max = 1'024;  // one for each of its subscribers
constexpr int silent_heartbeats_max = 4;

void add_peer(wire::Peers& peers, PeerRef peer) {
  if (!is_among(peers, peer)) peers.push_back(peer);
}

}  // namespace

Asker::State::State(const Config& config) : room(config.requests_max, config.requests_bytes_max) {}

Asker::State& Asker::ensure() {
  if (!state_) state_ = std::make_unique<State>(core_.config);
  return *state_;
}

Asker::Asked* Asker::find(const wire::MessageId& id) {
  const PeerDescriptor& self = core_.env.peers()[core_.self];
  if (!state_ || id.publisher != self.id || id.incarnation != self.incarnation) return nullptr;
  const auto found = state_->asked.find(id.sequence);
  return found == state_->asked.end() ? nullptr : &found->second;
}

Duration Asker::taker_patience() const {
  return silent_heartbeats_max * core_.config.heartbeat_interval;
}

// --- Asking ---

wire::MessageId Asker::start(const wire::GroupName& name, Buffer body, const RequestTerms& terms,
                             RequestCompletion done) {
  errc error = terms.to_all ? dissemination_.refusal(name, wire::AckMode::members, body)
                            : anycasts_.refusal(name, body);
  if (error == errc{} && !ensure().room.has_room_for(body.size())) error = errc::queue_full;
  if (error != errc{}) return refuse(error, std::move(done));
  Asked asked;
  asked.terms = terms;
  const Duration within =
      terms.within == Duration::zero() ? core_.config.reply_timeout : terms.within;
  asked.deadline = core_.now() + within;
  asked.message.body = body;
  if (terms.to_all) {
    ask_all(name, asked, std::move(body));
  } else {
    ask_one(name, asked);
  }
  ++core_.counters.requests;
  asked.done = std::move(done);
  state_->room.take(asked.message.body.size());
  const wire::MessageId id = asked.outcome.id;
  const auto [entry, fresh] = state_->asked.emplace(id.sequence, std::move(asked));
  CANOPY_ASSERT(fresh);
  schedule(id.sequence, entry->second);
  if (!terms.to_all) search(entry->second);
  return id;
}

wire::MessageId Asker::refuse(errc error, RequestCompletion done) {
  RequestOutcome outcome;
  outcome.error = error;
  core_.upcalls.call([done = std::move(done), outcome] { done(outcome); });
  return {};
}

void Asker::ask_one(const wire::GroupName& name, Asked& asked) {
  wire::Anycast& message = asked.message;
  message.group = group_id(name, core_.pastry.config().id_bits);
  message.id = asked.outcome.id = core_.next_message_id();
  message.origin = core_.self;
  message.wants_reply = true;
  message.proof = core_.access.prove(message.group, wire::Right::publish, asked.terms.key);
}

void Asker::search(Asked& asked) {
  const std::uint64_t sequence = asked.message.id.sequence;
  anycasts_.forget(sequence);
  // A process that was stopped hears that it has to search before it hears how late it is.
  if (core_.now() >= asked.deadline) return time_out(sequence, asked);
  // Where a member was lost, the tree may be under repair.
  const Patience patience = asked.lost ? Patience::until_deadline : asked.terms.patience;
  anycasts_.begin(
      {asked.message, asked.deadline, patience,
       [this, sequence](const AnycastOutcome& outcome) { searched(sequence, outcome); }});
}

void Asker::searched(std::uint64_t sequence, const AnycastOutcome& outcome) {
  const auto found = state_->asked.find(sequence);
  if (found == state_->asked.end()) return;
  Asked& asked = found->second;
  const bool given_up = !outcome.error && has_given_up(asked, outcome.member);
  if (!outcome.error && !given_up) return has_taken(sequence, asked, outcome.member);
  if (asked.taker) return;  // one has said so itself meanwhile
  // An earlier search has met one that has declined since.
  if (given_up) return search(asked);
  finish(sequence, asked.lost ? boost::system::error_code(errc::lost_member) : outcome.error);
}

bool Asker::has_given_up(const Asked& asked, PeerRef member) {
  return is_among(asked.message.passed_over, member);
}

void Asker::has_taken(std::uint64_t sequence, Asked& asked, PeerRef member) {
  if (!member) return finish(sequence, errc::protocol);
  anycasts_.forget(sequence);
  asked.taker = member;
  add_peer(asked.takers, member);
  asked.taker_lost_at = core_.now() + taker_patience();
  schedule(sequence, asked);
}

// The one who has it has declined, or is lost.
void Asker::move_on(std::uint64_t sequence, Asked& asked) {
  rare<"requests: the member that was asked is gone">();
  ++core_.counters.requests_moved;
  add_peer(asked.message.passed_over, asked.taker);
  asked.taker = {};
  asked.taker_lost_at = never;
  if (asked.message.passed_over.size() >= takers_max) return finish(sequence, errc::no_member);
  schedule(sequence, asked);
  search(asked);
}

void Asker::ask_all(const wire::GroupName& name, Asked& asked, Buffer body) {
  const Duration within = asked.deadline - core_.now();
  const auto sequence = std::make_shared<std::uint64_t>(0);
  asked.outcome.id = dissemination_.publish(
      name, wire::AckMode::members, std::move(body),
      [this, sequence](const PublishOutcome& outcome) { published(*sequence, outcome); },
      {.within = within, .key = asked.terms.key, .replies_until = asked.deadline});
  *sequence = asked.outcome.id.sequence;
}

void Asker::published(std::uint64_t sequence, const PublishOutcome& outcome) {
  if (!state_) return;
  const auto found = state_->asked.find(sequence);
  if (found == state_->asked.end()) return;
  Asked& asked = found->second;
  if (outcome.error) {
    // What came all the same is worth waiting for.
    if (asked.progress.empty() && outcome.error != errc::timed_out) finish(sequence, outcome.error);
    return;
  }
  asked.outcome.members = outcome.reach.members;
  asked.all_counted = outcome.reach.complete;
  judge(sequence);
}

// --- Replies ---

void Asker::on(PeerRef from, const wire::Reply& reply) {
  Asked* asked = find(reply.id);
  const bool waits = asked && take(*asked, from, reply);
  tell(from, wire::ReplyAck{reply.id, reply.number,
                            waits ? wire::AskerState::waits : wire::AskerState::over});
  if (!waits) {
    ++core_.counters.replies_late;
  } else if (!asked->terms.to_all && reply.kind == wire::ReplyKind::declined) {
    if (from == asked->taker) move_on(reply.id.sequence, *asked);
  } else {
    judge(reply.id.sequence);
  }
}

// Whether it counts; so does one that has come before.
bool Asker::take(Asked& asked, PeerRef from, const wire::Reply& reply) {
  const auto known = asked.progress.find(from);
  if (known == asked.progress.end() && asked.progress.size() >= repliers_max) return false;
  Progress& progress = known == asked.progress.end() ? asked.progress[from] : known->second;
  if (progress.had.size() >= replies_of_peer_max) return false;
  if (!progress.had.insert(reply.number).second) return true;
  const bool finished_before = progress.finished();
  if (reply.last) progress.last = reply.number;
  if (progress.finished() && !finished_before) ++asked.finished;
  if (reply.kind == wire::ReplyKind::declined) {
    ++asked.outcome.declined;
    wire::Peers& passed_over = asked.message.passed_over;
    if (!asked.terms.to_all && passed_over.size() < takers_max) add_peer(passed_over, from);
    return true;
  }
  ++core_.counters.replies_received;
  auto& replies = asked.outcome.replies;
  if (replies.size() >= asked.terms.replies_max ||
      asked.bytes + reply.body.size() > asked.terms.bytes_max) {
    ++asked.outcome.dropped;
    ++core_.counters.replies_dropped;
    return true;
  }
  asked.bytes += reply.body.size();
  replies.push_back({from, reply.status, reply.body});
  if (reply.status == 0) ++asked.good;
  return true;
}

void Asker::on(PeerRef from, const wire::RequestCheck& check) {
  Asked* asked = find(check.id);
  tell(from, wire::ReplyAck{check.id, 0, asked ? wire::AskerState::waits : wire::AskerState::over});
  if (!asked || asked->terms.to_all) return;
  if (asked->takers.size() < takers_max) add_peer(asked->takers, from);
  if (!asked->taker && !has_given_up(*asked, from)) {
    // Its word that it has taken the request got lost.
    has_taken(check.id.sequence, *asked, from);
  } else if (asked->taker == from) {
    asked->taker_lost_at = core_.now() + taker_patience();
    schedule(check.id.sequence, *asked);
  }
}

bool Asker::enough(const Asked& asked) const {
  if (!asked.terms.to_all) return !asked.outcome.replies.empty();
  return asked.terms.replies != 0 && asked.good >= asked.terms.replies;
}

void Asker::judge(std::uint64_t sequence) {
  Asked& asked = state_->asked.at(sequence);
  const bool all_have_spoken =
      asked.all_counted && asked.finished >= asked.outcome.members.value_or(0);
  asked.outcome.complete = all_have_spoken;
  if (enough(asked)) return finish(sequence, {});
  // It has replied: to another member the request would only be a second time's work.
  if (!asked.terms.to_all && asked.outcome.dropped != 0) return finish(sequence, errc::too_large);
  if (!all_have_spoken) return;
  const bool none = asked.outcome.replies.empty() && asked.outcome.dropped == 0;
  finish(sequence, none ? boost::system::error_code(errc::no_member) : boost::system::error_code());
}

// --- The end ---

void Asker::finish(std::uint64_t sequence, boost::system::error_code error) {
  const auto found = state_->asked.find(sequence);
  Asked& asked = found->second;
  asked.outcome.error = error;
  auto tell_end = [done = std::move(asked.done), outcome = asked.outcome] { done(outcome); };
  // Before it is told: a member of this node knows it, then, when the asker does.
  forget(sequence, error || asked.terms.to_all ? PeerRef{} : asked.outcome.replies.front().from);
  core_.upcalls.call(std::move(tell_end));
}

void Asker::time_out(std::uint64_t sequence, const Asked& asked) {
  const bool waits_for_all = asked.terms.to_all && asked.terms.replies == 0;
  if (waits_for_all && !asked.outcome.replies.empty()) return finish(sequence, {});
  finish(sequence, asked.lost && !asked.taker ? errc::lost_member : errc::timed_out);
}

void Asker::cancel(const wire::MessageId& id) {
  if (find(id)) forget(id.sequence, {});
}

// Who else may have it need not go on.
void Asker::forget(std::uint64_t sequence, PeerRef replied) {
  const auto found = state_->asked.find(sequence);
  const Asked& asked = found->second;
  if (!asked.terms.to_all) anycasts_.forget(sequence);
  for (const PeerRef taker : asked.takers) {
    if (taker != replied) tell(taker, wire::RequestCancel{asked.outcome.id});
  }
  state_->room.give_back(asked.message.body.size());
  state_->timers.cancel(sequence);
  state_->asked.erase(found);
}

template <class Message>
void Asker::tell(PeerRef replier, const Message& message) {
  if (replier == core_.self) {
    replier_.on(core_.self, message);  // which never calls back at once
  } else {
    core_.send(replier, message);
  }
}

void Asker::shut_down() {
  if (!state_) return;
  while (!state_->asked.empty()) finish(state_->asked.begin()->first, errc::shutting_down);
}

// --- Time and failures ---

void Asker::schedule(std::uint64_t sequence, const Asked& asked) {
  if (!core_.config.maintenance) return;
  state_->timers.schedule(sequence, std::min(asked.deadline, asked.taker_lost_at));
  core_.wake_at(state_->timers.next());
}

void Asker::tick() {
  if (!state_) return;
  for (const std::uint64_t sequence : state_->timers.take_due(core_.now())) {
    const auto found = state_->asked.find(sequence);
    if (found == state_->asked.end()) continue;
    Asked& asked = found->second;
    if (core_.now() < asked.deadline) {
      if (asked.taker_lost_at > core_.now()) {
        schedule(sequence, asked);
        continue;
      }
      asked.lost = true;
      move_on(sequence, asked);
    } else {
      time_out(sequence, asked);
    }
  }
}

void Asker::peer_failed(PeerRef peer) {
  if (!state_) return;
  std::vector<std::uint64_t> lost;
  for (const auto& [sequence, asked] : state_->asked) {
    if (asked.taker == peer) lost.push_back(sequence);
  }
  for (const std::uint64_t sequence : lost) {
    Asked& asked = state_->asked.at(sequence);
    asked.lost = true;
    move_on(sequence, asked);
  }
}

void Asker::unreachable(PeerRef peer) {
  if (!state_ || peer == core_.self) return;
  const bool has_one = std::ranges::any_of(
      state_->asked, [peer](const auto& entry) { return entry.second.taker == peer; });
  if (has_one) core_.pastry.suspect(peer);
}

void Asker::collect_peers(std::vector<PeerRef>& in_use) const {
  if (!state_) return;
  for (const auto& [sequence, asked] : state_->asked) {
    in_use.insert(in_use.end(), asked.takers.begin(), asked.takers.end());
    const wire::Peers& passed_over = asked.message.passed_over;
    in_use.insert(in_use.end(), passed_over.begin(), passed_over.end());
    for (const auto& [peer, progress] : asked.progress) in_use.push_back(peer);
  }
}

}  // namespace canopy::scribe
