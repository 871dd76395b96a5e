// Random histories of a queue host through faults and crashes, against what clients were told:
// nothing acknowledged is lost, nothing deleted comes back, FIFO groups are in order and without
// duplicates, deduplication ids and receive attempts are remembered.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "node/queue_host_loop.hpp"
#include "store/damage.hpp"
#include "support/seeds.hpp"

namespace canopy::node {
namespace {

using std::chrono::milliseconds;

constexpr int no_step = std::numeric_limits<int>::max();
constexpr milliseconds visibility{30'000};

struct Known {
  std::string queue;
  std::string group;  // FIFO only
  std::string body;
  std::string id;  // its MessageId, from the first answer with it
  int acknowledged_at = no_step;
  int deleted_at = no_step;
  bool delete_asked = false;
  std::string handle;
  WallTime held_until{};
};

class FaultRun {
 public:
  FaultRun(std::uint64_t seed, bool ignores_syncs)
      : random_(seed), loop_(seed), ignores_syncs_(ignores_syncs) {}

  // What went wrong; empty if nothing did.
  std::string problem() {
    heal();
    loop_.create_queue("q");
    loop_.ask(queue::CreateQueue{named("q.fifo"), {{"FifoQueue", "true"}}, {}});
    loop_.settle();
    for (step_ = 0; step_ < 200 && problem_.empty(); ++step_) step();
    if (problem_.empty()) crash();
    if (problem_.empty()) empty();
    return problem_;
  }

 private:
  using Use = std::function<void(const queue::Result&, int asked_at)>;
  struct Asked {
    std::shared_ptr<TestCall> call;
    int at;
    Use use;
  };

  void step() {
    if (random_.chance(0.1)) draw_faults();
    const std::uint64_t what = random_.below(10);
    if (what < 5) send();
    if (what >= 5 && what < 8) receive(random_.chance(0.7) ? "q.fifo" : "q", fresh_attempt());
    if (what >= 8) remove();
    go_on();
    if (random_.chance(0.03)) crash();
  }

  void heal() {
    loop_.disk.faults = {};
    loop_.disk.faults.ignores_syncs = ignores_syncs_;
    loop_.store.faults = {};
  }

  void draw_faults() {
    loop_.disk.faults.write_error = random_.chance(0.3) ? 0.3 : 0;
    loop_.disk.faults.sync_error = random_.chance(0.3) ? 0.3 : 0;
    loop_.store.faults.apply_error = random_.chance(0.2) ? 0.5 : 0;
    loop_.store.faults.read_error = random_.chance(0.1) ? 0.2 : 0;
  }

  void go_on() {
    if (random_.chance(0.7)) loop_.turn();
    if (random_.chance(0.7)) loop_.write_log();
    if (random_.chance(0.2)) loop_.store.persist();
    if (random_.chance(0.1)) loop_.advance(milliseconds(random_.below(1'500)));
    if (loop_.host->counters().restarts !=
        std::exchange(restarts_, loop_.host->counters().restarts))
      forget_handles();
    collect();
  }

  // Who has received what of a standard queue is not kept. Somebody else may get
  // the message next, and an older handle deletes nothing then.
  void forget_handles() {
    for (auto& [body, known] : known_)
      if (known.group.empty()) known.handle.clear();
  }

  void ask(queue::Action action, Use use) {
    asked_.push_back({loop_.ask(std::move(action)), step_, std::move(use)});
  }

  void collect() {
    std::vector<Asked> waiting;
    for (Asked& asked : std::exchange(asked_, {})) {
      if (!asked.call->outcome)
        waiting.push_back(std::move(asked));
      else if (asked.call->ok())
        asked.use(asked.call->outcome->value(), asked.at);
    }
    asked_ = std::move(waiting);
  }

  void fail(const Known& known, const std::string& what) {
    if (problem_.empty()) problem_ = known.queue + ": " + known.body + " " + what;
  }

  void identify(Known& known, const std::string& id) {
    if (known.id.empty()) known.id = id;
    if (known.id != id) fail(known, "was taken twice");
  }

  void send() {
    const bool fifo = random_.chance(0.7);
    const std::string body = std::to_string(known_.size());
    const std::string group = fifo ? "g" + std::to_string(random_.below(3)) : "";
    Known& known = known_[body];
    known.queue = fifo ? "q.fifo" : "q";
    known.group = group;
    known.body = body;
    if (fifo) groups_[group].push_back(&known);
    send(known);
  }

  void send(Known& known) {
    queue::SendMessage send{named(known.queue), {}};
    send.entry.body = Buffer::copy_of(known.body);
    if (!known.group.empty()) {
      send.entry.group_id = known.group;
      send.entry.deduplication_id = known.body;
    }
    ask(std::move(send), [this, &known](const queue::Result& result, int) {
      identify(known, std::get<queue::Sent>(result).message_id);
      known.acknowledged_at = std::min(known.acknowledged_at, step_);
    });
  }

  std::string fresh_attempt() { return "attempt-" + std::to_string(++attempts_); }

  void receive(const std::string& queue, const std::string& attempt) {
    queue::ReceiveMessage receive;
    receive.queue = named(queue);
    receive.messages_max = 10;
    receive.attempt_id = attempt;
    if (queue == "q.fifo") unanswered_.insert(attempt);
    ask(std::move(receive), [this, attempt](const queue::Result& result, int asked_at) {
      unanswered_.erase(attempt);
      std::vector<Known*> before;
      for (const auto& message : std::get<queue::ReceiveMessageResult>(result).messages)
        received(message, asked_at, before);
    });
  }

  void received(const queue::Message& message, int asked_at, std::vector<Known*>& before) {
    Known& known = known_.at(std::string(message.body.view()));
    identify(known, message.message_id);
    if (known.deleted_at < asked_at) fail(known, "is back after its deletion");
    if (!known.group.empty()) check_order(known, asked_at, before);
    if (!known.group.empty() && loop_.now() < known.held_until &&
        known.handle != message.receipt_handle)
      fail(known, "was received twice");
    known.handle = message.receipt_handle;
    known.held_until = loop_.now() + visibility;
    before.push_back(&known);
  }

  void check_order(const Known& known, int asked_at, const std::vector<Known*>& before) {
    for (Known* other : groups_.at(known.group)) {
      if (other == &known) return;
      const bool gone = other->delete_asked || other->acknowledged_at >= asked_at;
      if (!gone && std::find(before.begin(), before.end(), other) == before.end())
        fail(known, "overtook " + other->body);
    }
  }

  void remove() {
    std::vector<Known*> held;
    for (auto& [body, known] : known_)
      if (!known.handle.empty() && !known.delete_asked) held.push_back(&known);
    if (!held.empty()) remove(*held[random_.below(held.size())]);
  }

  void remove(Known& known) {
    known.delete_asked = true;
    ask(queue::DeleteMessage{named(known.queue), known.handle},
        [this, &known](const queue::Result&, int) { known.deleted_at = step_; });
  }

  // What had no answer may have happened or not.
  void crash() {
    heal();
    loop_.crash();
    restarts_ = 0;
    forget_handles();
    asked_.clear();
    loop_.settle();
    ++step_;
    for (const std::string& attempt : std::exchange(unanswered_, {})) receive("q.fifo", attempt);
    for (auto& [body, known] : known_)
      if (!known.group.empty() && known.acknowledged_at != no_step && random_.chance(0.2))
        send(known);
    loop_.settle();
    collect();
    ++step_;
  }

  void empty() {
    loop_.advance(visibility + milliseconds(1'000));
    for (const char* queue : {"q", "q.fifo"})
      for (int idle = 0; idle < 3 && problem_.empty(); ++idle) {
        const std::uint64_t received = take(queue);
        if (received > 0) idle = -1;
      }
    for (const auto& [body, known] : known_)
      if (known.acknowledged_at != no_step && !known.delete_asked)
        fail(known, "was acknowledged and is lost");
  }

  std::uint64_t take(const std::string& queue) {
    ++step_;
    receive(queue, fresh_attempt());
    loop_.settle();
    collect();
    std::uint64_t count = 0;
    for (auto& [body, known] : known_) {
      if (known.queue != queue || known.held_until <= loop_.now() || known.deleted_at != no_step)
        continue;
      remove(known);
      ++count;
    }
    loop_.settle();
    collect();
    return count;
  }

  Random random_;
  HostLoop loop_;
  const bool ignores_syncs_;
  int step_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t restarts_ = 0;  // of the host's machine, since the last crash
  std::string problem_;
  std::map<std::string, Known> known_;                 // by body
  std::map<std::string, std::vector<Known*>> groups_;  // in the order of sending
  std::set<std::string> unanswered_;                   // attempts
  std::vector<Asked> asked_;
};

TEST(QueueFaults, WhatClientsWereToldStaysTrueThroughFaultsAndCrashes) {
  const std::uint64_t seeds = seeds_or(150);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    ASSERT_EQ(FaultRun(seed, false).problem(), "") << "seed " << seed;
}

TEST(QueueFaults, ADiskThatIgnoresSyncsIsNoticed) {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    try {
      noticed += FaultRun(seed, true).problem().empty() ? 0 : 1;
    } catch (const store::Damage&) {
      ++noticed;
    }
  }
  EXPECT_EQ(noticed, 10);
}

}  // namespace
}  // namespace canopy::node
