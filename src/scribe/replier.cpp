#include "scribe/replier.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <canopy/error.hpp>

#include "scribe/asker.hpp"

namespace canopy::scribe {

namespace {

constexpr unsigned unanswered_max = 4;
constexpr int longest_check_pause = 8;  // heartbeat intervals

}  // namespace

Replier::State::State(const Config& config)
    : room(config.requests_max, config.requests_bytes_max) {}

Replier::State& Replier::ensure() {
  if (!state_) state_ = std::make_unique<State>(core_.config);
  return *state_;
}

Replier::Open* Replier::find(const wire::MessageId& id) {
  if (!state_) return nullptr;
  const auto found = state_->open.find(id);
  return found == state_->open.end() ? nullptr : &found->second;
}

// --- Having them ---

bool Replier::has_room() const {
  return !state_ || state_->open.size() < core_.config.requests_max;
}

void Replier::open(const wire::Anycast& request) {
  add(request.id, request.origin, request.within_ms, 1, false);
}

void Replier::open(const wire::Multicast& request, std::size_t replies) {
  const PeerRef asker = request.asking.asker;
  if (request.asking.within_ms == 0) return;  // it waits no longer
  if (replies != 0 && has_room()) {
    return add(request.id, asker, request.asking.within_ms, replies, true);
  }
  if (replies != 0) ++core_.counters.requests_refused;
  wire::Reply nothing;
  nothing.id = request.id;
  nothing.number = 1;
  nothing.kind = wire::ReplyKind::declined;
  nothing.last = true;
  ++core_.counters.replies_sent;
  tell(asker, nothing);
}

void Replier::add(const wire::MessageId& id, PeerRef asker, std::uint32_t within_ms,
                  std::size_t replies, bool shared) {
  State& state = ensure();
  const auto [entry, fresh] = state.open.try_emplace(id);
  if (!fresh) return;
  ++core_.counters.requests_had;
  Open& open = entry->second;
  open.asker = asker;
  open.deadline = core_.now() + std::chrono::milliseconds(within_ms);
  open.outstanding = replies;
  open.shared = shared;
  open.pause = core_.config.heartbeat_interval;
  schedule(id, open);
}

void Replier::schedule(const wire::MessageId& id, const Open& open) {
  if (!core_.config.maintenance) return;
  state_->timers.schedule(id, std::min(core_.now() + open.pause, open.deadline));
  core_.wake_at(state_->timers.next());
}

// --- Replying ---

void Replier::reply(const wire::MessageId& id, std::uint32_t status, Buffer body, Completion done) {
  Open* open = find(id);
  errc error{};
  if (!open || open->outstanding == 0) {
    error = errc::not_awaited;
  } else if (body.size() > core_.config.body_max) {
    error = errc::too_large;
  } else if (!state_->room.has_room_for(body.size())) {
    error = errc::queue_full;
  }
  if (error != errc{}) {
    return core_.upcalls.call([done = std::move(done), error] { done(error); });
  }
  wire::Reply reply;
  reply.id = id;
  reply.status = status;
  reply.body = std::move(body);
  send(*open, std::move(reply), std::move(done));
}

void Replier::decline(const wire::MessageId& id) {
  Open* open = find(id);
  if (!open || open->outstanding == 0) return;
  wire::Reply reply;
  reply.id = id;
  reply.kind = wire::ReplyKind::declined;
  send(*open, std::move(reply), {});
}

void Replier::send(Open& open, wire::Reply reply, Completion done) {
  --open.outstanding;
  reply.number = ++open.replies;
  reply.last = open.outstanding == 0;
  state_->room.take(reply.body.size());
  ++core_.counters.replies_sent;
  open.pause = core_.config.heartbeat_interval;
  const wire::MessageId id = reply.id;
  tell(open.asker, reply);
  open.unacked.emplace(reply.number, Unacked{std::move(reply), std::move(done)});
  schedule(id, open);
}

template <class Message>
void Replier::tell(PeerRef asker, const Message& message) {
  if (asker == core_.self) {
    core_.upcalls.call([this, message] { asker_.on(core_.self, message); });
  } else {
    core_.send(asker, message);
  }
}

// --- The asker's word ---

void Replier::on(PeerRef from, const wire::ReplyAck& ack) {
  Open* open = find(ack.id);
  if (!open || open->asker != from) return;
  open->unanswered = 0;
  if (ack.state == wire::AskerState::over) return close(ack.id, errc::not_awaited);
  acknowledged(*open, ack.number);
  if (open->outstanding == 0 && open->unacked.empty()) close(ack.id, {});
}

void Replier::acknowledged(Open& open, std::uint32_t number) {
  const auto found = open.unacked.find(number);
  if (found == open.unacked.end()) return;
  state_->room.give_back(found->second.message.body.size());
  if (auto done = std::move(found->second.done)) {
    core_.upcalls.call([done = std::move(done)] { done({}); });
  }
  open.unacked.erase(found);
}

void Replier::on(PeerRef from, const wire::RequestCancel& cancel) {
  const Open* open = find(cancel.id);
  if (open && open->asker == from) close(cancel.id, errc::not_awaited);
}

void Replier::close(const wire::MessageId& id, boost::system::error_code reason) {
  const auto found = state_->open.find(id);
  Open& open = found->second;
  for (auto& [number, unacked] : open.unacked) {
    state_->room.give_back(unacked.message.body.size());
    if (!unacked.done) continue;
    core_.upcalls.call([done = std::move(unacked.done), reason] { done(reason); });
  }
  if (open.outstanding != 0) {
    ++core_.counters.requests_over;
    core_.upcalls.call([this, id, reason] { core_.events.request_over(id, reason); });
  }
  state_->timers.cancel(id);
  state_->open.erase(found);
}

// --- Time ---

void Replier::ask_again(const wire::MessageId& id, Open& open) {
  ++open.unanswered;
  for (const auto& [number, unacked] : open.unacked) tell(open.asker, unacked.message);
  if (open.unacked.empty()) tell(open.asker, wire::RequestCheck{id});
  if (open.shared || !open.unacked.empty()) {
    open.pause = std::min(2 * open.pause, longest_check_pause * core_.config.heartbeat_interval);
  }
  schedule(id, open);
}

void Replier::tick() {
  if (!state_) return;
  for (const wire::MessageId& id : state_->timers.take_due(core_.now())) {
    Open* open = find(id);
    if (!open) continue;
    if (core_.now() >= open->deadline) {
      close(id, errc::timed_out);
    } else if (open->unanswered >= unanswered_max) {
      close(id, errc::unreachable);
    } else {
      ask_again(id, *open);
    }
  }
}

void Replier::peer_failed(PeerRef peer) {
  if (!state_) return;
  std::vector<wire::MessageId> vain;
  for (const auto& [id, open] : state_->open) {
    if (open.asker == peer) vain.push_back(id);
  }
  for (const wire::MessageId& id : vain) close(id, errc::unreachable);
}

void Replier::shut_down() {
  if (!state_) return;
  while (!state_->open.empty()) {
    const auto first = state_->open.begin();
    const wire::MessageId id = first->first;
    while (first->second.outstanding != 0) decline(id);
    close(id, errc::shutting_down);
  }
}

void Replier::collect_peers(std::vector<PeerRef>& in_use) const {
  if (!state_) return;
  for (const auto& [id, open] : state_->open) in_use.push_back(open.asker);
}

}  // namespace canopy::scribe
