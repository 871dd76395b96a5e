// A thread's share of the load: its connections in one epoll loop. Belongs to
// one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "canopy-bench/http_client.hpp"
#include "canopy-bench/ledger.hpp"
#include "canopy-bench/load_plan.hpp"
#include "canopy-bench/queue_requests.hpp"
#include "canopy-bench/signer.hpp"

namespace canopy::tools {

class LoadWorker {
 public:
  // Number `number` of the plan's threads; both must outlive it. Connects.
  // Throws std::runtime_error.
  LoadWorker(const LoadPlan& plan, Ledger& ledger, unsigned number);

  // Until the phase is over and its last answers are there, which is waited for
  // some seconds. Throws std::runtime_error when going on makes no sense.
  Counts run(const Phase& phase, std::stop_token stop);

 private:
  struct Pending {
    Kind kind;
    unsigned messages;
    unsigned fresh;  // of those to delete: seen for the first time
    Clock::time_point start;
  };
  struct Connection {
    unsigned number = 0;
    QueueRequests* requests = nullptr;
    bool receives = false;
    Descriptor socket;
    unsigned opened = 0;          // how often
    std::deque<Pending> pending;  // in the order of the answers
    std::string unsent;           // what the socket did not take
    std::string unread;           // the start of an answer
  };

  void open(Connection& connection);
  void reopen(Connection& connection);
  void start(const Phase& phase);
  bool over(Clock::time_point now) const;
  void turn(Clock::duration patience);
  void drain();
  bool has_pending() const;
  void give_up_pending();

  bool paced(const Connection& connection) const;
  Clock::duration time_to_next(Clock::time_point now) const;
  void start_due(Clock::time_point now);
  void count_unsent(Clock::time_point now);
  Clock::duration interval(unsigned messages) const;

  void next(Connection& connection, Clock::time_point now);
  void begin(Connection& connection, unsigned messages, Clock::time_point now);
  void receive(Connection& connection, unsigned messages, Clock::time_point now);
  unsigned draw_batch();
  void request(Connection& connection, const Pending& pending, std::string_view bytes);
  void flush(Connection& connection);
  void read(Connection& connection);
  void lose(Connection& connection, const std::string& why);

  void on_bytes(Connection& connection, std::string_view bytes, Clock::time_point now);
  void on_answer(Connection& connection, const HttpAnswer& answer, Clock::time_point now);
  void on_messages(Connection& connection, const Pending& pending, std::string_view body,
                   Clock::time_point now);
  unsigned count_arrivals();
  unsigned successes(const Pending& pending, const HttpAnswer& answer);
  unsigned successes(const Pending& pending, std::string_view body);
  void count(const Pending& pending, unsigned messages, Clock::time_point now);

  bool in_batches() const { return phase_->batch.max > 1; }

  const LoadPlan& plan_;
  Ledger& ledger_;
  Signer signer_;
  std::vector<std::unique_ptr<QueueRequests>> requests_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Descriptor epoll_;
  std::unique_ptr<char[]> buffer_;
  std::string unchunked_;
  std::vector<std::string_view> handles_;
  std::vector<std::string_view> bodies_;
  std::vector<std::string_view> codes_;
  Random random_;

  // Of the phase.
  const Phase* phase_ = nullptr;
  bool stopping_ = false;
  Counts counts_;
  std::vector<Connection*> idle_;  // waiting for their time, if there is a rate
  Clock::time_point next_due_;
  unsigned lost_ = 0;
};

}  // namespace canopy::tools
