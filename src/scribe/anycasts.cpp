#include "scribe/anycasts.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

#include "scribe/anycast_search.hpp"
#include "scribe/group_name.hpp"

namespace canopy::scribe {

void Anycasts::start(const wire::GroupName& name, Buffer body, AnycastCompletion done,
                     const TokenKey& key) {
  const auto fail_with = [&](errc error) {
    core_.upcalls.call([done = std::move(done), error] { done(error, {}); });
  };
  if (core_.departing) return fail_with(errc::shutting_down);
  if (!core_.pastry.active()) return fail_with(errc::not_active);
  if (!valid_name(name)) return fail_with(errc::bad_name);
  if (body.size() > core_.config.body_max) return fail_with(errc::too_large);
  if (pending_.size() >= core_.config.pending_publishes_max) return fail_with(errc::queue_full);

  wire::Anycast message;
  message.group = group_id(name, core_.pastry.config().id_bits);
  message.id = core_.next_message_id();
  message.origin = core_.self;
  message.body = std::move(body);
  message.proof = core_.access.prove(message.group, wire::Right::publish, key);
  pending_.emplace(message.id.sequence, std::move(done));
  if (core_.config.maintenance) {
    timers_.schedule(message.id.sequence, core_.now() + core_.config.request_timeout);
    core_.wake_at(timers_.next());
  }
  if (const Group* group = core_.find(message.group); group && group->in_tree()) {
    // Later, because the member that is asked first may be this node's own.
    core_.upcalls.call([this, message = std::move(message)] { visit(message); });
  } else {
    core_.pastry.route(message.group, message);
  }
}

void Anycasts::visit(wire::Anycast message) {
  ++core_.counters.anycasts_handled;
  const bool again = std::ranges::find(message.visited, core_.self) != message.visited.end();
  const Group* group = core_.find(message.group);
  if (group && !core_.access.allows(group->list(), wire::Right::publish, message.group,
                                    message.origin, message.proof)) {
    ++core_.counters.publishes_denied;
    return reply(message, errc::denied, {});
  }
  if (group && group->member && !again && core_.events.anycast(message)) {
    return reply(message, {}, core_.self);
  }
  const SearchStep step =
      next_step(message, core_.self, group ? group->parent() : PeerRef{},
                group ? nearest_first(*group) : wire::Peers{}, core_.config.anycast_visits_max);
  if (step.cut_short) ++core_.counters.anycasts_cut_short;
  if (!step.next) return reply(message, errc::no_member, {});
  core_.send(step.next, std::move(message));
}

// Children of unknown distance last; ties in the order of adoption.
wire::Peers Anycasts::nearest_first(const Group& group) const {
  std::vector<std::pair<Duration, PeerRef>> children;
  for (const Child& child : group.children) {
    if (core_.pastry.suspected(child.peer)) continue;
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
  const wire::AnycastReply answer{message.id, static_cast<std::uint16_t>(error.value()), member};
  if (message.origin == core_.self) {
    on_reply(answer);
  } else {
    core_.send(message.origin, answer);
  }
}

void Anycasts::on_reply(const wire::AnycastReply& reply) {
  const PeerDescriptor& self = core_.env.peers()[core_.self];
  if (reply.id.publisher != self.id || reply.id.incarnation != self.incarnation) return;
  const auto found = pending_.find(reply.id.sequence);
  if (found == pending_.end()) return;
  boost::system::error_code error;
  if (reply.error != 0) error = static_cast<errc>(reply.error);
  core_.upcalls.call(
      [done = std::move(found->second), error, member = reply.member] { done(error, member); });
  timers_.cancel(reply.id.sequence);
  pending_.erase(found);
}

void Anycasts::tick() {
  for (const std::uint64_t sequence : timers_.take_due(core_.now())) {
    const auto found = pending_.find(sequence);
    core_.upcalls.call([done = std::move(found->second)] { done(errc::timed_out, {}); });
    pending_.erase(found);
  }
}

void Anycasts::shut_down() {
  for (auto& [sequence, done] : pending_) {
    core_.upcalls.call([done = std::move(done)] { done(errc::shutting_down, {}); });
    timers_.cancel(sequence);
  }
  pending_.clear();
}

}  // namespace canopy::scribe
