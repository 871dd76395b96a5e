// A queue service in memory for tests of the gateway: queues with just enough
// sense for clients to be happy. A thread of its own answers, as a storage loop
// would.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gateway/service.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

class FakeService final : public Service {
 public:
  FakeService();
  ~FakeService() override;

  void call(queue::Caller caller, queue::Action action, std::shared_ptr<Call> call) override;
  void cancelled(const std::shared_ptr<Call>& call) override;
  void give_back(queue::QueueName name, std::vector<std::string> receipt_handles) override;
  std::string problem() const override;

  void set_problem(std::string problem);
  // Receives that wait at the moment, and messages that can be received.
  std::size_t waiting() const;
  std::size_t visible(const std::string& queue_name) const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Stored {
    queue::Message message;
    Clock::time_point visible_at;
  };
  struct Queue {
    queue::Attributes attributes;
    queue::Tags tags;
    std::deque<Stored> messages;
  };
  struct Request {
    queue::Caller caller;
    queue::Action action;
    std::shared_ptr<Call> call;
    Clock::time_point until;  // of a receive that waits
  };
  struct Handler;

  void run();
  void handle(Request& request, Clock::time_point now);
  queue::ReceiveMessageResult take(const queue::ReceiveMessage& receive, Clock::time_point now);
  void serve_waiting(Clock::time_point now);

  std::mutex incoming_mutex_;  // callers do not wait for the work
  std::condition_variable wake_;
  std::vector<Request> incoming_;
  bool stopping_ = false;

  mutable std::mutex mutex_;
  std::vector<Request> waiting_;
  std::map<queue::QueueName, Queue> queues_;
  std::uint64_t last_id_ = 0;
  std::string problem_;
  std::thread thread_;
};

}  // namespace canopy::gateway
