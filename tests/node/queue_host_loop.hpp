// A queue host in virtual time, on a disk and a store that lose and fail on
// purpose. A turn runs when the test says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/queue_host.hpp"
#include "store/fault_disk.hpp"
#include "store/fault_log.hpp"
#include "store/fault_store.hpp"

namespace canopy::node {

inline const queue::Caller owner{"000000000000", "000000000000"};

inline queue::QueueName named(const std::string& name) {
  return {"us-east-1", owner.account, name};
}

// Keeps the answer.
class TestCall final : public gateway::Call {
 public:
  bool cancelled() const noexcept override { return gone; }
  void done(queue::Outcome given) override { outcome = std::move(given); }

  bool ok() const { return outcome && outcome->has_value(); }
  bool refused() const {
    return outcome && outcome->has_error() &&
           outcome->error().code == queue::ErrorCode::service_unavailable;
  }
  std::vector<std::string> bodies() const {
    std::vector<std::string> all;
    for (const auto& message : messages()) all.emplace_back(message.body.view());
    return all;
  }
  const std::vector<queue::Message>& messages() const {
    return std::get<queue::ReceiveMessageResult>(outcome->value()).messages;
  }

  bool gone = false;
  std::optional<queue::Outcome> outcome;
};

class HostLoop {
 public:
  explicit HostLoop(std::uint64_t seed = 1, QueueHostOptions options = {})
      : disk(seed), store(seed), options_(std::move(options)) {
    start();
  }

  // As after the end of the process; a crash loses what was not synced.
  void restart() {
    stop();
    start();
  }
  void crash() {
    stop();
    disk.crash();
    store.crash();
    start();
  }

  std::shared_ptr<TestCall> ask(queue::Action action) {
    auto call = std::make_shared<TestCall>();
    requests_.push_back({owner, std::move(action), call});
    return call;
  }

  std::shared_ptr<TestCall> send(const std::string& queue, const std::string& body) {
    queue::SendMessage send{named(queue), {}};
    send.entry.body = Buffer::copy_of(body);
    return ask(std::move(send));
  }

  std::shared_ptr<TestCall> receive(const std::string& queue, std::int64_t wait_s = 0) {
    queue::ReceiveMessage receive;
    receive.queue = named(queue);
    receive.messages_max = 10;
    receive.wait_time_seconds = wait_s;
    receive.system_attribute_names = {"All"};
    return ask(std::move(receive));
  }

  void create_queue(const std::string& name) {
    ask(queue::CreateQueue{named(name), {}, {}});
    settle();
  }

  // What a storage loop does in one go; the log's writer is another.
  void turn() {
    host->apply(now());
    for (gateway::Ask& request : std::exchange(requests_, {})) host->take(std::move(request));
    host->finish_turn();
  }
  void write_log() { log_->write(); }

  // Both, until nothing is left to do at this time.
  void settle(int turns = 10) {
    for (int i = 0; i < turns; ++i) {
      turn();
      write_log();
    }
    turn();
  }

  void advance(std::chrono::milliseconds by) { time_ += by; }
  WallTime now() const { return time_; }
  std::uint64_t log_first() const { return log_->first(); }

  store::FaultDisk disk;
  store::FaultStore store;
  std::unique_ptr<QueueHost> host;

 private:
  // The host owns its store; this one stays with the test.
  class Borrowed final : public store::KeyValueStore {
   public:
    explicit Borrowed(store::FaultStore& store) : store_(store) {}
    boost::system::result<std::optional<std::string>> get(std::string_view key) const override {
      return store_.get(key);
    }
    std::unique_ptr<store::Cursor> range(std::string_view first,
                                         std::string_view last) const override {
      return store_.range(first, last);
    }
    boost::system::error_code apply(const store::Batch& batch, std::uint64_t index) override {
      return store_.apply(batch, index);
    }
    std::uint64_t applied() const override { return store_.applied(); }
    std::uint64_t persisted() const override { return store_.persisted(); }
    void flush() override { store_.flush(); }

   private:
    store::FaultStore& store_;
  };

  void start() {
    QueueHostOptions options = options_;
    options.machine.origin = {1, ++boots_ << 16};
    options.machine.seed = boots_;
    options.machine.fresh_key.fill('k');
    host = std::make_unique<QueueHost>(options);
    store::LogOptions log;
    log.segment_bytes = 64 << 10;
    log.record_bytes_max = 16 << 10;
    auto opened = std::make_unique<store::FaultLog>(disk, log, *host);
    log_ = opened.get();
    host->start({std::make_unique<Borrowed>(store), std::move(opened)});
    time_ = std::max(time_, host->time());
    host->begin(now());
  }

  void stop() {
    requests_.clear();
    host.reset();
  }

  const QueueHostOptions options_;
  store::FaultLog* log_ = nullptr;
  WallTime time_{std::chrono::milliseconds(1'700'000'000'000)};
  std::uint64_t boots_ = 0;
  std::vector<gateway::Ask> requests_;
};

}  // namespace canopy::node
