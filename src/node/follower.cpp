#include "node/follower.hpp"

#include <algorithm>
#include <utility>

namespace canopy::node {

namespace {

// Behind these nobody waits for a last message any more.
constexpr std::size_t held_messages_max = 256;
constexpr std::size_t held_bytes_max = std::size_t{1} << 20;

Gap to_gap(const scribe::Missed& missed) { return {missed.epoch, missed.first, missed.last}; }

}  // namespace

void Follower::multicast(const wire::Multicast& multicast, const Message& message,
                         const scribe::OrderHistory* history, const Translate& translate) {
  if (multicast.epoch == 0) return held_ ? hold(message) : subscription_->push(message);
  const wire::Position position{multicast.epoch, multicast.sequence};
  const wire::Position before{multicast.epoch, multicast.sequence - 1};
  if (is_over(history)) tell_rest();
  if (!position_) position_ = before;
  if (held_ || position <= position_) return;
  if (position_ == before && !behind_ && subscription_->offer(message)) {
    position_ = position;
  } else {
    catch_up(history, translate);
  }
}

void Follower::gap(const scribe::Missed& missed, const scribe::OrderHistory* history,
                   const Translate& translate) {
  if (!position_) return subscription_->push(to_gap(missed));
  catch_up(history, translate);
}

void Follower::catch_up(const scribe::OrderHistory* history, const Translate& translate) {
  if (is_over(history)) return tell_rest();
  if (!position_ || held_) return;
  behind_ = true;
  if (!history->covers(position_)) {
    if (!subscription_->has_room()) return;
    const auto missed = scribe::missed_by(wire::LostUpTo{{}, history->base()}, position_);
    subscription_->miss(to_gap(*missed));
    position_ = history->base();
  }
  while (const scribe::OrderItem* item = history->next_after(position_)) {
    if (!subscription_->has_room()) return;
    if (const auto missed = scribe::missed_by(*item, position_)) {
      subscription_->push(to_gap(*missed));
    }
    const auto* multicast = std::get_if<wire::Multicast>(item);
    const wire::Position position = scribe::position_of(*item);
    Message message;
    const scribe::Withheld withheld = history->withheld(position);
    if (withheld == scribe::Withheld::overtaken) {
      subscription_->push(Gap{position.epoch, position.sequence, position.sequence});
    }
    const bool for_users =
        multicast && withheld == scribe::Withheld::no && translate(*multicast, message);
    if (for_users && !subscription_->offer(std::move(message))) return;
    position_ = position;
  }
  behind_ = false;
}

// --- The last message before it ---

void Follower::await_last() { held_ = std::make_unique<Held>(); }

void Follower::hold(const Message& message) {
  held_->bytes += message.payload.size();
  held_->messages.push_back(message);
  const bool full = held_->messages.size() >= held_messages_max || held_->bytes >= held_bytes_max;
  if (full) release();
}

void Follower::last(const std::optional<Message>& message, const scribe::OrderHistory* history,
                    const Translate& translate) {
  if (!held_) return;
  if (!history) return release(message, !message);
  if (!position_) position_ = history->end();
  // Else it comes by itself.
  const wire::Position place =
      message ? wire::Position{message->epoch, message->position} : wire::Position{};
  if (place <= position_) release(message, !message);
  held_.reset();
  catch_up(history, translate);
}

void Follower::no_last_known(const scribe::OrderHistory* history, const Translate& translate) {
  if (!held_) return;
  if (history && !position_) position_ = history->end();
  release();
  if (history) catch_up(history, translate);
}

void Follower::release(const std::optional<Message>& last, bool none) {
  const auto held = std::exchange(held_, nullptr);
  const bool among_them =
      last && std::ranges::find(held->messages, last->id, &Message::id) != held->messages.end();
  if (last && !among_them) subscription_->push(*last);
  if (none && held->messages.empty()) subscription_->push(NoLast{});
  for (Message& message : held->messages) subscription_->push(std::move(message));
}

void Follower::detach(boost::system::error_code reason) {
  if (held_) release();
  if (behind_) tell_rest();
  subscription_->detach(reason);
}

// Whether the order that it follows has ended: there is none now, or another that
// has not got as far.
bool Follower::is_over(const scribe::OrderHistory* history) const {
  return position_ && (!history || position_ > history->end());
}

// What it has not been told nobody will.
void Follower::tell_rest() {
  subscription_->miss({position_.epoch, position_.sequence + 1, 0});
  position_ = {};
  behind_ = false;
}

}  // namespace canopy::node
