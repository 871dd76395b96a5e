// What the parts of the machine share: the state, the store it lies in, and the
// commands that the machine makes by itself.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/system/result.hpp>

#include "base/random.hpp"
#include "queue/catalogue.hpp"
#include "queue/command.hpp"
#include "queue/limits.hpp"
#include "queue/md5.hpp"
#include "queue/service_record.hpp"
#include "queue/transaction.hpp"
#include "queue/waiters.hpp"
#include "store/key_value_store.hpp"

namespace canopy::queue {

struct MachineConfig {
  Limits limits;
  Origin origin;           // of the commands made here
  std::uint64_t cell = 0;  // names this machine to others
  SecretKey fresh_key{};   // for receipt handles, if there is none yet; from the system's entropy
  std::uint64_t seed = 0;  // of message ids; likewise
};

// A request that is answered later, through Host.
struct Waiting {};
using Prepared = std::variant<Outcome, Command, Waiting>;

struct State {
  State(MachineConfig with, const store::Reader& from);

  // The queue, if it is there and the caller may do this with it.
  boost::system::result<Queue*, Error> open(const QueueName& name, const Caller& caller,
                                            std::string_view action);
  Queue* find(QueueNumber number) { return catalogue.find(number, now); }

  // Time as the machine sees it: it never goes back.
  void advance(Millis to) { now = std::max(now, to); }

  // Without a sequence: that comes when it is handed out.
  Command command(CommandBody body) const;
  Command hand_out(Command command) {
    command.sequence = ++last_sequence;
    return command;
  }
  // To be handed out before anything else.
  void emit(CommandBody body) { own.push_back(command(std::move(body))); }

  // Something may have become available in this queue.
  void stir(QueueNumber queue) {
    if (waiters.any(queue)) stirred.insert(queue);
  }
  // Has a queue looked at for housekeeping at this time; of commands.
  void schedule(Queue& queue, Millis at);
  // A bound that is true however the log goes on: see command::Remove.
  Position safe_head(const Queue& queue) const;
  // What commands that take messages out say; the queue's head only grows.
  void raise_head(Queue& queue, const Position& head);

  const MachineConfig config;
  const store::Reader& reader;
  Transaction tx;
  Catalogue catalogue;
  ServiceRecord service;
  Waiters waiters;
  Random random;
  Md5 md5;
  Millis now = 0;
  std::uint64_t term = 0;      // 0: not begun
  std::uint64_t receives = 0;  // in this term
  std::uint64_t last_sequence = 0;
  std::vector<Command> own;
  std::set<QueueNumber> stirred;
  Millis next_housekeeping = 0;  // no queue is due before
};

Error queue_does_not_exist();
Error invalid_parameter(std::string message);

}  // namespace canopy::queue
