#include "net/write_batch.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace canopy::net {

namespace {
constexpr std::size_t heads_kept_bytes_max = std::size_t{64} << 10;
}

void WriteBatch::add(const wire::EncodedFrame& frame) {
  CANOPY_ASSERT(pieces_.empty());
  if (parts_.empty() || !parts_.back().body.empty()) parts_.push_back({heads_.size(), 0, {}});
  heads_.append(frame.head);
  parts_.back().head_size += frame.head.size();
  if (!frame.body.empty()) parts_.push_back({0, 0, frame.body});
  ++frames_;
  bytes_ += frame.size();
}

bool WriteBatch::full() const noexcept {
  return frames_ >= frames_max || parts_.size() + 1 >= pieces_max || bytes_ >= bytes_max;
}

const std::vector<boost::asio::const_buffer>& WriteBatch::pieces() {
  if (pieces_.empty()) {
    for (const Piece& part : parts_) {
      if (part.body.empty())
        pieces_.emplace_back(heads_.data() + part.head_begin, part.head_size);
      else
        pieces_.emplace_back(part.body.data(), part.body.size());
    }
  }
  return pieces_;
}

void WriteBatch::consume(std::size_t size) {
  CANOPY_ASSERT(written_ + size <= bytes_);
  written_ += size;
  auto piece = pieces_.begin();
  while (piece != pieces_.end() && size >= piece->size()) {
    size -= piece->size();
    ++piece;
  }
  if (piece != pieces_.end()) *piece += size;
  pieces_.erase(pieces_.begin(), piece);
}

void WriteBatch::clear() {
  heads_.clear();
  if (heads_.capacity() > heads_kept_bytes_max) heads_.shrink_to_fit();
  parts_.clear();
  pieces_.clear();
  frames_ = bytes_ = written_ = 0;
}

}  // namespace canopy::net
