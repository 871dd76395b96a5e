// First in, first out; owns no memory while it is empty and has always been
// short, as most queues are. Not thread-safe.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace canopy {

template <class T>
class Fifo {
 public:
  bool empty() const noexcept { return head_ == items_.size(); }
  std::size_t size() const noexcept { return items_.size() - head_; }
  const T& front() const noexcept { return items_[head_]; }

  void push(T item) { items_.push_back(std::move(item)); }

  // Not of an empty one.
  T pop() {
    T item = std::exchange(items_[head_], T{});  // a moved-from item may still hold something
    ++head_;
    if (empty()) {
      items_.clear();
      head_ = 0;
      if (items_.capacity() > kept_items_max) items_.shrink_to_fit();
    } else if (head_ >= compact_from && head_ * 2 >= items_.size()) {
      items_.erase(items_.begin(), std::next(items_.begin(), static_cast<std::ptrdiff_t>(head_)));
      head_ = 0;
    }
    return item;
  }

 private:
  static constexpr std::size_t kept_items_max = 64;  // room that an emptied queue keeps
  static constexpr std::size_t compact_from = 1024;  // items gone before the rest is moved up

  std::vector<T> items_;
  std::size_t head_ = 0;  // items before it are gone
};

}  // namespace canopy
