// The queue service of one cell as a deterministic state machine: no clock, no
// I/O, no order that differs between two runs.
//
// What changes the replicated state is a command. prepare() says which command
// an action needs, or answers at once; the host puts commands into the log, in
// the order in which it gets them, and applies them when they survive. Every
// call of apply() adds to one batch, up to finish(); the batch has to be in the
// store before anything else is asked of the machine (if the store refuses it,
// the host tries again, or makes a new machine from what the store has).
//
//   prepare(action) -> Command -> log -> apply(command, batch)... finish(batch)
//                                        -> store, with the last command's index
//   tick(now) at next_deadline() and after every batch: long polls are answered,
//   and the machine's own commands are handed out.
//
// A machine is made from a store and the commands that the log has beyond it;
// then begin() starts a term. Until that is applied, receives wait.
//
// Errors of the store are thrown as boost::system::system_error. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "queue/host.hpp"
#include "store/key_value_store.hpp"

namespace canopy::queue {

class Machine {
 public:
  Machine(MachineConfig config, const store::Reader& reader);
  ~Machine();

  // After the log was replayed: this machine leads from now on.
  void begin(WallTime now, Host& host);

  // `token` names the request to Host if it has to wait.
  Prepared prepare(Action action, const Caller& caller, WallTime now, Token token, Host& host);

  Outcome apply(Command command, std::uint64_t index, store::Batch& batch);
  void finish(store::Batch& batch);

  // The command did not get into the log and never will; nor will those that were
  // prepared after it and before this call.
  void abandon(const Command& command);

  void tick(WallTime now, Host& host);
  // Not before then is there anything to do; nothing: never. It is in the past
  // when there is something to do at once.
  std::optional<WallTime> next_deadline() const;

  // The client of a waiting request is gone.
  void cancel(Token token);
  // The answer to a receive could not be delivered: its messages are available
  // again as if they had not been received.
  void give_back(const QueueName& queue, const std::vector<std::string>& handles, WallTime now,
                 Host& host);

  // The time as commands know it, which never goes back: no command is older than
  // this, however the machine's clock was set when they were made.
  WallTime now() const;

  struct Statistics {
    std::size_t queues_loaded = 0;
    std::size_t waiters = 0;
    std::uint64_t waiters_refused = 0;  // answered at once, since too many wait
    std::uint64_t commands = 0;         // applied
    std::uint64_t retries = 0;          // commands that had been applied before
  };
  Statistics statistics() const;

 private:
  struct Parts;
  void hand_out(Host& host);
  Outcome apply_body(Command& command);

  std::unique_ptr<Parts> parts_;
};

}  // namespace canopy::queue
