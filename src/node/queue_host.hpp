// What stands between requests, the log, the queue machine and the store: the
// storage loop without its thread. No clock and no I/O of its own, so that tests
// run it in virtual time on a log and a store that fail.
//
// A turn: what the log has persisted is applied, all of it as one batch, and
// answered; then new requests are prepared, and their commands go into the log.
// So while one sync runs the commands of the next one gather.
//
// Failures, which are told by problem():
//   the disk is almost full: what adds to it is refused as service_unavailable;
//   deletes go on, which make room;
//   the log refuses, or the store's background work fails: commands are refused
//   likewise, reads are served;
//   the store refuses a batch: everything is refused until it has taken it;
//   the store cannot be read: the machine is made anew from what the store has,
//   as after a restart, and messages in flight on standard queues are visible
//   again.
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/buffer.hpp"
#include "base/time.hpp"
#include "gateway/service.hpp"
#include "queue/machine.hpp"
#include "store/recovery.hpp"

namespace canopy::node {

struct QueueHostOptions {
  // The origin's incarnation is this boot's; its lowest bits, which have to be
  // 0, count machines made anew.
  queue::MachineConfig machine;
  // A queue that is sent to, received from or asked about, and is not there, is
  // made, if the caller's account would own it.
  bool create_on_first_use = false;
  // The store is asked to write what it holds in memory after this much of the
  // log, so that the log can be cut.
  std::uint64_t flush_bytes = std::uint64_t{128} << 20;
};

struct QueueCounters {
  std::uint64_t batches = 0;   // given to the store
  std::uint64_t commands = 0;  // in them
  std::uint64_t refused = 0;   // requests, for one of the failures above
  std::uint64_t restarts = 0;  // of the machine
};

class QueueHost final : public store::LogEvents, private queue::Host {
 public:
  explicit QueueHost(QueueHostOptions options);
  ~QueueHost();
  QueueHost(const QueueHost&) = delete;
  QueueHost& operator=(const QueueHost&) = delete;

  // Applies what the log has beyond the store, and begins. The log's events are
  // this host's. Throws store::Damage.
  void start(store::Opened opened);
  // The latest command's; the time of turns must not be before it.
  WallTime time() const;
  void begin(WallTime now);

  // --- What a turn is made of, in this order. ---

  // Of the log: what persisted() and failed() said is looked at here.
  void apply(WallTime now);
  void take(gateway::Ask request);
  void cancel(const gateway::Call* call);
  void give_back(const queue::QueueName& queue, const std::vector<std::string>& handles);
  // Does what is due.
  void finish_turn();

  // When there is something to do without any event.
  std::optional<WallTime> next_turn() const;

  // The store's background work fails, or works again if this is empty.
  void set_store_problem(std::string problem);
  // Why reading failed: as the store has it, or else as told.
  std::string explain(const std::string& failure) const;
  void set_room_problem(std::string problem);
  // Why not everything is served; empty: all is well.
  std::string problem() const;

  // No command is on its way.
  bool idle() const { return pending_.empty() && !batch_waits_; }
  // Answers everything that waits: nothing will come any more.
  void close();

  const QueueCounters& counters() const { return counters_; }
  queue::Machine::Statistics statistics() const;

  void persisted(std::uint64_t index) override;
  void failed(std::uint64_t first, boost::system::error_code error) override;

 private:
  using CallPtr = std::shared_ptr<gateway::Call>;

  // A command in the log, or one that did not get there.
  struct Pending {
    std::uint64_t index = 0;
    queue::Command command;
    Buffer record;
    CallPtr call;          // none: the machine's own
    bool foreign = false;  // made by a machine that is gone
  };
  class FirstUse;

  // --- queue::Host ---
  void submit(queue::Command command) override;
  void submit(queue::Command command, queue::Token token) override;
  void answer(queue::Token token, queue::Outcome outcome) override;
  bool present(queue::Token token) override;

  bool ready() const { return begun_ && !batch_waits_; }
  template <class Use>
  bool guarded(Use use);
  void prepare(const queue::Caller& caller, queue::Action action, CallPtr call);
  bool creates_first(gateway::Ask& request);
  void put(queue::Command command, CallPtr call);
  bool refuses(const queue::Command& command) const;
  CallPtr forget(queue::Token token);
  void refuse(const CallPtr& call);
  queue::Error unavailable() const;
  void settle_refused();

  void apply_persisted();
  void apply_first(std::size_t count);
  void write_batch();
  void tidy_disk();

  void look_at_log();
  void make_machine();
  void replay();
  void lose_machine(const std::string& reason);
  void recover();

  const QueueHostOptions options_;
  store::Opened disk_;
  std::unique_ptr<queue::Machine> machine_;
  bool begun_ = false;
  WallTime now_;
  bool tick_due_ = false;

  std::deque<Pending> pending_;  // in the log, by index
  std::uint64_t persisted_ = 0;
  std::vector<Pending> refused_;  // not in it

  store::Batch batch_;                    // of the first commands that are pending
  std::vector<queue::Outcome> outcomes_;  // theirs
  bool batch_waits_ = false;              // the store refused it, and gets it again
  std::uint64_t unflushed_bytes_ = 0;
  std::uint64_t cut_ = 0;

  queue::Token last_token_ = 0;
  std::unordered_map<queue::Token, CallPtr> waiting_;
  std::unordered_map<const gateway::Call*, queue::Token> tokens_;
  std::vector<gateway::Ask> again_;  // their queue has been made

  boost::system::error_code log_fault_;
  std::string room_problem_;
  std::string store_problem_;  // of its background work
  std::string problem_;        // nothing is served because of it
  WallTime retry_;             // not before
  QueueCounters counters_;
};

}  // namespace canopy::node
