// Frames: how messages lie on a byte stream, between peers and between a
// daemon and its command line.
//
//     u32 length | u8 kind | u8 flags | u16 header length | header | body
//
// Big-endian; length counts what follows it. The header is Protobuf, the body
// is bytes that travel through peers without being looked at. For a header of
// more than 65,535 bytes the flag `long_header` is set, header length is 0, and
// the header follows behind a u32 with its length. README.md has the details.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include "base/buffer.hpp"

namespace canopy::wire {

// Kinds below 0x80 belong to links between peers (kinds.hpp has them one by
// one), the others to the control socket.
namespace frame_kind {
inline constexpr std::uint8_t hello = 1;
inline constexpr std::uint8_t hello_reject = 2;
inline constexpr std::uint8_t link_ping = 3;  // no header, no body; answered by link_pong,
inline constexpr std::uint8_t link_pong = 4;  // by the link itself: is its process alive?
inline constexpr std::uint8_t first_control = 0x80;
}  // namespace frame_kind

namespace frame_flag {
inline constexpr std::uint8_t long_header = 1;  // others: sent as 0, ignored
}  // namespace frame_flag

inline constexpr std::size_t frame_prefix_size = 8;
inline constexpr std::size_t max_short_header = 0xffff;
inline constexpr std::size_t max_header = std::size_t{256} << 10;

// Bytes of a whole frame, prefix included.
inline constexpr std::size_t default_max_frame = std::size_t{4} << 20;
inline constexpr std::size_t max_frame_before_hello = std::size_t{16} << 10;

// What is wrong with bytes from outside. The text names it for the log; the
// link they came by cannot be trusted any further.
struct Malformed {
  boost::system::error_code code;  // errc::protocol or errc::too_large
  std::string reason;
};
[[noreturn]] void throw_exception_from_error(const Malformed& error,
                                             const boost::source_location& where);

template <class T>
using Decoded = boost::system::result<T, Malformed>;

// The eight bytes in front of every frame.
struct FramePrefix {
  std::uint32_t length = 0;  // of what follows the length
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t header_size = 0;

  static FramePrefix parse(std::span<const char, frame_prefix_size> bytes) noexcept;
  void write_to(std::span<char, frame_prefix_size> bytes) const noexcept;

  friend bool operator==(const FramePrefix&, const FramePrefix&) = default;
};

// A frame as it came. The body is a slice of the slab that was read into; the
// header lies in the same slab and is gone at the parser's next call.
struct Frame {
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::string_view header;
  Buffer body;
};

// A frame to write: head (prefix and header), then body. The body is shared by
// all destinations, so that a gathered write copies nothing.
struct EncodedFrame {
  std::string head;
  Buffer body;

  std::size_t size() const noexcept { return head.size() + body.size(); }
};

// A frame with room for a header of this size (at most max_header), to be
// filled from header_of(frame) on.
EncodedFrame make_frame(std::uint8_t kind, std::size_t header_size, Buffer body = {});
char* header_of(EncodedFrame& frame) noexcept;

// The encoded frame as the other side's parser would yield it, for hosts that
// carry frames without a byte stream. The view lasts as long as `frame`.
Frame view_of(const EncodedFrame& frame) noexcept;

// Cuts a byte stream into frames. The owner reads into prepare(), tells
// commit() how much came, and takes frames from next() until there is none:
//
//     socket.read_some(prepare()) -> commit(n) -> while (auto f = next()) ...
//
// Sizes are checked before memory is reserved for them. An idle parser holds a
// slab of 4 KiB; slabs grow to 64 KiB while reads fill them. A frame that does
// not fit gets a slab of its own size, and only the part of it that had come
// already is copied. A slab of which a body was handed out is never written to
// again where that body lies. Not thread-safe; the bodies may go anywhere.
class FrameParser {
 public:
  explicit FrameParser(std::size_t max_frame = default_max_frame) noexcept;

  // Holds from the next frame on.
  void set_max_frame(std::size_t max_frame) noexcept { max_frame_ = max_frame; }

  // Room for at least one byte, valid until the next call of prepare() or
  // commit().
  std::span<char> prepare();

  // The first `size` bytes of prepare() have been filled.
  void commit(std::size_t size) noexcept;

  // The next whole frame; the view of its header lasts until the next call of a
  // member function that is not const. Nothing: more bytes are needed, or error() is set.
  std::optional<Frame> next();

  // Set once for ever by the first malformed frame.
  const std::optional<Malformed>& error() const noexcept { return error_; }

  // Bytes received that belong to no complete frame yet: not 0 at the end of
  // the stream means that it was cut in the middle of a frame.
  std::size_t pending() const noexcept { return end_ - begin_; }

  // Memory held for reading.
  std::size_t memory() const noexcept { return capacity_; }

 private:
  std::size_t wanted() const noexcept;
  void renew_slab(std::size_t capacity);
  void release_if_idle() noexcept;
  void fail(boost::system::error_code code, std::string reason);

  std::size_t max_frame_;
  std::shared_ptr<char[]> slab_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;  // of what is not parsed yet
  std::size_t end_ = 0;    // of what was received
  std::size_t slab_size_;  // for the next slab
  bool shared_ = false;    // a body of this slab was handed out
  std::optional<Malformed> error_;
};

}  // namespace canopy::wire
