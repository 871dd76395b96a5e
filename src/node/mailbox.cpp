#include "node/mailbox.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace canopy::node {

Mailbox::Posted Mailbox::post(Call call, std::size_t bytes) {
  return push(std::move(call), bytes, true);
}

void Mailbox::post_always(Call call) { push(std::move(call), 0, false); }

Mailbox::Posted Mailbox::push(Call call, std::size_t bytes, bool bounded) {
  std::lock_guard lock(mutex_);
  bool full = calls_ >= limits_.calls_max || bytes_ + bytes > limits_.bytes_max;
  if (closed_) return Posted::closed;
  if (bounded && full) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return Posted::full;
  }
  incoming_.push_back({std::move(call), bytes});
  ++calls_;
  bytes_ += bytes;
  if (!std::exchange(awake_, true)) wake();
  return Posted::taken;
}

void Mailbox::close() {
  std::vector<Entry> dropped;  // destroyed without the lock: calls own other objects
  std::vector<Entry> rest;
  std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(incoming_);
  rest.swap(batch_);
  next_ = 0;
  calls_ = 0;
  bytes_ = 0;
  batch_bytes_ = 0;
}

void Mailbox::wake() {
  boost::asio::post(*loop_, [self = shared_from_this()] { self->run_turn(); });
}

void Mailbox::run_turn() {
  Entry entry;
  for (std::size_t n = 0; n < turn_calls_max; ++n) {
    if (!take_next(entry)) return;
    entry.call();
    entry.call = nullptr;
  }
  wake();
}

bool Mailbox::take_next(Entry& entry) {
  if (next_ == batch_.size()) {
    std::lock_guard lock(mutex_);
    calls_ -= std::min(calls_, batch_.size());  // the batch that is over
    bytes_ -= std::min(bytes_, batch_bytes_);
    batch_bytes_ = 0;
    next_ = 0;
    batch_.clear();
    batch_.swap(incoming_);
    if (batch_.empty()) {
      awake_ = false;
      return false;
    }
  }
  entry = std::move(batch_[next_++]);
  batch_bytes_ += entry.bytes;
  return true;
}

}  // namespace canopy::node
