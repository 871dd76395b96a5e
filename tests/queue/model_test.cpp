// Random schedules of requests, refused commands and restarts, against what any
// queue has to keep: nothing acknowledged is lost, nothing deleted comes back,
// and FIFO queues give each group in order and no message twice.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "queue/arn.hpp"
#include "queue/loop.hpp"
#include "support/seeds.hpp"

namespace canopy::queue {
namespace {

struct Known {
  std::string group;
  std::uint64_t order = 0;  // within its group
  bool acknowledged = false;
  bool deleted = false;        // the deletion was acknowledged
  bool maybe_deleted = false;  // it was asked for
  Millis hidden_until = 0;     // FIFO: nobody else may get it before
  std::string handle;
};

class Schedule {
 public:
  Schedule(std::uint64_t seed, bool fifo) : random_(seed), fifo_(fifo), loop_(limits()) {
    name_ = fifo ? "q.fifo" : "q";
    loop_.create(name_, {{"VisibilityTimeout", "2"}, {"MessageRetentionPeriod", "1209600"}});
    snapshot_ = *loop_.store;
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    finish();
  }

 private:
  static Limits limits() {
    Limits limits;
    limits.ready_max = 3;
    limits.lanes_max = 3;
    return limits;
  }

  std::string some_group() { return "g" + std::to_string(random_.below(5)); }

  void step() {
    switch (random_.below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: send(); break;
      case 5:
      case 6:
      case 7:
      case 8:
      case 9: receive(); break;
      case 10:
      case 11:
      case 12:
      case 13: remove(); break;
      case 14: change(); break;
      case 15:
      case 16: apply(); break;
      case 17:
        loop_.time += static_cast<Millis>(random_.below(1'500));
        apply();
        break;
      case 18:
        if (random_.chance(0.3)) refuse();
        break;
      default:
        if (random_.chance(0.2)) restart();
        if (random_.chance(0.2)) snapshot_ = *loop_.store;
        break;
    }
  }

  void send() {
    const std::string body = std::to_string(next_++);
    Known& known = messages_[body];
    SendEntry entry;
    entry.body = text(body);
    if (fifo_ || random_.chance(0.5)) entry.group_id = some_group();
    known.group = entry.group_id.value_or("");
    known.order = next_;
    if (fifo_) entry.deduplication_id = body;
    if (!fifo_ && random_.chance(0.3)) entry.delay_seconds = 1;
    sends_[loop_.begin(SendMessage{named(name_), entry})] = body;
  }

  void receive() {
    const auto wait = static_cast<std::int64_t>(random_.below(2));
    const auto max = 1 + static_cast<std::int64_t>(random_.below(4));
    receives_[loop_.begin(Loop::receiving(name_, max, 1, wait))] = loop_.time;
  }

  Known* some_received() {
    std::vector<Known*> received;
    for (auto& [body, known] : messages_) {
      if (!known.handle.empty()) received.push_back(&known);
    }
    return received.empty() ? nullptr : received[random_.below(received.size())];
  }

  void remove() {
    Known* known = some_received();
    if (known == nullptr) return;
    known->maybe_deleted = true;
    deletes_[loop_.begin(DeleteMessage{named(name_), known->handle})] = {known, known->handle};
  }

  void change() {
    Known* known = some_received();
    if (known == nullptr) return;
    const auto seconds = static_cast<std::int64_t>(random_.below(3));
    // From now on we do not know when it shows.
    known->hidden_until = 0;
    loop_.begin(ChangeMessageVisibility{named(name_), known->handle, seconds});
  }

  void apply() {
    loop_.settle();
    collect();
  }

  void refuse() {
    loop_.fail_pending();
    collect();
  }

  void restart() {
    // Of what was on the way the log has a part that nobody was told of.
    const bool applied = random_.chance(0.5);
    if (applied) loop_.apply_pending();
    loop_.answers.clear();
    sends_.clear();
    receives_.clear();
    deletes_.clear();
    if (random_.chance(0.5)) {
      loop_.restart(&snapshot_);
    } else {
      loop_.restart();
    }
    snapshot_ = *loop_.store;
  }

  void collect() {
    for (const Token token : std::exchange(loop_.answered, {})) {
      const auto answer = loop_.take(token);
      if (!answer) continue;
      const Outcome& outcome = *answer;
      if (const auto send = sends_.extract(token)) {
        if (outcome) messages_.at(send.mapped()).acknowledged = true;
      } else if (const auto receive = receives_.extract(token)) {
        if (outcome) {
          received(std::get<ReceiveMessageResult>(*outcome).messages, receive.mapped());
        }
      } else if (const auto removed = deletes_.extract(token)) {
        auto& [known, handle] = removed.mapped();
        // An old handle's deletion does nothing on standard queues.
        if (outcome && known->handle == handle) known->deleted = true;
      }
    }
  }

  // `asked`: hidden from then for a second, at least.
  void received(const std::vector<Message>& given, Millis asked) {
    for (const Message& message : given) {
      const std::string body(message.body.view());
      ASSERT_TRUE(messages_.contains(body));
      Known& known = messages_.at(body);
      EXPECT_FALSE(known.deleted) << body << " came back";
      if (fifo_) {
        EXPECT_LE(known.hidden_until, loop_.time) << body << " was given twice";
        check_order(known, body);
      }
      known.handle = message.receipt_handle;
      known.hidden_until = asked + 1'000;
    }
  }

  // Nothing of the group that was sent before and is surely there may be left out.
  void check_order(const Known& known, const std::string& body) {
    for (const auto& [other_body, other] : messages_) {
      if (other.group != known.group || other.order >= known.order) continue;
      if (!other.acknowledged || other.maybe_deleted) continue;
      EXPECT_FALSE(other.handle.empty()) << body << " overtook " << other_body;
    }
  }

  void finish() {
    loop_.settle();
    collect();
    for (int round = 0; round < 2'000; ++round) {
      loop_.advance(1'100);
      collect();
      bool any = false;
      for (const Message& message : loop_.receive(name_, 10, 1)) {
        any = true;
        received({message}, loop_.time);
        Known& known = messages_.at(std::string(message.body.view()));
        known.maybe_deleted = true;
        loop_.remove(name_, message.receipt_handle);
        known.deleted = true;
      }
      if (!any && round > 5) break;
    }
    for (const auto& [body, known] : messages_) {
      EXPECT_TRUE(!known.acknowledged || known.maybe_deleted) << body << " was lost";
    }
    EXPECT_EQ(loop_.counts(name_), (Texts{"0", "0", "0"}));
  }

  Random random_;
  bool fifo_;
  Loop loop_;
  std::string name_;
  TestStore snapshot_;
  std::uint64_t next_ = 1;
  std::map<std::string, Known> messages_;
  std::map<Token, std::string> sends_;
  std::map<Token, Millis> receives_;
  std::map<Token, std::pair<Known*, std::string>> deletes_;
};

void run_seeds(bool fifo) {
  const std::uint64_t seeds = seeds_or(1'500);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Schedule(seed, fifo).run(150);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomSchedules, OfAStandardQueueLoseNothing) { run_seeds(false); }
TEST(RandomSchedules, OfAFifoQueueLoseDoubleAndReorderNothing) { run_seeds(true); }

}  // namespace
}  // namespace canopy::queue
