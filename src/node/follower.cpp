#include "node/follower.hpp"

#include <utility>

namespace canopy::node {

namespace {

Gap to_gap(const scribe::Missed& missed) { return {missed.epoch, missed.first, missed.last}; }

}  // namespace

void Follower::multicast(const wire::Multicast& multicast, const Message& message,
                         const scribe::OrderHistory* history, const Translate& translate) {
  if (multicast.epoch == 0) return subscription_->push(message);
  const wire::Position position{multicast.epoch, multicast.sequence};
  const wire::Position before{multicast.epoch, multicast.sequence - 1};
  if (is_over(history)) tell_rest();
  if (!position_) position_ = before;
  if (position <= position_) return;
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
  if (!position_) return;
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
    const bool for_users =
        multicast && !history->is_repeated(position) && translate(*multicast, message);
    if (for_users && !subscription_->offer(std::move(message))) return;
    position_ = position;
  }
  behind_ = false;
}

void Follower::detach(boost::system::error_code reason) {
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
