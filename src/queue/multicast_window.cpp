#include "queue/multicast_window.hpp"

#include <algorithm>

#include "queue/bytes.hpp"

namespace canopy::queue {

namespace {
constexpr std::uint8_t window_version = 1;
}  // namespace

MulticastWindow::Place MulticastWindow::take(std::uint64_t sequence) {
  if (sequence <= forgotten_) return Place::unsure;
  // The first run that begins behind it.
  const auto behind = std::ranges::upper_bound(runs_, sequence, {}, &Run::first);
  const auto before = behind == runs_.begin() ? runs_.end() : behind - 1;
  if (before != runs_.end() && sequence <= before->last) return Place::again;
  lowest_ = runs_.empty() ? sequence : std::min(lowest_, sequence);
  ++taken_;
  const bool joins_before = before != runs_.end() && before->last + 1 == sequence;
  const bool joins_behind = behind != runs_.end() && sequence + 1 == behind->first;
  if (joins_before && joins_behind) {
    before->last = behind->last;
    runs_.erase(behind);
  } else if (joins_before) {
    before->last = sequence;
  } else if (joins_behind) {
    behind->first = sequence;
  } else {
    runs_.insert(behind, {sequence, sequence});
  }
  if (runs_.size() > runs_max) {
    forgotten_ = runs_.front().last;
    runs_.erase(runs_.begin());
  }
  return Place::first;
}

std::string encode(const MulticastWindow& window) {
  ByteWriter out;
  out.u8(window_version);
  out.varint(window.forgotten_);
  out.varint(window.lowest_);
  out.varint(window.taken_);
  out.varint(window.runs_.size());
  std::uint64_t before = window.forgotten_;
  for (const MulticastWindow::Run& run : window.runs_) {
    out.varint(run.first - before);
    out.varint(run.last - run.first);
    before = run.last;
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
  window.runs_.reserve(count);
  std::uint64_t before = window.forgotten_;
  for (std::size_t left = count; left > 0 && in.ok(); --left) {
    const std::uint64_t first = before + in.varint();
    before = first + in.varint();
    window.runs_.push_back({first, before});
  }
  return in.finished() ? std::optional(std::move(window)) : std::nullopt;
}

}  // namespace canopy::queue
