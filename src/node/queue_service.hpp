// The queue service of this peer: a queue host on a thread of its own, the
// storage loop's, with a log and a store on disk or in memory.
//
// Callers hand their requests over through a bounded mailbox. The loop takes all
// that is there at once, and is woken only when it sleeps, so that many requests
// cost one wake-up; answers go out as the outcomes of a batch, one after the
// other. What finds no room is refused as service_unavailable, and counted.
// Thread-safe, but for constructor and destructor; nobody calls during those.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gateway/service.hpp"
#include "node/command_clock.hpp"
#include "node/queue_host.hpp"
#include "store/memory_store.hpp"
#include "store/owner.hpp"

namespace canopy::node {

struct QueueServiceOptions {
  std::string directory;  // with the log and the store; empty: in memory
  store::Owner owner;     // of the directory
  std::uint64_t memory_bytes = std::uint64_t{256} << 20;    // of the store on disk
  std::uint64_t stored_bytes_max = std::uint64_t{1} << 30;  // of one in memory
  QueueHostOptions host;
  // What waits for the loop.
  std::size_t requests_max = 65'536;
  std::size_t request_bytes_max = std::size_t{64} << 20;
};

class QueueService final : public gateway::Service {
 public:
  // Opens the directory, and applies what the log has beyond the store. Throws
  // StartError, which names the file that is at fault.
  explicit QueueService(const QueueServiceOptions& options);
  // Lets what is in the log be answered, within a few seconds, refuses the rest,
  // and leaves the store such that the next start is quick.
  ~QueueService() override;
  QueueService(const QueueService&) = delete;
  QueueService& operator=(const QueueService&) = delete;

  void call(queue::Caller caller, queue::Action action,
            std::shared_ptr<gateway::Call> call) override;
  void call_all(std::vector<gateway::Ask>& asks) override;
  void cancelled(const std::shared_ptr<gateway::Call>& call) override;
  void give_back(queue::QueueName queue, std::vector<std::string> receipt_handles) override;
  std::string problem() const override;

  struct Counters {
    QueueCounters host;
    queue::Machine::Statistics machine;
    std::uint64_t refused = 0;  // since the mailbox was full
  };
  // As of the last turn. Any thread.
  Counters counters() const;

 private:
  struct GivenBack {
    queue::QueueName queue;
    std::vector<std::string> handles;
  };
  // What comes from other threads.
  struct Incoming {
    std::vector<std::function<void()>> posted;  // of the log and the store
    std::vector<gateway::Ask> requests;
    std::vector<std::shared_ptr<gateway::Call>> cancelled;
    std::vector<GivenBack> given_back;
    std::size_t request_bytes = 0;

    bool empty() const {
      return posted.empty() && requests.empty() && cancelled.empty() && given_back.empty();
    }
  };

  store::Opened open(const QueueServiceOptions& options);
  store::Post post();
  template <class Add>
  void hand_over(Add add);
  bool fits(Incoming& incoming, const gateway::Ask& ask);
  void run();
  bool is_over(MonoTime& deadline);
  void wait();
  void turn();
  void publish_state();
  void look_at_room();
  std::string room_problem() const;
  WallTime now();

  const std::string directory_;
  const std::uint64_t stored_bytes_max_;
  const store::MemoryStore* in_memory_ = nullptr;  // the host's
  const std::size_t requests_max_;
  const std::size_t request_bytes_max_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Incoming incoming_;
  bool asleep_ = false;
  bool stopping_ = false;
  std::uint64_t refused_ = 0;

  mutable std::mutex state_mutex_;
  std::string problem_;
  Counters counters_;

  // Of the loop's thread, once it runs.
  QueueHost host_;
  std::optional<CommandClock> clock_;
  Incoming batch_;
  MonoTime room_seen_{};
  bool has_room_ = true;

  std::thread thread_;
};

}  // namespace canopy::node
