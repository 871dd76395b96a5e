// Where things lie in the store. Every key is a table's letter, then numbers
// with the most significant byte first, so that tables and queues are ranges.
//
//   k                                    the service: counters, term, key of handles
//   n account 0 region 0 name            number of the queue of this name
//   s target's ARN 0 queue               queues whose dead letters go there
//   d queue                              definition
//   c queue                              counters
//   m queue lane time sequence           message of a standard queue
//   f queue group sequence               message of a FIFO queue
//   r queue position                     how often a message was received
//   g queue group                        message group of a FIFO queue
//   h queue 0 time tag                   the same, by when it is available
//   u queue bucket id                    deduplication id, by age
//   w time queue                         when a queue needs housekeeping
//   o sequence                           outbox
//   p queue cell                         what came from that cell's outbox
//   t queue task                         move tasks
//   a queue                              the one that runs
//   z account 0 region 0 name            when a queue of this name was deleted
//   b queue group                        bridge of a group of the overlay
//   v queue group generation publisher   multicasts of a publisher's boot that came by it
#pragma once

#include <string>
#include <string_view>

#include "queue/actions.hpp"
#include "queue/command.hpp"
#include "queue/position.hpp"

namespace canopy::queue::keys {

enum Table : char {
  service = 'k',
  name = 'n',
  source = 's',
  definition = 'd',
  counters = 'c',
  message = 'm',
  fifo_message = 'f',
  receive = 'r',
  group = 'g',
  available_group = 'h',
  deduplication = 'u',
  housekeeping = 'w',
  outbox = 'o',
  delivered = 'p',
  task = 't',
  running_task = 'a',
  deleted = 'z',
  bridge = 'b',
  multicasts = 'v',
};

std::string of(Table table);
std::string of(Table table, std::uint64_t number);
std::string of(Table table, std::uint64_t first, std::uint64_t second);
std::string of(Table table, QueueNumber queue, const Position& at);
std::string of(Table table, QueueNumber queue, std::string_view group);
std::string of(Table table, QueueNumber queue, std::string_view group, std::uint64_t sequence);
std::string of(Table table, const QueueName& queue);
std::string of_name_prefix(std::string_view account, std::string_view region,
                           std::string_view prefix);
std::string of_source_prefix(std::string_view target_arn);
std::string of_source(std::string_view target_arn, QueueNumber queue);
std::string of(Table table, QueueNumber queue, const BridgedGroup& group);
std::string of_multicasts(QueueNumber queue, const BridgedGroup& group, std::uint64_t generation);
std::string of_multicasts(QueueNumber queue, const BridgedGroup& group, std::uint64_t generation,
                          const Id& publisher, std::uint64_t incarnation);
std::string of_deduplication(QueueNumber queue, std::uint64_t bucket, std::string_view id);

// The first key behind all that start with `prefix`.
std::string after(std::string prefix);

// The parts of keys; the key has to be of the right table.
Position position_of(std::string_view key);
std::uint64_t last_number_of(std::string_view key);
std::string_view name_of(std::string_view key);
struct BridgeKey {
  QueueNumber queue = 0;
  BridgedGroup group;
  friend auto operator<=>(const BridgeKey&, const BridgeKey&) = default;
};
BridgeKey bridge_of(std::string_view key);

}  // namespace canopy::queue::keys
