#include "queue/standard_messages.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "queue/bytes.hpp"
#include "queue/keys.hpp"
#include "queue/message_record.hpp"
#include "queue/transaction.hpp"

namespace canopy::queue {

StandardMessages::StandardMessages(QueueNumber queue, const Limits& limits, const Position& head,
                                   bool grouped, bool noted)
    : queue_(queue),
      limits_(limits),
      noted_(noted),
      lanes_missing_(grouped),
      unread_lane_{1, 0, 0} {
  lanes_.emplace(0, make_lane(head));
  turns_.push_back(0);
}

ReadyList StandardMessages::make_lane(const Position& start) const {
  return {keys::message, queue_, start, limits_.ready_max, limits_.ready_bytes_max};
}

// --- What commands did. ---

void StandardMessages::added(const Position& at, const Buffer& record) {
  const auto found = lanes_.find(at.lane);
  if (found != lanes_.end()) return found->second.added(at, record);
  // Every lane that is not known has no other message, unless some are missing.
  if (lanes_missing_ || lanes_.size() >= limits_.lanes_max) {
    unread_lane_.lane = lanes_missing_ ? std::min(unread_lane_.lane, at.lane) : at.lane;
    lanes_missing_ = true;
    return;
  }
  lanes_.emplace(at.lane, make_lane(at));
  turns_.push_back(at.lane);
}

void StandardMessages::removed(const Position& at) {
  const auto flight = flights_.find(at);
  if (flight != flights_.end()) {
    leave_state(*flight);
    unnoted_.erase(at);
    flights_.erase(flight);
    return;
  }
  const auto found = lanes_.find(at.lane);
  if (found != lanes_.end()) found->second.removed(at);
}

void StandardMessages::purged() {
  flights_.clear();
  in_flight_.clear();
  returned_.clear();
  unnoted_.clear();
  for (auto& [number, list] : lanes_) list.cleared();
  lanes_missing_ = false;
}

// --- States. ---

void StandardMessages::leave_state(const Flights::value_type& flight) {
  const auto& [at, state] = flight;
  if (state.state == State::in_flight) in_flight_.erase({state.since, at});
  if (state.state == State::returned) returned_.erase({state.since, at});
}

void StandardMessages::become(Flights::iterator flight, State state, Millis since) {
  leave_state(*flight);
  flight->second.state = state;
  flight->second.since = since;
  if (state == State::in_flight) in_flight_.emplace(since, flight->first);
  if (state == State::removing) unnoted_.erase(flight->first);
  if (state == State::returned) {
    returned_.emplace(since, flight->first);
    if (flight->second.count != flight->second.count_noted) unnoted_.insert(flight->first);
  }
}

void StandardMessages::return_expired(Millis now) {
  while (!in_flight_.empty() && in_flight_.begin()->first <= now) {
    const auto [since, at] = *in_flight_.begin();
    become(flights_.find(at), State::returned, since);
  }
}

std::size_t StandardMessages::in_flight(Millis now) {
  return_expired(now);
  return in_flight_.size();
}

std::optional<Millis> StandardMessages::next_available(Millis now) {
  return_expired(now);
  if (!returned_.empty() || lanes_missing_) return 0;
  std::optional<Millis> first;
  const auto consider = [&first](Millis time) { first = std::min(first.value_or(time), time); };
  if (!in_flight_.empty()) consider(in_flight_.begin()->first);
  for (const auto& [number, list] : lanes_) {
    if (const auto due = list.next_due()) consider(*due);
  }
  return first;
}

Position StandardMessages::head() const {
  const Position low = lanes_.at(0).low();
  const bool taken = !flights_.empty() && flights_.begin()->first.lane == 0;
  return taken ? std::min(low, flights_.begin()->first) : low;
}

// --- Receiving. ---

// Jumps from lane to lane in the store, as many as may be kept.
void StandardMessages::find_lanes(const store::Reader& reader) {
  const std::string end = keys::after(keys::of(keys::message, queue_));
  while (lanes_missing_ && lanes_.size() < limits_.lanes_max) {
    const auto cursor = reader.range(keys::of(keys::message, queue_, unread_lane_), end);
    check(*cursor);
    if (!cursor->valid()) {
      lanes_missing_ = false;
      return;
    }
    const Position at = keys::position_of(cursor->key());
    if (lanes_.try_emplace(at.lane, make_lane({at.lane, 0, 0})).second) turns_.push_back(at.lane);
    lanes_missing_ = at.lane != std::numeric_limits<std::uint64_t>::max();
    unread_lane_ = {at.lane + 1, 0, 0};
  }
}

std::optional<ReadyList::Item> StandardMessages::next_ready(const store::Reader& reader,
                                                            Millis now) {
  const auto taken = [this](const Position& at, std::string_view) { return is_taken(at); };
  bool made_room = true;
  while (made_room) {
    if (lanes_missing_) find_lanes(reader);
    made_room = false;
    for (std::size_t tried = turns_.size(); tried > 0; --tried) {
      const std::uint64_t number = turns_.front();
      turns_.pop_front();
      ReadyList& list = lanes_.at(number);
      const bool found = list.front(reader, now, taken) != nullptr;
      if (!found && number != 0 && list.drained()) {
        lanes_.erase(number);
        made_room = lanes_missing_;
        continue;
      }
      turns_.push_back(number);
      if (found) return list.take();
    }
  }
  return std::nullopt;
}

std::optional<ReadyList::Item> StandardMessages::next_returned(const store::Reader& reader) {
  while (!returned_.empty()) {
    const Position at = returned_.begin()->second;
    const auto record = read(reader, keys::of(keys::message, queue_, at));
    if (record) return ReadyList::Item{at, Buffer::copy_of(*record)};
    removed(at);
  }
  return std::nullopt;
}

StandardMessages::Flight StandardMessages::known_receives(const store::Reader& reader,
                                                          const Position& at,
                                                          Millis first_received) {
  Flight flight;
  flight.first_received = first_received;
  if (!noted_) return flight;
  if (const auto note = read(reader, keys::of(keys::receive, queue_, at))) {
    ByteReader in(*note);
    flight.count = flight.count_noted = static_cast<std::uint32_t>(in.varint());
    flight.first_received = in.zigzag();
  }
  return flight;
}

// Gives it, or finds that it is dead or too old.
void StandardMessages::judge(const store::Reader& reader, ReadyList::Item item,
                             const PickRules& rules, std::uint64_t& receive, Pick& pick) {
  const auto times = times_of(item.value.view());
  if (!times) damaged("message");
  auto [flight, first_time] = flights_.try_emplace(item.at);
  if (first_time) flight->second = known_receives(reader, item.at, times->first_received);
  Flight& state = flight->second;
  // A flight that is new is in no index; its state says so.
  if (first_time) state.state = State::removing;
  if (times->sent + rules.retention <= rules.now) {
    become(flight, State::removing, 0);
    pick.expired.push_back({item.at, {}});
    return;
  }
  const bool dead = rules.receives_max > 0 && state.count >= rules.receives_max;
  if (dead || rules.for_move) {
    become(flight, State::removing, 0);
    auto& into = dead && !rules.for_move ? pick.dead : pick.given;
    pick.moved_bytes += item.value.size();
    into.push_back({item.at, {}, std::move(item.value), 0, state.count, state.first_received});
    return;
  }
  ++state.count;
  if (state.first_received == 0) state.first_received = rules.now;
  state.received_at = rules.now;
  state.receive = ++receive;
  become(flight, State::in_flight, rules.visible_at);
  if (rules.visible_at <= rules.now) become(flight, State::returned, rules.visible_at);
  pick.given.push_back(
      {item.at, {}, std::move(item.value), state.receive, state.count, state.first_received});
}

Pick StandardMessages::pick(const store::Reader& reader, const PickRules& rules,
                            std::uint64_t& receive) {
  return_expired(rules.now);
  Pick pick;
  // With a visibility timeout of nothing messages come back at once, but to the next receive.
  const std::uint64_t before = receive;
  constexpr std::size_t refused_max = 100;
  while (pick.given.size() < rules.messages_max &&
         pick.dead.size() + pick.expired.size() < refused_max &&
         pick.moved_bytes < limits_.move_bytes_max) {
    if (!rules.for_move && in_flight_.size() >= limits_.in_flight_max) {
      pick.over_limit = true;
      break;
    }
    const bool again = !rules.for_move && !returned_.empty() &&
                       flights_.at(returned_.begin()->second).receive > before;
    auto item = again ? std::nullopt : next_returned(reader);
    if (!item) item = next_ready(reader, rules.now);
    if (!item) break;
    judge(reader, std::move(*item), rules, receive, pick);
  }
  return pick;
}

std::vector<PickedMessage> StandardMessages::peek(const store::Reader& reader,
                                                  const PeekRules& rules) {
  return_expired(rules.now);
  std::vector<PickedMessage> seen;
  std::size_t bytes = 0;
  const auto cursor = reader.range(keys::of(keys::message, queue_, head()),
                                   keys::after(keys::of(keys::message, queue_)));
  for (std::size_t steps = 0; cursor->valid() && rules.go_on(seen.size(), bytes, steps);
       cursor->next(), ++steps) {
    const Position at = keys::position_of(cursor->key());
    const auto flight = flights_.find(at);
    const bool known_here = flight != flights_.end();
    if (known_here && flight->second.state == State::removing) continue;
    const bool in_flight = known_here && flight->second.state == State::in_flight;
    const bool delayed = at.time > rules.now;
    if ((in_flight && !rules.invisible) || (delayed && !rules.delayed)) continue;
    const Buffer record = Buffer::copy_of(cursor->value());
    const Flight known = known_here ? flight->second : known_receives(reader, at, 0);
    seen.push_back({at, {}, record, 0, known.count, known.first_received, in_flight, delayed});
    bytes += record.size();
  }
  check(*cursor);
  return seen;
}

// --- Receipt handles. ---

HandleState StandardMessages::state_of(const store::Reader& reader, const ReceiptHandle& handle,
                                       std::uint64_t term, Millis now) {
  return_expired(now);
  const auto found = flights_.find(handle.at);
  if (found == flights_.end()) {
    // Received in this term and not in flight: it was deleted since.
    if (handle.term == term) return HandleState::gone;
    const bool there = read(reader, keys::of(keys::message, queue_, handle.at)).has_value();
    return there ? HandleState::expired : HandleState::gone;
  }
  const Flight& flight = found->second;
  if (flight.state == State::removing) return HandleState::leaving;
  // Known for other reasons than a receive of this term.
  if (flight.receive == 0 && handle.term != term) return HandleState::expired;
  if (handle.term != term || flight.receive != handle.receive) return HandleState::stale;
  return flight.state == State::in_flight ? HandleState::current : HandleState::expired;
}

void StandardMessages::begin_removal(const Position& at) {
  const auto [flight, added] = flights_.try_emplace(at);
  if (added) flight->second.state = State::removing;
  become(flight, State::removing, 0);
  const auto found = lanes_.find(at.lane);
  if (found != lanes_.end()) found->second.removed(at);
}

void StandardMessages::skip_to(const Position& at) {
  const auto found = lanes_.find(at.lane);
  if (found != lanes_.end()) found->second.skip_to(at);
}

void StandardMessages::abandon_removal(const Position& at, Millis now) {
  const auto flight = flights_.find(at);
  if (flight != flights_.end()) become(flight, State::returned, now);
}

bool StandardMessages::set_visibility(const Position& at, Millis visible_at, Millis now) {
  const auto flight = flights_.find(at);
  if (flight == flights_.end() || flight->second.state != State::in_flight) return false;
  become(flight, visible_at > now ? State::in_flight : State::returned, visible_at);
  return true;
}

Millis StandardMessages::received_at(const Position& at) const {
  const auto flight = flights_.find(at);
  return flight == flights_.end() ? 0 : flight->second.received_at;
}

void StandardMessages::undo(const Position& at, Millis now) {
  const auto flight = flights_.find(at);
  if (flight == flights_.end() || flight->second.state != State::in_flight) return;
  if (--flight->second.count == 0) flight->second.first_received = 0;
  // Before all others that came back.
  become(flight, State::returned, std::min(now, flight->first.time));
}

std::vector<command::ReceiveNote> StandardMessages::take_notes(std::size_t max) {
  std::vector<command::ReceiveNote> notes;
  while (!unnoted_.empty() && notes.size() < max) {
    const Position at = *unnoted_.begin();
    unnoted_.erase(unnoted_.begin());
    Flight& flight = flights_.at(at);
    flight.count_noted = flight.count;
    notes.push_back({at, flight.count, flight.first_received});
  }
  return notes;
}

}  // namespace canopy::queue
