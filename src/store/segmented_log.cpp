#include "store/segmented_log.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

namespace canopy::store {

using boost::system::error_code;
using boost::system::result;
using std::chrono::steady_clock;

SegmentedLog::SegmentedLog(std::unique_ptr<Disk> disk, const LogOptions& options, LogEvents& events,
                           Post post)
    : options_(options),
      events_(events),
      post_(std::move(post)),
      self_(std::make_shared<SegmentedLog*>(this)),
      disk_(std::move(disk)),
      segments_(*disk_, options),
      next_(segments_.last() + 1),
      first_(segments_.first()),
      last_(segments_.last()),
      writer_([this] { run(); }) {}

SegmentedLog::~SegmentedLog() {
  {
    Lock lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  writer_.join();
}

result<std::uint64_t> SegmentedLog::submit(Buffer record) {
  if (record.size() > options_.record_bytes_max) return make_error_code(errc::too_large);
  Lock lock(mutex_);
  if (fault_) return fault_;
  if (pending_bytes_ > 0 && pending_bytes_ + record.size() > options_.pending_bytes_max)
    return make_error_code(errc::queue_full);
  pending_bytes_ += record.size();
  pending_.push_back(std::move(record));
  std::uint64_t index = next_++;
  const bool wanted = idle_ || (waiting_ && pending_.size() >= enough_);
  if (!wanted || gathering_) return index;
  gathering_ = true;
  lock.unlock();
  post(&SegmentedLog::start_writing);
  return index;
}

void SegmentedLog::start_writing() {
  {
    Lock lock(mutex_);
    gathering_ = idle_ = false;
  }
  work_.notify_one();
}

error_code SegmentedLog::fault() const {
  Lock lock(mutex_);
  return fault_;
}

std::uint64_t SegmentedLog::first() const {
  Lock lock(mutex_);
  return first_;
}

std::uint64_t SegmentedLog::last() const {
  Lock lock(mutex_);
  return last_;
}

void SegmentedLog::replay(std::uint64_t from, const UseRecord& use) { segments_.replay(from, use); }

void SegmentedLog::cut_before(std::uint64_t index) {
  {
    Lock lock(mutex_);
    if (index <= cut_before_) return;
    cut_before_ = index;
  }
  work_.notify_one();
}

void SegmentedLog::run() {
  if (options_.begin_thread) options_.begin_thread();
  Lock lock(mutex_);
  std::uint64_t cut_done = 0;
  for (;;) {
    if (fault_) {
      if (stopping_) return;
      try_again(lock);
    } else if (!pending_.empty() && (!gathering_ || stopping_)) {
      if (awaits_more()) {
        waiting_ = true;
        work_.wait_until(lock, gather_until_);
        waiting_ = false;
      } else {
        write_pending(lock);
      }
    } else if (cut_before_ > cut_done) {
      cut_done = cut_before_;
      cut(lock);
    } else if (stopping_) {
      break;
    } else {
      idle_ = true;
      work_.wait(lock);
      idle_ = false;
    }
  }
  lock.unlock();
  segments_.close();
}

bool SegmentedLog::awaits_more() const {
  return !stopping_ && pending_.size() < enough_ && steady_clock::now() < gather_until_;
}

void SegmentedLog::write_pending(Lock& lock) {
  batch_.swap(pending_);
  // One less each time, so that a caller that has left is soon not waited for.
  enough_ = std::min(std::max(batch_.size(), enough_ - 1), options_.gather_enough);
  gather_until_ = steady_clock::now() + options_.gather_time;
  std::uint64_t bytes = pending_bytes_;
  std::uint64_t before = last_;
  lock.unlock();
  error_code error = segments_.append(batch_);
  batch_.clear();
  lock.lock();
  pending_bytes_ -= bytes;
  last_ = segments_.last();
  if (last_ > before) tell(lock, {last_, {}});
  if (!error) return;
  fault_ = error;
  pending_.clear();
  pending_bytes_ = 0;
  next_ = last_ + 1;
  tell(lock, {next_, error});
}

// Not before failed() is delivered: the indices are used again from then on.
void SegmentedLog::try_again(Lock& lock) {
  work_.wait_for(lock, options_.retry_every, [this] { return stopping_; });
  if (stopping_ || !results_.empty()) return;
  lock.unlock();
  // The room that a cut gives back may be what is missing.
  segments_.cut_before(cut_before_);
  error_code error = segments_.prepare();
  lock.lock();
  first_ = segments_.first();
  fault_ = error;
}

void SegmentedLog::cut(Lock& lock) {
  std::uint64_t index = cut_before_;
  lock.unlock();
  segments_.cut_before(index);  // what fails is tried with the next cut
  lock.lock();
  first_ = segments_.first();
}

void SegmentedLog::tell(Lock& lock, Result result) {
  bool is_first = results_.empty();
  if (!is_first && !result.error && !results_.back().error)
    results_.back() = result;
  else
    results_.push_back(result);
  if (!is_first) return;
  lock.unlock();
  post(&SegmentedLog::deliver);
  lock.lock();
}

void SegmentedLog::post(void (SegmentedLog::*call)()) {
  post_([weak = std::weak_ptr<SegmentedLog*>(self_), call] {
    if (std::shared_ptr<SegmentedLog*> self = weak.lock()) ((*self)->*call)();
  });
}

void SegmentedLog::deliver() {
  std::vector<Result> results;
  {
    Lock lock(mutex_);
    results.swap(results_);
  }
  for (const Result& result : results) {
    if (result.error)
      events_.failed(result.index, result.error);
    else
      events_.persisted(result.index);
  }
}

}  // namespace canopy::store
