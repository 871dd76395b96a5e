#include "queue/bridging.hpp"

#include <fmt/format.h>

#include "queue/bytes.hpp"
#include "queue/message_checks.hpp"
#include "queue/multicast_entry.hpp"

namespace canopy::queue {

namespace {

constexpr std::uint8_t bridge_version = 1;

Error no_such_bridge() {
  return {ErrorCode::resource_not_found, "The queue has no bridge to this group."};
}

void add_to(BridgeCounts& counts, const BridgeCounts& more) {
  for_each_count([&](const char*, auto count) { counts.*count += more.*count; });
}

}  // namespace

Bridging::Bridging(State& state, Sending& sending) : state_(state), sending_(sending) {
  const std::string first = keys::of(keys::bridge);
  const auto cursor = state.reader.range(first, keys::after(first));
  for (; cursor->valid(); cursor->next())
    bridges_.emplace(keys::bridge_of(cursor->key()), decode(cursor->value()));
  check(*cursor);
}

std::string Bridging::encode(const Record& record) {
  ByteWriter out;
  out.u8(bridge_version);
  out.varint(record.generation);
  out.varint(record.publishers);
  for_each_count([&](const char*, auto count) { out.varint(record.counts.*count); });
  return out.take();
}

Bridging::Record Bridging::decode(std::string_view bytes) {
  ByteReader in(bytes);
  Record record;
  const bool known = in.u8() == bridge_version;
  record.generation = in.varint();
  record.publishers = in.varint();
  for_each_count([&](const char*, auto count) { record.counts.*count = in.varint(); });
  if (!known || !in.finished()) damaged("bridge of a queue");
  return record;
}

Outcome Bridging::shown(const Key& key, const Record& record) {
  const Queue* queue = state_.find(key.queue);
  if (queue == nullptr) return queue_does_not_exist();
  return Bridge{{queue->definition.name, key.group}, record.counts};
}

// --- Which there are. ---

Prepared Bridging::prepare(AddBridge action, const Caller& caller) {
  const auto queue = state_.open(action.bridge.queue, caller, "SendMessage");
  if (!queue) return Outcome(queue.error());
  const Key key{(*queue)->number(), std::move(action.bridge.group)};
  if (const auto found = bridges_.find(key); found != bridges_.end())
    return shown(key, found->second);
  const MessageAttributes attributes = attributes_of({}, key.group.name + '@' + key.group.creator);
  if (auto error = check_message_attributes(attributes, state_.config.limits))
    return Outcome(std::move(*error));
  return state_.command(command::AddBridge{key.queue, key.group});
}

Outcome Bridging::apply(const Command&, const command::AddBridge& add) {
  const Key key{add.queue, add.group};
  if (state_.find(key.queue) == nullptr) return queue_does_not_exist();
  if (!bridges_.contains(key)) {
    // Here, since several may be on their way.
    if (full())
      return Error{ErrorCode::over_limit,
                   fmt::format("There are {} bridges, as many as there may be.", bridges_.size())};
    state_.tx.put_unread(keys::of(keys::bridge, key.queue, key.group), encode(Record{}));
    bridges_.emplace(key, Record{});
  }
  return shown(key, bridges_.at(key));
}

Prepared Bridging::prepare(RemoveBridge action, const Caller& caller) {
  const auto queue = state_.open(action.bridge.queue, caller, "SendMessage");
  if (!queue) return Outcome(queue.error());
  const Key key{(*queue)->number(), std::move(action.bridge.group)};
  if (!bridges_.contains(key)) return Outcome(no_such_bridge());
  return state_.command(command::RemoveBridge{key.queue, key.group});
}

Outcome Bridging::apply(const Command&, const command::RemoveBridge& remove) {
  const Key key{remove.queue, remove.group};
  if (bridges_.erase(key) == 0) return no_such_bridge();
  state_.tx.erase_unread(keys::of(keys::bridge, key.queue, key.group));
  const std::string first = keys::of(keys::multicasts, key.queue, key.group);
  state_.tx.erase_range(first, keys::after(first));
  return Done{};
}

void Bridging::queue_goes(QueueNumber queue) {
  std::erase_if(bridges_, [queue](const auto& bridge) { return bridge.first.queue == queue; });
}

Outcome Bridging::answer(const ListBridges&) {
  ListBridgesResult result;
  for (const auto& [key, record] : bridges_) {
    const Outcome one = shown(key, record);
    if (one) result.bridges.push_back(std::get<Bridge>(*one));
  }
  return result;
}

// --- What comes by them. ---

Prepared Bridging::prepare(SendMulticasts action, const Caller& caller) {
  const auto queue = state_.open(action.bridge.queue, caller, "SendMessage");
  if (!queue) return Outcome(queue.error());
  command::SendMulticasts send{(*queue)->number(), std::move(action.bridge.group), {}, {}};
  if (!bridges_.contains({send.queue, send.group})) return Outcome(no_such_bridge());
  send.counted.lost = action.lost;
  for (Multicast& multicast : action.multicasts) {
    const MulticastId id = multicast.id;
    MulticastEntry made =
        entry_of(std::move(multicast), action.shown_group, (*queue)->fifo(), state_.config.limits);
    if (sending_.check(**queue, made.entry)) {
      ++send.counted.refused;
      continue;
    }
    send.counted.encoded += made.encoded ? 1 : 0;
    send.counted.headers_left_out += made.headers_left_out;
    send.messages.push_back(
        {id, sending_.make(**queue, std::move(made.entry), caller, state_.now, nullptr)});
  }
  return state_.command(std::move(send));
}

// Of a publisher that is new to the newer generation, which has it from now on.
MulticastWindow Bridging::load(const Key& key, Record& record, const Publisher& publisher) const {
  const auto read = [&](std::uint64_t generation) {
    return state_.tx.get(
        keys::of_multicasts(key.queue, key.group, generation, publisher.first, publisher.second));
  };
  auto bytes = read(record.generation);
  if (!bytes) {
    ++record.publishers;
    if (record.generation > 0) bytes = read(record.generation - 1);
  }
  if (!bytes) return {};
  auto window = decode_multicast_window(*bytes);
  if (!window) damaged("multicasts of a publisher");
  return std::move(*window);
}

// The older generation, once the newer one is full.
void Bridging::forget(const Key& key, Record& record) {
  if (record.publishers < state_.config.limits.bridge_publishers_max) return;
  state_.tx.erase_range(keys::of_multicasts(key.queue, key.group, 0),
                        keys::of_multicasts(key.queue, key.group, record.generation));
  ++record.generation;
  record.publishers = 0;
}

Outcome Bridging::apply(const Command& command, const command::SendMulticasts& send) {
  const Key key{send.queue, send.group};
  Queue* queue = state_.find(key.queue);
  if (queue == nullptr) return queue_does_not_exist();
  const auto found = bridges_.find(key);
  if (found == bridges_.end()) return no_such_bridge();
  Record& record = found->second;
  add_to(record.counts, send.counted);
  std::map<Publisher, MulticastWindow> windows;
  for (const command::BridgedMessage& bridged : send.messages) {
    const Publisher publisher{bridged.id.publisher, bridged.id.incarnation};
    const auto [at, fresh] = windows.try_emplace(publisher);
    MulticastWindow& window = at->second;
    if (fresh) window = load(key, record, publisher);
    record.counts.unseen -= window.holes();
    switch (window.take(bridged.id.sequence)) {
      case MulticastWindow::Place::first:
        sending_.accept(*queue, bridged.message, command.time, nullptr);
        ++record.counts.sent;
        break;
      case MulticastWindow::Place::again: ++record.counts.duplicates; break;
      case MulticastWindow::Place::unsure: ++record.counts.late; break;
    }
    record.counts.unseen += window.holes();
  }
  for (const auto& [publisher, window] : windows)
    state_.tx.put(keys::of_multicasts(key.queue, key.group, record.generation, publisher.first,
                                      publisher.second),
                  queue::encode(window));
  forget(key, record);
  state_.tx.put_unread(keys::of(keys::bridge, key.queue, key.group), encode(record));
  return shown(key, record);
}

}  // namespace canopy::queue
