// Carries calls from an I/O thread to the service, and outcomes from the service's
// threads back to the I/O thread whose client waits.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gateway/service.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

class PendingCall;

// Calls and outcomes on their way out of and into one event loop. What one turn of
// the loop asks for goes to the service together; the first outcome of a batch
// wakes the loop. put() is thread-safe, the rest belongs to the loop's thread.
class Mailbag : public std::enable_shared_from_this<Mailbag> {
 public:
  Mailbag(std::shared_ptr<boost::asio::io_context> loop, Service& service)
      : loop_(std::move(loop)), service_(service) {}

  void ask(Ask ask);
  // Dropped once it is closed.
  void put(std::shared_ptr<PendingCall> call, queue::Outcome outcome);
  void close();

 private:
  void send();
  void run();

  using Entry = std::pair<std::shared_ptr<PendingCall>, queue::Outcome>;

  const std::shared_ptr<boost::asio::io_context> loop_;
  Service& service_;
  std::vector<Ask> asks_;
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<Entry> waiting_;
  std::vector<Entry> batch_;  // of the loop's thread
};

// A call of one connection: the service may keep it longer than the connection
// lives. Where messages come to a call that nobody waits for any more, they go
// back to their queue.
class PendingCall final : public Call, public std::enable_shared_from_this<PendingCall> {
 public:
  // Who waits; of the loop's thread.
  class Owner {
   public:
    virtual void on_outcome(queue::Outcome outcome) = 0;

   protected:
    ~Owner() = default;
  };

  PendingCall(std::shared_ptr<Mailbag> mailbag, Service& service)
      : mailbag_(std::move(mailbag)), service_(service) {}

  // Of the loop's thread. `owner` is told unless it calls abandon() before.
  void begin(Owner& owner, queue::Caller caller, queue::Action action);
  void abandon();

  // The messages that this call has received: nobody got them.
  void give_back(const queue::Outcome& outcome);

  bool cancelled() const noexcept override { return cancelled_.load(std::memory_order_acquire); }
  void done(queue::Outcome outcome) override {
    mailbag_->put(shared_from_this(), std::move(outcome));
  }

 private:
  friend class Mailbag;
  void deliver(queue::Outcome outcome);

  const std::shared_ptr<Mailbag> mailbag_;
  Service& service_;
  std::atomic<bool> cancelled_ = false;
  Owner* owner_ = nullptr;
  std::optional<queue::QueueName> received_from_;  // of a receive, for give_back()
};

}  // namespace canopy::gateway
