#include "queue/removal.hpp"

#include "queue/keys.hpp"

namespace canopy::queue {

bool remove_message(State& state, Queue& queue, const command::MessagePlace& place, Millis time) {
  Counters& counters = queue.counters;
  queue.delayed.remove(place.at.time);
  state.catalogue.touch(queue);
  if (queue.fifo()) {
    const bool removed = queue.fifo_messages->remove(state.tx, place, time, counters);
    if (removed) --counters.messages;
    return removed;
  }
  queue.standard_messages->removed(place.at);
  if (place.at.sequence < counters.purged_before) return false;
  state.tx.erase_put_once_unread(keys::of(keys::message, queue.number(), place.at));
  if (counters.noted) state.tx.erase_unread(keys::of(keys::receive, queue.number(), place.at));
  if (--counters.messages == 0) {
    // Nothing is left that could have been received, or be in a group.
    counters.noted = false;
    counters.grouped = false;
  }
  return true;
}

void abandon_removal(State& state, Queue& queue, const command::MessagePlace& place) {
  if (queue.fifo()) {
    queue.fifo_messages->abandon_removal(place.at.sequence);
  } else {
    queue.standard_messages->abandon_removal(place.at, state.now);
  }
}

void put_back(State& state, Queue& queue, const std::vector<PickedMessage>& messages) {
  if (queue.fifo()) {
    reserve_groups(queue, messages);
    release_groups(queue, messages, true);
  } else {
    for (const PickedMessage& message : messages) {
      queue.standard_messages->abandon_removal(message.at, state.now);
    }
  }
  state.stir(queue.number());
}

}  // namespace canopy::queue
