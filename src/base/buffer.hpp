// Immutable bytes, shared by counting.
//
// A Buffer is a slice of a counted slab: copying one copies no bytes, so a
// payload read once from a socket is the payload that every child and every
// subscriber gets. The bytes never change after construction; Buffers may be
// passed between threads freely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace canopy {

class Buffer {
 public:
  Buffer() noexcept = default;

  // Copies the bytes into a new slab.
  static Buffer copy_of(std::string_view bytes);

  // Takes a slab that nobody writes to any more.
  Buffer(std::shared_ptr<const char[]> slab, std::size_t offset, std::size_t size) noexcept
      : slab_(std::move(slab)), data_(slab_.get() + offset), size_(size) {}

  // A part of it; shares the slab. offset + size must not pass the end.
  Buffer slice(std::size_t offset, std::size_t size) const;

  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {data_, size_}; }

  // What keeps the bytes alive.
  const std::shared_ptr<const char[]>& slab() const noexcept { return slab_; }

  friend bool operator==(const Buffer& a, const Buffer& b) noexcept { return a.view() == b.view(); }

 private:
  std::shared_ptr<const char[]> slab_;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace canopy
