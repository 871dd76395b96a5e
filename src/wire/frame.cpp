#include "wire/frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <boost/system/system_error.hpp>
#include <fmt/format.h>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "wire/big_endian.hpp"

namespace canopy::wire {

namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t long_header_size_bytes = 4;

constexpr std::size_t idle_slab_size = std::size_t{4} << 10;
constexpr std::size_t largest_shared_slab_size = std::size_t{64} << 10;

// With less room than this at its end, a slab is left for a new one.
constexpr std::size_t least_room = 512;

// Where the parts of a frame lie behind its prefix.
struct Layout {
  std::size_t header_begin = 0;
  std::size_t header_size = 0;
};

Decoded<Layout> layout_of(const FramePrefix& prefix, std::string_view rest) {
  if ((prefix.flags & frame_flag::long_header) == 0) {
    if (prefix.header_size > rest.size()) {
      return Malformed{errc::protocol,
                       fmt::format("frame of kind {} has a header of {} bytes in {} bytes",
                                   prefix.kind, prefix.header_size, rest.size())};
    }
    return Layout{0, prefix.header_size};
  }
  if (prefix.header_size != 0 || rest.size() < long_header_size_bytes) {
    return Malformed{errc::protocol, fmt::format("frame of kind {} announces a long header without "
                                                 "saying how long",
                                                 prefix.kind)};
  }
  const std::uint32_t size = load_big_endian<std::uint32_t>(rest.data());
  const std::size_t room = rest.size() - long_header_size_bytes;
  if (size > room) {
    return Malformed{errc::protocol,
                     fmt::format("frame of kind {} has a long header of {} bytes in {} bytes",
                                 prefix.kind, size, room)};
  }
  if (size > max_header) {
    return Malformed{errc::too_large, fmt::format("frame of kind {} has a header of {} bytes, more "
                                                  "than {}",
                                                  prefix.kind, size, max_header)};
  }
  return Layout{long_header_size_bytes, size};
}

}  // namespace

void throw_exception_from_error(const Malformed& error, const boost::source_location&) {
  throw boost::system::system_error(error.code, error.reason);
}

FramePrefix FramePrefix::parse(std::span<const char, frame_prefix_size> bytes) noexcept {
  return {.length = load_big_endian<std::uint32_t>(bytes.data()),
          .kind = static_cast<std::uint8_t>(bytes[4]),
          .flags = static_cast<std::uint8_t>(bytes[5]),
          .header_size = load_big_endian<std::uint16_t>(bytes.data() + 6)};
}

void FramePrefix::write_to(std::span<char, frame_prefix_size> bytes) const noexcept {
  store_big_endian(bytes.data(), length);
  bytes[4] = static_cast<char>(kind);
  bytes[5] = static_cast<char>(flags);
  store_big_endian(bytes.data() + 6, header_size);
}

EncodedFrame make_frame(std::uint8_t kind, std::size_t header_size, Buffer body) {
  CANOPY_ASSERT(header_size <= max_header);
  const bool is_long = header_size > max_short_header;
  const std::size_t head_size =
      frame_prefix_size + (is_long ? long_header_size_bytes : 0) + header_size;
  const std::size_t length = head_size - length_size + body.size();
  CANOPY_ASSERT(length <= UINT32_MAX);

  EncodedFrame frame{std::string(head_size, '\0'), std::move(body)};
  const FramePrefix prefix{.length = static_cast<std::uint32_t>(length),
                           .kind = kind,
                           .flags = is_long ? frame_flag::long_header : std::uint8_t{0},
                           .header_size = static_cast<std::uint16_t>(is_long ? 0 : header_size)};
  prefix.write_to(std::span<char, frame_prefix_size>(frame.head.data(), frame_prefix_size));
  if (is_long) {
    store_big_endian(frame.head.data() + frame_prefix_size,
                     static_cast<std::uint32_t>(header_size));
  }
  return frame;
}

char* header_of(EncodedFrame& frame) noexcept {
  const bool is_long = (frame.head[5] & frame_flag::long_header) != 0;
  return frame.head.data() + frame_prefix_size + (is_long ? long_header_size_bytes : 0);
}

Frame view_of(const EncodedFrame& frame) noexcept {
  const auto prefix = FramePrefix::parse(
      std::span<const char, frame_prefix_size>(frame.head.data(), frame_prefix_size));
  std::string_view header = frame.head;
  header.remove_prefix(frame_prefix_size);
  if ((prefix.flags & frame_flag::long_header) != 0) header.remove_prefix(long_header_size_bytes);
  return {prefix.kind, prefix.flags, header, frame.body};
}

FrameParser::FrameParser(std::size_t max_frame) noexcept
    : max_frame_(max_frame), slab_size_(idle_slab_size) {}

// Bytes that the frame at the front needs in one slab, as far as is known. One
// that is too large needs none: next() refuses it.
std::size_t FrameParser::wanted() const noexcept {
  if (pending() < frame_prefix_size) return frame_prefix_size;
  const std::size_t size = length_size + load_big_endian<std::uint32_t>(slab_.get() + begin_);
  return size > max_frame_ ? frame_prefix_size : size;
}

std::span<char> FrameParser::prepare() {
  CANOPY_ASSERT(!error_);
  if (begin_ == end_ && !shared_) begin_ = end_ = 0;
  const std::size_t room = capacity_ - end_;
  const bool fits = wanted() <= capacity_ - begin_;
  const bool frame_begun = pending() >= frame_prefix_size;
  const bool worn_out = room == 0 || (room < least_room && !frame_begun);
  const bool outgrown = begin_ == end_ && capacity_ < slab_size_;
  if (!fits || worn_out || outgrown) renew_slab(std::max(slab_size_, wanted()));
  return {slab_.get() + end_, capacity_ - end_};
}

// A new slab that begins with what is not parsed yet.
void FrameParser::renew_slab(std::size_t capacity) {
  const std::shared_ptr<char[]> slab(new char[capacity]);
  const std::size_t kept = pending();
  if (kept > 0) std::memcpy(slab.get(), slab_.get() + begin_, kept);
  slab_ = slab;
  capacity_ = capacity;
  begin_ = 0;
  end_ = kept;
  shared_ = false;
}

void FrameParser::commit(std::size_t size) noexcept {
  CANOPY_ASSERT(size <= capacity_ - end_);
  end_ += size;
  const bool filled = end_ == capacity_;
  slab_size_ = filled ? std::min(slab_size_ * 4, largest_shared_slab_size) : idle_slab_size;
}

// Gives back what only a burst of traffic needed.
void FrameParser::release_if_idle() noexcept {
  if (pending() > 0 || slab_size_ > idle_slab_size || capacity_ <= idle_slab_size) return;
  slab_.reset();
  capacity_ = begin_ = end_ = 0;
  shared_ = false;
}

std::optional<Frame> FrameParser::next() {
  if (pending() < length_size) release_if_idle();
  if (error_ || pending() < length_size) return std::nullopt;
  const char* const front = slab_.get() + begin_;
  const std::size_t size = length_size + load_big_endian<std::uint32_t>(front);
  if (size < frame_prefix_size) {
    fail(errc::protocol, fmt::format("frame of {} bytes is shorter than its own prefix", size));
    return std::nullopt;
  }
  if (size > max_frame_) {
    fail(errc::too_large, fmt::format("frame of {} bytes, more than {}", size, max_frame_));
    return std::nullopt;
  }
  if (pending() < size) return std::nullopt;

  const auto prefix =
      FramePrefix::parse(std::span<const char, frame_prefix_size>(front, frame_prefix_size));
  const std::string_view rest(front + frame_prefix_size, size - frame_prefix_size);
  auto layout = layout_of(prefix, rest);
  if (!layout) {
    fail(layout.error().code, layout.error().reason);
    return std::nullopt;
  }
  const std::size_t body_begin = layout->header_begin + layout->header_size;
  Frame frame{
      prefix.kind, prefix.flags, rest.substr(layout->header_begin, layout->header_size), {}};
  if (body_begin < rest.size()) {
    frame.body = Buffer(slab_, begin_ + frame_prefix_size + body_begin, rest.size() - body_begin);
    shared_ = true;
  }
  begin_ += size;
  return frame;
}

void FrameParser::fail(boost::system::error_code code, std::string reason) {
  error_ = Malformed{code, std::move(reason)};
}

}  // namespace canopy::wire
