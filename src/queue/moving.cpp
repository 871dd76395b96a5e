#include "queue/moving.hpp"

#include <algorithm>

#include "queue/arn.hpp"
#include "queue/bytes.hpp"
#include "queue/keys.hpp"
#include "queue/message_record.hpp"
#include "queue/removal.hpp"

namespace canopy::queue {

namespace {
constexpr std::size_t window_max = 256;
constexpr std::size_t notes_max = 256;
constexpr QueueNumber no_queue = 0;
}  // namespace

// --- Out of the source. ---

bool Moving::has_target(const Queue& queue) {
  if (!queue.settings.redrive) return false;
  const Queue* target = state_.catalogue.find(queue.settings.redrive->target, state_.now);
  return target != nullptr && target->fifo() == queue.fifo() &&
         target->settings.redrive_allow.allows(arn_of(queue.definition.name));
}

void Moving::move_dead(Queue& queue, std::vector<PickedMessage> messages) {
  std::vector<QueueName> targets(messages.size(), queue.settings.redrive->target);
  move(queue, std::move(messages), std::move(targets), 0);
}

// Makes a dead letter of it.
void Moving::bury(MessageRecord& record, const Queue& queue, const PickedMessage& message) const {
  record.dead_letter_source = arn_of(queue.definition.name);
  record.receives += message.count;
  if (queue.fifo()) {
    record.sent = state_.now;
    record.first_received = 0;
    // Two messages that share an id are two dead letters.
    record.deduplication_id = record.id.to_string();
  } else {
    record.first_received = message.first_received;
  }
}

// What a task moves is a new message.
void Moving::revive(MessageRecord& record) {
  record.id = Uuid::from_random_bits(state_.random.next(), state_.random.next());
  record.sent = state_.now;
  record.first_received = 0;
  record.receives = 0;
  record.dead_letter_source.clear();
}

void Moving::move(Queue& queue, std::vector<PickedMessage> messages, std::vector<QueueName> targets,
                  std::uint64_t task) {
  command::MoveOut out{queue.number(), state_.safe_head(queue), task, {}};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    PickedMessage& message = messages[i];
    auto record = decode_message(message.record);
    if (!record) damaged("message");
    record->delay = 0;
    if (task == 0) {
      bury(*record, queue, message);
    } else {
      revive(*record);
    }
    if (queue.fifo()) queue.fifo_messages->begin_removal(message.at.sequence);
    out.messages.push_back(
        {{message.at, message.group}, std::move(targets[i]), queue::encode(*record)});
  }
  if (queue.fifo()) reserve_groups(queue, out.messages);
  queue.moving += out.messages.size();
  state_.emit(std::move(out));
}

// Commands for what a pick found besides messages to give.
void Moving::dispose(Queue& queue, Pick& pick) {
  if (!pick.dead.empty()) move_dead(queue, std::move(pick.dead));
  if (!pick.expired.empty()) {
    if (queue.fifo()) {
      for (const auto& place : pick.expired) {
        queue.fifo_messages->begin_removal(place.at.sequence);
      }
      reserve_groups(queue, pick.expired);
    }
    state_.emit(command::Remove{queue.number(), state_.safe_head(queue), std::move(pick.expired)});
  }
  if (!queue.fifo()) return emit_notes(queue);
  for (auto& [group, due] : queue.fifo_messages->take_early()) {
    queue.fifo_messages->reserve(group);
    state_.emit(command::PlaceGroup{queue.number(), group, due});
  }
}

void Moving::emit_notes(Queue& queue) {
  if (!queue.standard_messages->has_notes()) return;
  state_.emit(
      command::NoteReceives{queue.number(), queue.standard_messages->take_notes(notes_max)});
}

std::string Moving::encode(QueueNumber source, const command::MovedMessage& message) {
  ByteWriter out;
  out.varint(source);
  out.text(message.target.region);
  out.text(message.target.account);
  out.text(message.target.name);
  out.raw(message.record.view());
  return out.take();
}

Moving::Entry Moving::decode(std::uint64_t sequence, std::string_view bytes) {
  ByteReader in(bytes);
  Entry entry;
  entry.sequence = sequence;
  entry.source = in.varint();
  entry.target.region = in.text();
  entry.target.account = in.text();
  entry.target.name = in.text();
  if (!in.ok()) damaged("outbox");
  entry.record = Buffer::copy_of(in.rest());
  return entry;
}

std::uint64_t Moving::apply(Command& command, command::MoveOut& out) {
  Queue* queue = state_.find(out.queue);
  if (queue == nullptr) return 0;
  std::uint64_t moved = 0;
  for (const command::MovedMessage& message : out.messages) {
    if (!remove_message(state_, *queue, message.from, command.time)) {
      queue->moving -= std::min<std::uint64_t>(queue->moving, 1);
      continue;
    }
    ++moved;
    state_.tx.put(keys::of(keys::outbox, ++state_.service.outbox), encode(out.queue, message));
  }
  if (queue->fifo()) release_groups(*queue, out.messages, false);
  state_.raise_head(*queue, out.head);
  state_.stir(out.queue);
  return moved;
}

void Moving::abandon(const command::MoveOut& out) {
  Queue* queue = state_.find(out.queue);
  if (queue == nullptr) return;
  queue->moving -= std::min<std::uint64_t>(queue->moving, out.messages.size());
  for (const command::MovedMessage& message : out.messages) {
    abandon_removal(state_, *queue, message.from);
  }
  if (queue->fifo()) release_groups(*queue, out.messages, true);
  state_.stir(out.queue);
}

// --- From the outbox into targets. ---

std::vector<Moving::Entry> Moving::read_window() {
  std::vector<Entry> entries;
  const auto cursor = state_.reader.range(keys::of(keys::outbox, read_upto_ + 1),
                                          keys::after(keys::of(keys::outbox)));
  const std::size_t bytes_max = state_.config.limits.move_bytes_max;
  for (std::size_t bytes = 0; cursor->valid() && entries.size() < window_max && bytes < bytes_max;
       cursor->next()) {
    bytes += cursor->value().size();
    entries.push_back(decode(keys::last_number_of(cursor->key()), cursor->value()));
  }
  check(*cursor);
  return entries;
}

command::NewMessage Moving::message_of(const Entry& entry, const Queue& target, Millis due) {
  const auto record = decode_message(entry.record);
  if (!record) damaged("message in the outbox");
  command::NewMessage message;
  message.due = due;
  message.id = record->id;
  message.record = entry.record;
  if (target.fifo()) {
    message.group = record->group_id.value_or(std::string());
  } else if (record->group_id) {
    message.lane = lane_of(*record->group_id);
  }
  return message;
}

void Moving::tick() {
  if (!has_work()) return;
  window_ = read_window();
  std::map<QueueNumber, command::Deliver> deliveries;
  for (const Entry& entry : window_) {
    const Queue* target = state_.catalogue.find(entry.target, state_.now);
    const QueueNumber number = target != nullptr ? target->number() : no_queue;
    command::Deliver& deliver = deliveries[number];
    deliver.queue = number;
    deliver.source = state_.config.cell;
    command::Delivery& delivery = deliver.messages.emplace_back();
    delivery.sequence = entry.sequence;
    if (target != nullptr) delivery.message = message_of(entry, *target, state_.now);
  }
  deliveries_left_ = deliveries.size();
  for (auto& [number, deliver] : deliveries) state_.emit(std::move(deliver));
  if (deliveries.empty()) finish_window();
}

void Moving::finish_window() {
  if (window_.empty()) {
    read_upto_ = state_.service.outbox;
    return;
  }
  read_upto_ = window_.back().sequence;
  for (const Entry& entry : window_) {
    Queue* source = state_.find(entry.source);
    if (source == nullptr) continue;
    source->moving -= std::min<std::uint64_t>(source->moving, 1);
    if (source->moving == 0) state_.stir(entry.source);
  }
  window_.clear();
  state_.emit(command::Delivered{read_upto_});
}

void Moving::apply(const Command& command, const command::Deliver& deliver) {
  const bool ours = !window_.empty() && command.origin == state_.config.origin;
  if (Queue* queue = state_.find(deliver.queue))
    take_in(*queue, deliver, command.time);
  else
    send_back(deliver, command.time);
  if (ours && deliveries_left_ > 0 && --deliveries_left_ == 0) finish_window();
}

void Moving::take_in(Queue& queue, const command::Deliver& deliver, Millis time) {
  const std::string key = keys::of(keys::delivered, deliver.queue, deliver.source);
  std::uint64_t upto = 0;
  if (const auto bytes = state_.tx.get(key)) upto = ByteReader(*bytes).u64();
  for (const command::Delivery& delivery : deliver.messages) {
    if (delivery.sequence <= upto) continue;
    upto = delivery.sequence;
    sending_.put(queue, delivery.message, time);
  }
  ByteWriter out;
  out.u64(upto);
  state_.tx.put(key, out.take());
}

// The target is gone: back to where they came from, or nowhere if that is gone, too.
// A source may have had later messages of the outbox already, so that what it had
// tells nothing about these: they leave the outbox at once.
void Moving::send_back(const command::Deliver& deliver, Millis time) {
  for (const command::Delivery& delivery : deliver.messages) {
    const std::string key = keys::of(keys::outbox, delivery.sequence);
    const auto bytes = state_.tx.get(key);
    if (!bytes) continue;
    const Entry entry = decode(delivery.sequence, *bytes);
    if (Queue* source = state_.find(entry.source))
      sending_.put(*source, message_of(entry, *source, time), time);
    state_.tx.erase(key);
  }
}

void Moving::apply(const command::Delivered& delivered) {
  std::uint64_t& done = state_.service.outbox_delivered;
  if (delivered.through <= done) return;
  state_.tx.erase_range(keys::of(keys::outbox, done + 1),
                        keys::of(keys::outbox, delivered.through + 1));
  done = delivered.through;
}

void Moving::abandon_delivery() {
  window_.clear();
  deliveries_left_ = 0;
}

}  // namespace canopy::queue
