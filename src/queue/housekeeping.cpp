#include "queue/housekeeping.hpp"

#include <algorithm>
#include <limits>

#include "queue/bytes.hpp"
#include "queue/deduplication.hpp"
#include "queue/keys.hpp"
#include "queue/message_record.hpp"
#include "queue/removal.hpp"

namespace canopy::queue {

namespace {

constexpr std::size_t queues_max = 64;     // of one tick
constexpr std::size_t messages_max = 512;  // of one sweep
constexpr std::size_t lanes_max = 1'024;   // likewise
// Between two sweeps of one queue that found all there was.
constexpr Millis interval_min = second_ms;
constexpr Millis fifo_interval_max = 3'600 * second_ms;

}  // namespace

void Housekeeping::tick() {
  if (state_.now < state_.next_housekeeping) return;
  const std::string first = keys::of(keys::housekeeping);
  const auto cursor = state_.reader.range(first, keys::after(first));
  state_.next_housekeeping = std::numeric_limits<Millis>::max();
  for (std::size_t queues = 0; cursor->valid(); cursor->next()) {
    ByteReader in(cursor->key().substr(1));
    const auto due = static_cast<Millis>(in.u64());
    if (due > state_.now) {
      state_.next_housekeeping = due;
      break;
    }
    if (queues == queues_max) {
      state_.next_housekeeping = state_.now;
      break;
    }
    Queue* queue = state_.find(in.u64());
    if (queue == nullptr || queue->being_swept) continue;
    ++queues;
    sweep(*queue);
  }
  check(*cursor);
}

Housekeeping::Found Housekeeping::look_standard(Queue& queue) const {
  const Millis limit = state_.now - queue.settings.retention_ms;
  Found found;
  Position from{queue.swept_lane, 0, 0};
  if (from.lane == 0) from = queue.head();
  queue.swept_lane = 0;
  const std::string end = keys::after(keys::of(keys::message, queue.number()));
  for (std::size_t lanes = 0; found.expired.size() < messages_max; ++lanes) {
    if (lanes == lanes_max) {
      queue.swept_lane = from.lane;
      found.oldest_kept = 1;  // of the lanes that were not looked at: soon
      break;
    }
    if (!look_lane(queue, from, end, limit, found)) break;
  }
  found.all = found.expired.size() < messages_max;
  return found;
}

// From a position to the first message of its lane that is not expired; then
// `from` is the next lane. False: there is no other.
bool Housekeeping::look_lane(const Queue& queue, Position& from, const std::string& end,
                             Millis limit, Found& found) const {
  const auto cursor = state_.reader.range(keys::of(keys::message, queue.number(), from), end);
  for (; cursor->valid() && found.expired.size() < messages_max; cursor->next()) {
    const Position at = keys::position_of(cursor->key());
    const auto times = times_of(cursor->value());
    if (!times) damaged("message");
    if (times->sent <= limit) {
      if (!queue.standard_messages->is_removing(at)) found.expired.push_back({at, {}});
      continue;
    }
    found.oldest_kept = std::min(found.oldest_kept == 0 ? at.time : found.oldest_kept, at.time);
    // The rest of the lane is younger.
    from = {at.lane + 1, 0, 0};
    return at.lane != std::numeric_limits<std::uint64_t>::max();
  }
  check(*cursor);
  return false;
}

Housekeeping::Found Housekeeping::look_fifo(Queue& queue) const {
  const Millis limit = state_.now - queue.settings.retention_ms;
  Found found;
  const auto heads = queue.fifo_messages->heads(state_.reader, queue.swept_upto, messages_max);
  for (const auto& head : heads) {
    if (head.sent > limit) {
      found.oldest_kept =
          std::min(found.oldest_kept == 0 ? head.sent : found.oldest_kept, head.sent);
    } else if (!queue.fifo_messages->is_reserved(head.group)) {
      found.expired.push_back({{0, head.sent, head.sequence}, head.group});
    }
  }
  const bool last = heads.size() < messages_max;
  queue.swept_upto = last ? std::string() : heads.back().group;
  // What follows an expired head may be expired as well.
  found.all = last && found.expired.empty();
  return found;
}

void Housekeeping::sweep(Queue& queue) {
  queue.being_swept = true;
  Found found = queue.fifo() ? look_fifo(queue) : look_standard(queue);
  const Millis now = state_.now;
  const Millis window = state_.config.limits.deduplication_ms;
  const Millis ids = queue.counters.deduplicated_at;
  command::Housekeeping done{queue.number(), 0, 0};
  if (ids != 0) done.forget_before = now - window;
  const auto wake = [&done](Millis at) {
    done.next = done.next == 0 ? at : std::min(done.next, at);
  };
  if (!found.all) {
    wake(now);
  } else if (found.oldest_kept != 0) {
    Millis at = std::max(found.oldest_kept + queue.settings.retention_ms, now + interval_min);
    // Groups are looked at by their heads alone.
    if (queue.fifo()) at = std::min(at, now + fifo_interval_max);
    wake(at);
  }
  if (ids + window > now) wake(now + window);
  if (!found.expired.empty()) {
    for (const auto& place : found.expired) {
      if (queue.fifo()) {
        queue.fifo_messages->begin_removal(place.at.sequence);
      } else {
        queue.standard_messages->begin_removal(place.at);
        queue.standard_messages->skip_to(place.at);
      }
    }
    if (queue.fifo()) reserve_groups(queue, found.expired);
    state_.emit(command::Remove{queue.number(), state_.safe_head(queue), std::move(found.expired)});
  }
  state_.emit(done);
}

void Housekeeping::apply(const Command& command, const command::Housekeeping& done) {
  Queue* queue = state_.find(done.queue);
  if (queue == nullptr) return;
  queue->being_swept = false;
  if (done.forget_before > 0) {
    const Deduplication ids(done.queue, state_.config.limits.deduplication_ms);
    ids.forget_before(state_.tx, done.forget_before);
    if (queue->counters.deduplicated_at <= done.forget_before) queue->counters.deduplicated_at = 0;
  }
  // What came in the meantime found housekeeping scheduled, and relies on it.
  Millis next = done.next;
  const bool in_use = queue->counters.messages > 0 || queue->counters.deduplicated_at != 0;
  if (next == 0 && in_use) next = command.time + interval_min;
  state_.schedule(*queue, next);
}

void Housekeeping::abandon(const command::Housekeeping& done) {
  Queue* queue = state_.find(done.queue);
  if (queue == nullptr) return;
  queue->being_swept = false;
  state_.next_housekeeping = 0;
}

}  // namespace canopy::queue
