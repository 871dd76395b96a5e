// The log in the files of a directory, with a thread that writes and syncs.
//
// While one sync runs the next records gather, and go with the next one; an idle
// writer starts by way of the storage loop, so that all of one turn go together.
// A disk that is asked as often as it answers is no faster for it, and may be held
// up by its limits: so the writer waits a moment for as many records as it lately
// had at once. Callers that wait for their answers are all back by then, and a
// single one never waits.
// Results are posted to the loop, one call for what a sync did, fewer if the loop
// is slow. Destroying it writes what is pending, without telling anybody.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "store/disk.hpp"
#include "store/log.hpp"
#include "store/segments.hpp"

namespace canopy::store {

class SegmentedLog final : public Log {
 public:
  // Throws Damage. `events` and what `post` posts to must outlive it.
  SegmentedLog(std::unique_ptr<Disk> disk, const LogOptions& options, LogEvents& events, Post post);
  SegmentedLog(const SegmentedLog&) = delete;
  SegmentedLog& operator=(const SegmentedLog&) = delete;
  ~SegmentedLog() override;

  boost::system::result<std::uint64_t> submit(Buffer record) override;
  boost::system::error_code fault() const override;
  std::uint64_t first() const override;
  std::uint64_t last() const override;
  void replay(std::uint64_t from, const UseRecord& use) override;
  void cut_before(std::uint64_t index) override;

 private:
  struct Result {
    std::uint64_t index = 0;
    boost::system::error_code error;  // of failed(); none: persisted()
  };
  using Lock = std::unique_lock<std::mutex>;

  // On the writer's thread.
  void run();
  bool awaits_more() const;
  void write_pending(Lock& lock);
  void try_again(Lock& lock);
  void cut(Lock& lock);
  void tell(Lock& lock, Result result);

  // On the storage loop.
  void start_writing();
  void deliver();
  void post(void (SegmentedLog::*call)());  // from any thread

  const LogOptions options_;
  LogEvents& events_;
  const Post post_;
  const std::shared_ptr<SegmentedLog*> self_;  // expires with it; posted calls look

  std::unique_ptr<Disk> disk_;
  Segments segments_;          // the writer's, once there is something to do
  std::vector<Buffer> batch_;  // the writer's: what it writes

  mutable std::mutex mutex_;
  std::condition_variable work_;
  bool stopping_ = false;
  bool idle_ = true;        // the writer
  bool waiting_ = false;    // it is, for more records
  bool gathering_ = false;  // start_writing() is posted
  std::size_t enough_ = 1;  // records, not to wait for more
  std::chrono::steady_clock::time_point gather_until_{};
  std::vector<Buffer> pending_;
  std::uint64_t pending_bytes_ = 0;  // with those being written
  std::uint64_t next_ = 1;           // index
  std::uint64_t cut_before_ = 0;
  std::uint64_t first_ = 1;
  std::uint64_t last_ = 0;
  boost::system::error_code fault_;  // cannot write since then
  std::vector<Result> results_;      // not delivered yet

  std::thread writer_;
};

}  // namespace canopy::store
