// One I/O thread of the HTTP server, and what its connections share. Everything
// but what says otherwise belongs to the loop's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gateway/front.hpp"
#include "gateway/http_server.hpp"
#include "gateway/pending_call.hpp"

namespace canopy::gateway {

using Clock = std::chrono::steady_clock;

// Counted by all threads.
struct HttpCounts {
  void connection_closed();
  // False: some were not when the time was up.
  bool wait_until_all_closed(std::chrono::milliseconds time_max);

  std::atomic<std::uint64_t> connections = 0;
  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> malformed = 0;
  std::atomic<std::uint64_t> shed = 0;
  std::atomic<std::uint64_t> timed_out = 0;
  std::atomic<std::uint64_t> hung_up = 0;
  std::atomic<std::size_t> buffer_bytes = 0;  // of all connections that need more than the usual

 private:
  std::mutex mutex_;
  std::condition_variable all_closed_;
};

// What the loop does with any connection, whatever it runs over.
class AnyConnection {
 public:
  virtual ~AnyConnection() = default;
  virtual void on_tick(Clock::time_point now) = 0;
  virtual void drain() = 0;
  virtual void abort() = 0;

  std::size_t place = 0;  // in the loop's list
};

class HttpLoop {
 public:
  HttpLoop(const HttpOptions& options_in, Shared& shared, HttpCounts& counts_in,
           std::uint64_t seed);

  void add(std::shared_ptr<AnyConnection> connection);
  void remove(AnyConnection& connection);

  // Closes what is idle, now and later.
  void drain();
  bool draining() const noexcept { return draining_; }

  void stop();

  // The time, as of the last tick: a coarse one for deadlines.
  Clock::time_point now() const noexcept { return now_; }
  // Whether a connection's buffer may grow by so much, or shrink, if negative.
  bool grow_buffer(std::ptrdiff_t bytes) noexcept;

  // For the Date of answers.
  const std::string& date();

  // Shared with those who post outcomes into it.
  const std::shared_ptr<boost::asio::io_context> context;
  boost::asio::io_context& io;
  const HttpOptions& options;
  HttpCounts& counts;
  Front front;
  Service& service;
  std::shared_ptr<Mailbag> mailbag;

 private:
  void tick();

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  Clock::time_point now_ = Clock::now();
  std::vector<std::shared_ptr<AnyConnection>> connections_;
  bool draining_ = false;
  bool stopped_ = false;
  std::int64_t date_second_ = 0;
  std::string date_;
};

// Seconds since 1970.
std::int64_t wall_seconds();

}  // namespace canopy::gateway
