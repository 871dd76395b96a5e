// Taking messages out of queues, as every command that does shares it. Plain
// functions over the state.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "queue/state.hpp"

namespace canopy::queue {

// Of a command being applied; whether the message was there.
bool remove_message(State& state, Queue& queue, const command::MessagePlace& place, Millis time);

// Of a command that never got into the log.
void abandon_removal(State& state, Queue& queue, const command::MessagePlace& place);

// Messages that were picked to be moved stay after all.
void put_back(State& state, Queue& queue, const std::vector<PickedMessage>& messages);

inline const std::string& group_of(const PickedMessage& message) { return message.group; }
inline const std::string& group_of(const command::MessagePlace& place) { return place.group; }
inline const std::string& group_of(const command::MovedMessage& message) {
  return message.from.group;
}
inline const std::string& group_of(const command::ReceivedMessage& message) {
  return message.group;
}
inline const std::string& group_of(const command::NewVisibility& change) { return change.group; }

// The groups that a command of a FIFO queue reserves: each once.
template <typename T>
std::set<std::string> groups_of(const std::vector<T>& messages) {
  std::set<std::string> groups;
  for (const T& message : messages) groups.insert(group_of(message));
  return groups;
}

template <typename T>
void reserve_groups(Queue& queue, const std::vector<T>& messages) {
  for (const std::string& group : groups_of(messages)) queue.fifo_messages->reserve(group);
}

template <typename T>
void release_groups(Queue& queue, const std::vector<T>& messages, bool abandoned) {
  for (const std::string& group : groups_of(messages)) {
    queue.fifo_messages->release(group, abandoned);
  }
}

}  // namespace canopy::queue
