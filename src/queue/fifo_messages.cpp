#include "queue/fifo_messages.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "queue/bytes.hpp"
#include "queue/keys.hpp"
#include "queue/message_record.hpp"

namespace canopy::queue {

namespace {

constexpr std::uint64_t last_sequence = std::numeric_limits<std::uint64_t>::max();

std::string_view group_in_key(std::string_view key) {
  return ByteReader(key.substr(1 + sizeof(QueueNumber))).text();
}

}  // namespace

FifoMessages::FifoMessages(QueueNumber queue, const Limits& limits, const store::Reader& reader,
                           const Position& head, Millis now)
    : queue_(queue),
      limits_(limits),
      ready_(keys::available_group, queue, head, limits.ready_max, limits.ready_bytes_max) {
  const std::string first = keys::of(keys::receive, queue);
  const auto cursor = reader.range(first, keys::after(first));
  for (; cursor->valid(); cursor->next()) {
    Flight flight = decode_flight(cursor->value());
    if (flight.visible_at <= now) continue;
    fly(keys::last_number_of(cursor->key()), std::move(flight));
  }
  check(*cursor);
}

// --- Stored values. ---

std::string FifoMessages::encode(const Group& group) {
  ByteWriter out;
  out.varint(group.messages);
  out.zigzag(group.available);
  out.varint(group.tag);
  out.varint(group.first);
  out.varint(group.received_upto);
  return out.take();
}

std::optional<FifoMessages::Group> FifoMessages::decode_group(
    const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  ByteReader in(*bytes);
  Group group;
  group.messages = in.varint();
  group.available = in.zigzag();
  group.tag = in.varint();
  group.first = in.varint();
  group.received_upto = in.varint();
  if (!in.finished()) damaged("message group");
  return group;
}

std::string FifoMessages::encode(const Flight& flight) {
  ByteWriter out;
  out.text(flight.group);
  out.zigzag(flight.visible_at);
  out.zigzag(flight.received_at);
  out.zigzag(flight.first_received);
  out.varint(flight.receive);
  out.varint(flight.count);
  if (flight.attempt.id.empty()) return out.take();
  out.text(flight.attempt.id);
  out.varint(flight.attempt.number);
  out.varint(flight.attempt.messages);
  return out.take();
}

FifoMessages::Flight FifoMessages::decode_flight(std::string_view bytes) {
  ByteReader in(bytes);
  Flight flight;
  flight.group = in.text();
  flight.visible_at = in.zigzag();
  flight.received_at = in.zigzag();
  flight.first_received = in.zigzag();
  flight.receive = in.varint();
  flight.count = static_cast<std::uint32_t>(in.varint());
  if (!in.rest().empty()) flight.attempt = {std::string(in.text()), in.varint(), in.varint()};
  if (!in.finished()) damaged("receive of a message");
  return flight;
}

std::string FifoMessages::receive_key(std::uint64_t sequence) const {
  return keys::of(keys::receive, queue_, sequence);
}

std::optional<FifoMessages::Group> FifoMessages::group(const Transaction& tx,
                                                       const std::string& name) const {
  return decode_group(tx.get(keys::of(keys::group, queue_, name)));
}

void FifoMessages::put(Transaction& tx, const std::string& name, const Group& group) {
  tx.put(keys::of(keys::group, queue_, name), encode(group));
}

// To another place in the index.
void FifoMessages::move(Transaction& tx, const std::string& name, Group& group, Millis available) {
  const Position before{0, group.available, group.tag};
  const Position after{0, available, group.tag};
  ready_.removed(before);
  if (before != after) {
    tx.erase_put_once_unread(keys::of(keys::available_group, queue_, before));
    tx.put_unread(keys::of(keys::available_group, queue_, after), name);
  }
  group.available = available;
  ready_.added(after, Buffer::copy_of(name));
  put(tx, name, group);
}

void FifoMessages::store_flight(Transaction& tx, std::uint64_t sequence, const Flight& flight,
                                bool again) {
  if (again) tx.erase_put_once_unread(receive_key(sequence));
  tx.put_unread(receive_key(sequence), encode(flight));
}

void FifoMessages::fly(std::uint64_t sequence, Flight flight) {
  by_end_.emplace(flight.visible_at, sequence);
  by_group_[flight.group].emplace(flight.visible_at, sequence);
  if (const AttemptId& its = flight.attempt; !its.id.empty()) {
    Attempt& attempt = attempts_[its.id];
    if (attempt.number < its.number) attempt = {its.number, its.messages, {}};
    if (attempt.number == its.number) attempt.sequences.insert(sequence);
  }
  flights_.emplace(sequence, std::move(flight));
}

void FifoMessages::land(std::uint64_t sequence) {
  const auto found = flights_.find(sequence);
  if (found == flights_.end()) return;
  const Flight& flight = found->second;
  by_end_.erase({flight.visible_at, sequence});
  const auto of_group = by_group_.find(flight.group);
  of_group->second.erase({flight.visible_at, sequence});
  if (of_group->second.empty()) by_group_.erase(of_group);
  const auto attempt = attempts_.find(flight.attempt.id);
  if (attempt != attempts_.end() && attempt->second.sequences.erase(sequence) > 0 &&
      attempt->second.sequences.empty())
    attempts_.erase(attempt);
  flights_.erase(found);
}

Millis FifoMessages::blocked_until(const std::string& group, Millis otherwise) const {
  const auto found = by_group_.find(group);
  return found == by_group_.end() ? otherwise : std::max(otherwise, found->second.begin()->first);
}

// --- Commands. ---

void FifoMessages::forget_expired(Millis time) {
  while (!by_end_.empty() && by_end_.begin()->first <= time) land(by_end_.begin()->second);
}

void FifoMessages::add(Transaction& tx, std::uint64_t sequence,
                       const command::NewMessage& message) {
  tx.put_unread(keys::of(keys::fifo_message, queue_, message.group, sequence),
                std::string(message.record.view()));
  auto known = group(tx, message.group);
  if (known) {
    ++known->messages;
    return put(tx, message.group, *known);
  }
  const Position at{0, message.due, sequence};
  tx.put_unread(keys::of(keys::available_group, queue_, at), message.group);
  ready_.added(at, Buffer::copy_of(message.group));
  put(tx, message.group, {1, message.due, sequence, sequence, 0});
}

bool FifoMessages::receive(Transaction& tx, const command::Receive& receive, std::size_t which,
                           Millis time, const Counters& counters) {
  const command::ReceivedMessage& message = receive.messages[which];
  if (message.sequence < counters.purged_before) return false;
  auto known = group(tx, message.group);
  if (!known) return false;
  land(message.sequence);
  Flight flight{message.group,   receive.visible_at, time, message.first_received,
                message.receive, message.count,      {}};
  if (!receive.attempt.empty())
    flight.attempt = {receive.attempt, receive.messages.front().receive, receive.messages.size()};
  store_flight(tx, message.sequence, flight, message.sequence <= known->received_upto);
  const bool hidden = flight.visible_at > time;
  if (hidden) fly(message.sequence, std::move(flight));
  known->received_upto = std::max(known->received_upto, message.sequence);
  move(tx, message.group, *known, hidden ? blocked_until(message.group, time) : time);
  return true;
}

bool FifoMessages::remove(Transaction& tx, const command::MessagePlace& message, Millis time,
                          const Counters& counters) {
  const std::uint64_t sequence = message.at.sequence;
  removing_.erase(sequence);
  if (sequence < counters.purged_before) return false;
  auto known = group(tx, message.group);
  if (!known) return false;
  tx.erase_put_once_unread(keys::of(keys::fifo_message, queue_, message.group, sequence));
  if (sequence <= known->received_upto) tx.erase_put_once_unread(receive_key(sequence));
  land(sequence);
  if (--known->messages == 0) {
    const Position at{0, known->available, known->tag};
    ready_.removed(at);
    tx.erase_put_once_unread(keys::of(keys::available_group, queue_, at));
    tx.erase(keys::of(keys::group, queue_, message.group));
    firsts_.erase(message.group);
    return true;
  }
  if (sequence == known->first) known->first = sequence + 1;
  move(tx, message.group, *known,
       known->available <= time ? time : blocked_until(message.group, time));
  return true;
}

void FifoMessages::set_visibility(Transaction& tx, const command::NewVisibility& change,
                                  Millis time) {
  const auto found = flights_.find(change.sequence);
  if (found == flights_.end() || found->second.receive != change.receive) return;
  Flight flight = found->second;
  land(change.sequence);
  flight.visible_at = change.visible_at;
  if (change.undo && --flight.count == 0) flight.first_received = 0;
  store_flight(tx, change.sequence, flight, true);
  const bool hidden = flight.visible_at > time;
  if (hidden) fly(change.sequence, std::move(flight));
  auto known = group(tx, change.group);
  if (!known) return;
  const bool available = !hidden || known->available <= time;
  move(tx, change.group, *known, available ? time : blocked_until(change.group, time));
}

void FifoMessages::place(Transaction& tx, const std::string& name, Millis available) {
  auto known = group(tx, name);
  if (known) move(tx, name, *known, available);
}

void FifoMessages::purged() {
  flights_.clear();
  by_end_.clear();
  by_group_.clear();
  attempts_.clear();
  removing_.clear();
  firsts_.clear();
  ready_.cleared();
}

// --- What the leader does. ---

// From the first on. Deletes leave gaps between the numbers of a group, which nobody is to
// walk over twice.
std::unique_ptr<store::Cursor> FifoMessages::messages_of(const store::Reader& reader,
                                                         const std::string& name,
                                                         const Group& known) {
  const auto remembered = firsts_.find(name);
  const std::uint64_t from =
      remembered == firsts_.end() ? known.first : std::max(known.first, remembered->second);
  auto cursor = reader.range(keys::of(keys::fifo_message, queue_, name, from),
                             keys::of(keys::fifo_message, queue_, name, last_sequence));
  if (!cursor->valid()) return cursor;
  const std::uint64_t first = keys::last_number_of(cursor->key());
  if (remembered != firsts_.end()) {
    remembered->second = first;
  } else if (first != known.first) {
    if (firsts_.size() >= limits_.firsts_max) firsts_.erase(firsts_.begin());
    firsts_.emplace(name, first);
  }
  return cursor;
}

// Takes the messages at the head of a group. False: nothing came of it.
bool FifoMessages::pick_group(const store::Reader& reader, const PickRules& rules,
                              const std::string& name, std::uint64_t& receive, Pick& pick) {
  const auto known = decode_group(read(reader, keys::of(keys::group, queue_, name)));
  if (!known) return true;
  const auto cursor = messages_of(reader, name, *known);
  constexpr std::size_t refused_max = 100;
  bool found = false;
  for (; cursor->valid() && pick.given.size() < rules.messages_max &&
         pick.dead.size() + pick.expired.size() < refused_max &&
         pick.moved_bytes < limits_.move_bytes_max;
       cursor->next()) {
    const std::uint64_t sequence = keys::last_number_of(cursor->key());
    const auto times = times_of(cursor->value());
    if (!times) damaged("message");
    const Millis due = times->sent + times->delay;
    const auto flight = flights_.find(sequence);
    const Millis visible_at = flight == flights_.end() ? due : flight->second.visible_at;
    if (visible_at > rules.now) {
      if (!found) early_.emplace_back(name, visible_at);
      found = true;
      break;
    }
    found = true;
    PickedMessage message{{0, due, sequence}, name, {}, 0, 0, times->first_received};
    if (sequence <= known->received_upto) {
      if (const auto note = read(reader, receive_key(sequence))) {
        const Flight before = decode_flight(*note);
        message.count = before.count;
        if (before.first_received != 0) message.first_received = before.first_received;
      }
    }
    if (times->sent + rules.retention <= rules.now) {
      pick.expired.push_back({message.at, name});
      continue;
    }
    message.record = Buffer::copy_of(cursor->value());
    const bool dead =
        !rules.for_move && rules.receives_max > 0 && message.count >= rules.receives_max;
    if (dead || rules.for_move) pick.moved_bytes += message.record.size();
    if (dead) {
      pick.dead.push_back(std::move(message));
      continue;
    }
    if (!rules.for_move) {
      ++message.count;
      message.receive = ++receive;
      if (message.first_received == 0) message.first_received = rules.now;
    }
    pick.given.push_back(std::move(message));
  }
  check(*cursor);
  return found;
}

Pick FifoMessages::pick(const store::Reader& reader, const PickRules& rules,
                        std::uint64_t& receive) {
  for (const std::string& name : std::exchange(to_reconsider_, {})) reconsider(reader, name);
  Pick pick;
  const auto taken = [this](const Position&, std::string_view group) {
    return skip_reserved(std::string(group));
  };
  const std::size_t in_flight_now = rules.for_move ? 0 : in_flight(rules.now);
  if (in_flight_now >= limits_.in_flight_fifo_max) {
    pick.over_limit = true;
    return pick;
  }
  PickRules allowed = rules;
  if (!rules.for_move) {
    allowed.messages_max = std::min(rules.messages_max, limits_.in_flight_fifo_max - in_flight_now);
  }
  constexpr std::size_t groups_max = 100;
  for (std::size_t groups = 0; groups < groups_max && pick.given.size() < allowed.messages_max;
       ++groups) {
    const ReadyList::Item* item = ready_.front(reader, rules.now, taken);
    if (item == nullptr) break;
    const std::string name(item->value.view());
    ReadyList::Item taken_item = ready_.take();
    if (skip_reserved(name)) continue;
    // What is taken of it becomes a command, which reserves the group.
    if (!pick_group(reader, allowed, name, receive, pick)) {
      ready_.put_back(std::move(taken_item));
      break;
    }
  }
  return pick;
}

std::vector<PickedMessage> FifoMessages::peek(const store::Reader& reader, const PeekRules& rules) {
  const Millis now = rules.now;
  std::vector<PickedMessage> seen;
  std::size_t bytes = 0;
  std::optional<std::string> blocked;  // the group of the last one in flight
  const std::string first = keys::of(keys::fifo_message, queue_);
  const auto cursor = reader.range(first, keys::after(first));
  for (std::size_t steps = 0; cursor->valid() && rules.go_on(seen.size(), bytes, steps);
       cursor->next(), ++steps) {
    const std::uint64_t sequence = keys::last_number_of(cursor->key());
    const auto times = times_of(cursor->value());
    if (!times) damaged("message");
    const auto flight = flights_.find(sequence);
    PickedMessage message;
    message.at.sequence = sequence;
    message.group = group_in_key(cursor->key());
    message.in_flight = flight != flights_.end() && flight->second.visible_at > now;
    message.delayed = times->sent + times->delay > now;
    // Groups come one after another, each in its order.
    if (message.in_flight) blocked = message.group;
    const bool waits = blocked == message.group;
    if ((waits && !rules.invisible) || (message.delayed && !rules.delayed)) continue;
    message.record = Buffer::copy_of(cursor->value());
    if (const auto note = read(reader, receive_key(sequence))) {
      const Flight before = decode_flight(*note);
      message.count = before.count;
      message.first_received = before.first_received;
    }
    bytes += message.record.size();
    seen.push_back(std::move(message));
  }
  check(*cursor);
  return seen;
}

std::vector<PickedMessage> FifoMessages::attempt(const store::Reader& reader, const std::string& id,
                                                 Millis oldest, Millis now) const {
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || found->second.sequences.size() != found->second.messages)
    return {};
  std::vector<PickedMessage> received;
  for (const std::uint64_t sequence : found->second.sequences) {
    const Flight& flight = flights_.at(sequence);
    if (flight.received_at <= oldest || flight.visible_at <= now || removing_.contains(sequence))
      return {};
    const auto record = read(reader, keys::of(keys::fifo_message, queue_, flight.group, sequence));
    if (!record) return {};
    const auto times = times_of(*record);
    if (!times) damaged("message");
    received.push_back({{0, times->sent + times->delay, sequence},
                        flight.group,
                        Buffer::copy_of(*record),
                        flight.receive,
                        flight.count,
                        flight.first_received});
  }
  std::sort(received.begin(), received.end(),
            [](const auto& a, const auto& b) { return a.receive < b.receive; });
  return received;
}

HandleState FifoMessages::state_of(const store::Reader& reader, const ReceiptHandle& handle,
                                   Millis now) const {
  const std::uint64_t sequence = handle.at.sequence;
  if (removing_.contains(sequence)) return HandleState::leaving;
  const auto found = flights_.find(sequence);
  if (found != flights_.end() && found->second.visible_at > now) {
    return found->second.receive == handle.receive ? HandleState::current : HandleState::stale;
  }
  const bool there = read(reader, receive_key(sequence)).has_value();
  return there ? HandleState::expired : HandleState::gone;
}

const std::string& FifoMessages::group_of(std::uint64_t sequence) const {
  return flights_.at(sequence).group;
}

Millis FifoMessages::received_at(std::uint64_t sequence) const {
  const auto found = flights_.find(sequence);
  return found == flights_.end() ? 0 : found->second.received_at;
}

void FifoMessages::release(const std::string& group, bool abandoned) {
  const auto found = reserved_.find(group);
  if (found == reserved_.end()) return;
  found->second.reconsider |= abandoned;
  if (--found->second.commands > 0) return;
  if (found->second.reconsider) to_reconsider_.push_back(group);
  reserved_.erase(found);
}

// Whether it is reserved; then it is looked at again when it no longer is.
bool FifoMessages::skip_reserved(const std::string& group) {
  const auto found = reserved_.find(group);
  if (found == reserved_.end()) return false;
  found->second.reconsider = true;
  return true;
}

std::optional<Millis> FifoMessages::next_available() const {
  return to_reconsider_.empty() ? ready_.next_due() : std::optional<Millis>(0);
}

void FifoMessages::reconsider(const store::Reader& reader, const std::string& name) {
  if (reserved_.contains(name)) return;
  const auto known = decode_group(read(reader, keys::of(keys::group, queue_, name)));
  if (!known) return;
  const Position at{0, known->available, known->tag};
  ready_.removed(at);
  ready_.added(at, Buffer::copy_of(name));
}

std::size_t FifoMessages::in_flight(Millis now) const {
  std::size_t expired = 0;
  for (auto flight = by_end_.begin(); flight != by_end_.end() && flight->first <= now; ++flight) {
    ++expired;
  }
  return by_end_.size() - expired;
}

std::vector<FifoMessages::GroupHead> FifoMessages::heads(const store::Reader& reader,
                                                         const std::string& after,
                                                         std::size_t max) {
  std::vector<GroupHead> heads;
  const std::string end = keys::after(keys::of(keys::group, queue_));
  std::string from = keys::of(keys::group, queue_);
  if (!after.empty()) from = keys::of(keys::group, queue_, after) + '\0';
  const auto groups = reader.range(from, end);
  for (; groups->valid() && heads.size() < max; groups->next()) {
    const std::string name(group_in_key(groups->key()));
    const auto known = decode_group(std::string(groups->value()));
    const auto messages = messages_of(reader, name, *known);
    if (!messages->valid()) continue;
    const auto times = times_of(messages->value());
    if (!times) damaged("message");
    heads.push_back({name, keys::last_number_of(messages->key()), times->sent});
  }
  check(*groups);
  return heads;
}

}  // namespace canopy::queue
