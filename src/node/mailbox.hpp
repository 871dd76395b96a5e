// Calls from any thread into one event loop, handed over in batches.
//
// The first call of a batch wakes the loop, the rest are taken along, so that a
// flood of publishes costs one wake-up, not one each. Bounded in calls and in
// the bytes that they carry: what does not fit is refused, and counted. A turn
// runs at most turn_calls_max calls before the loop's other work gets its turn.
//
// Ownership: by shared_ptr, as senders and loop end in any order. post() is
// thread-safe, the rest belongs to the loop's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace canopy::node {

class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  using Call = std::function<void()>;

  enum class Posted { taken, full, closed };

  struct Limits {
    std::size_t calls_max = 65'536;
    std::size_t bytes_max = std::size_t{64} << 20;
  };

  // The loop must outlive the mailbox or close() it first.
  Mailbox(boost::asio::io_context& loop, Limits limits) : loop_(&loop), limits_(limits) {}

  // Unless taken, the call is dropped.
  Posted post(Call call, std::size_t bytes = 0);

  // Calls that free something: always taken, except after close().
  void post_always(Call call);

  // Drops what waits, and everything from now on.
  void close();

  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    Call call;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t turn_calls_max = 256;

  Posted push(Call call, std::size_t bytes, bool bounded);
  void wake();
  void run_turn();
  bool take_next(Entry& entry);

  boost::asio::io_context* loop_;
  const Limits limits_;
  std::atomic<std::uint64_t> refused_ = 0;

  std::mutex mutex_;
  std::vector<Entry> incoming_;
  std::size_t calls_ = 0;  // taken and not known to be over: a batch counts to its end
  std::size_t bytes_ = 0;
  bool awake_ = false;  // a turn is posted or running
  bool closed_ = false;

  std::vector<Entry> batch_;  // of the loop's thread
  std::size_t next_ = 0;      // in batch_
  std::size_t batch_bytes_ = 0;
};

}  // namespace canopy::node
