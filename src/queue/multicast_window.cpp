#include "queue/multicast_window.hpp"

#include <algorithm>

#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {
constexpr std::uint8_t window_version = 1;
}  // namespace

MulticastWindow::Place MulticastWindow::take(std::uint64_t sequence) {
  if (sequence <= forgotten_) return Place::unsure;
  const auto at = std::ranges::lower_bound(seen_, sequence);
  if (at != seen_.end() && *at == sequence) return Place::again;
  lowest_ = empty() ? sequence : std::min(lowest_, sequence);
  ++taken_;
  seen_.insert(at, sequence);
  if (seen_.size() > size_max) {
    forgotten_ = seen_.front();
    seen_.erase(seen_.begin());
  }
  return Place::first;
}

std::string encode(const MulticastWindow& window) {
  ByteWriter out;
  out.u8(window_version);
  out.varint(window.forgotten_);
  out.varint(window.lowest_);
  out.varint(window.taken_);
  out.varint(window.seen_.size());
  std::uint64_t before = window.forgotten_;
  for (const std::uint64_t sequence : window.seen_) {
    out.varint(sequence - before);
    before = sequence;
  }
  return out.take();
}

std::optional<MulticastWindow> decode_multicast_window(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.u8() != window_version) return std::nullopt;
  MulticastWindow window;
  window.forgotten_ = in.varint();
  window.lowest_ = in.varint();
  window.taken_ = in.varint();
  const std::size_t count = in.count();
  window.seen_.reserve(count);
  std::uint64_t before = window.forgotten_;
  for (std::size_t left = count; left > 0 && in.ok(); --left) {
    before += in.varint();
    window.seen_.push_back(before);
  }
  return in.finished() ? std::optional(std::move(window)) : std::nullopt;
}

}  // namespace canopy::queue
