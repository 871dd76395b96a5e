#include "queue/catalogue.hpp"

#include "queue/bytes.hpp"
#include "queue/keys.hpp"

namespace canopy::queue {

Queue* Catalogue::find(const QueueName& name, Millis now) {
  const std::string key = keys::of(keys::name, name);
  const auto known = names_.find(key);
  if (known != names_.end()) return find(known->second, now);
  const auto number = tx_.get(key);
  return number ? find(ByteReader(*number).u64(), now) : nullptr;
}

Queue* Catalogue::find(QueueNumber number, Millis now) {
  const auto known = loaded_.find(number);
  if (known != loaded_.end()) {
    use_.splice(use_.end(), use_, known->second->used);
    return known->second.get();
  }
  const auto bytes = tx_.get(keys::of(keys::definition, number));
  if (!bytes) return nullptr;
  auto definition = decode_definition(*bytes);
  if (!definition) damaged("definition of a queue");
  Counters counters;
  if (const auto counted = tx_.get(keys::of(keys::counters, number))) {
    const auto decoded = decode_counters(*counted);
    if (!decoded) damaged("counters of a queue");
    counters = *decoded;
  }
  return &load(std::move(*definition), counters, now);
}

Queue& Catalogue::load(Definition definition, const Counters& counters, Millis now) {
  const QueueNumber number = definition.number;
  names_[keys::of(keys::name, definition.name)] = number;
  auto queue = std::make_unique<Queue>(std::move(definition), counters, limits_, reader_, now);
  queue->used = use_.insert(use_.end(), number);
  return *loaded_.insert_or_assign(number, std::move(queue)).first->second;
}

void Catalogue::unload(QueueNumber number) {
  const auto found = loaded_.find(number);
  names_.erase(keys::of(keys::name, found->second->definition.name));
  use_.erase(found->second->used);
  loaded_.erase(found);
}

Queue& Catalogue::create(Definition definition) {
  ByteWriter number;
  number.u64(definition.number);
  tx_.put(keys::of(keys::name, definition.name), number.take());
  Queue& queue = load(std::move(definition), {}, 0);
  store(queue);
  return queue;
}

void Catalogue::store(Queue& queue) {
  queue.read_settings(limits_);
  tx_.put(keys::of(keys::definition, queue.number()), encode(queue.definition));
}

void Catalogue::erase(Queue& queue) {
  const QueueNumber number = queue.number();
  tx_.erase(keys::of(keys::name, queue.definition.name));
  tx_.erase(keys::of(keys::definition, number));
  tx_.erase(keys::of(keys::counters, number));
  for (const auto table : {keys::message, keys::fifo_message, keys::receive, keys::group,
                           keys::available_group, keys::deduplication, keys::delivered, keys::task,
                           keys::running_task, keys::bridge, keys::multicasts}) {
    const std::string first = keys::of(table, number);
    tx_.erase_range(first, keys::after(first));
  }
  unload(number);
}

void Catalogue::touch(Queue& queue) {
  if (queue.dirty) return;
  queue.dirty = true;
  dirty_.push_back(queue.number());
}

void Catalogue::write_counters() {
  for (const QueueNumber number : dirty_) {
    const auto found = loaded_.find(number);
    if (found == loaded_.end()) continue;  // deleted since
    found->second->dirty = false;
    tx_.put_unread(keys::of(keys::counters, number), encode(found->second->counters));
  }
  dirty_.clear();
}

}  // namespace canopy::queue
