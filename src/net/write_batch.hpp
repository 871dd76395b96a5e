// What leaves a stream in one gathered write.
//
// Heads (prefix and header) are put side by side; bodies stay where they are
// and are kept alive until they are written, so that a payload that goes to
// many peers is never copied. Bounded in frames, pieces and bytes. Used by one
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <boost/asio/buffer.hpp>

#include "base/buffer.hpp"
#include "wire/frame.hpp"

namespace canopy::net {

class WriteBatch {
 public:
  static constexpr std::size_t frames_max = 256;
  static constexpr std::size_t pieces_max = 64;  // as many as one system call takes
  static constexpr std::size_t bytes_max = std::size_t{256} << 10;

  // Frames are added first, then all are written; then clear() starts anew.
  void add(const wire::EncodedFrame& frame);

  // No more frames should be added. One frame always fits, whatever its size.
  bool full() const noexcept;

  bool empty() const noexcept { return frames_ == 0; }
  std::size_t frames() const noexcept { return frames_; }
  std::size_t bytes() const noexcept { return bytes_; }

  // What is still to be written.
  const std::vector<boost::asio::const_buffer>& pieces();

  // The first `size` bytes of pieces() have been written.
  void consume(std::size_t size);

  bool written() const noexcept { return written_ == bytes_; }
  void clear();

 private:
  struct Piece {
    std::size_t head_begin = 0;  // in heads_, when there is no body
    std::size_t head_size = 0;
    Buffer body;
  };

  std::string heads_;
  std::vector<Piece> parts_;
  std::vector<boost::asio::const_buffer> pieces_;
  std::size_t frames_ = 0;
  std::size_t bytes_ = 0;
  std::size_t written_ = 0;
};

}  // namespace canopy::net
