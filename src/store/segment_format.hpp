// The bytes of a log segment.
//
// A segment is a header and then frames, each starting at a multiple of 8 bytes.
// All numbers are big-endian; checksums are zlib's CRC-32.
//
//   header, 64 bytes                     frame, 32 bytes and its body
//    0  "CANOPYL1"                        0  u32 0xCA9F0F01
//    8  u64 number of the segment         4  u32 checksum of all that follows,
//   16  u64 index of its first record            starting from one of the number
//   24  cluster, 16 bytes                 8  u32 size of the body
//   40  node, 16 bytes                   12  u32 count of records
//   56  u32 0                            16  u64 index of the first record
//   60  u32 checksum of the above        24  u64 `synced`
//                                        32  each record: u32 size, its bytes
//
// A recycled file still holds frames of its former life: their checksum does not
// fit the new number. `synced` is the last index that was known to be on the disk
// when the frame was written. So a bad frame is a torn one, which was never
// acknowledged, unless a later one says that it had been synced.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "store/owner.hpp"

namespace canopy::store {

inline constexpr std::size_t segment_header_size = 64;
inline constexpr std::size_t frame_header_size = 32;
inline constexpr std::size_t frame_alignment = 8;

struct SegmentHeader {
  std::uint64_t number = 0;
  std::uint64_t first = 0;  // index
  Owner owner;
};

std::string encode(const SegmentHeader& header);
// Nothing if it is damaged.
std::optional<SegmentHeader> decode_segment_header(std::string_view bytes);

struct Frame {
  std::uint64_t first = 0;  // index
  std::uint32_t count = 0;
  std::uint64_t synced = 0;
  std::string_view body;
  std::size_t size = 0;  // in the file, with its padding
};

// The frame at `offset` of a segment's bytes; nothing if there is no whole one.
std::optional<Frame> read_frame(std::string_view segment, std::size_t offset, std::uint64_t number);

// The first record of a body, which is taken off it.
std::string_view take_record(std::string_view& body);

// How far the frames of a segment go, one index after the other.
struct Scan {
  std::uint64_t next = 0;       // the index after the last record
  std::size_t end = 0;          // the byte after it
  bool damaged_before = false;  // a later frame proves that more had been synced
};
using UseRecord = std::function<void(std::uint64_t index, std::string_view record)>;

// Stops before the index `end`, where the next segment begins.
Scan scan_frames(std::string_view segment, const SegmentHeader& header, std::uint64_t end,
                 const UseRecord& use);

// Gathers records to a frame. Small ones are copied together, large ones stay where
// they are: they must live until the pieces have been used.
class FrameBuilder {
 public:
  // It is full when the body has this size.
  explicit FrameBuilder(std::size_t body_wanted = 1 << 20);

  void clear();
  // What the frame takes in the file, with `extra` further bytes of records.
  std::size_t size_with(std::size_t extra) const;
  bool is_full() const { return body_size_ >= body_wanted_ || pieces_.size() >= pieces_wanted; }
  std::uint32_t count() const { return count_; }
  void add(std::string_view record);

  // Valid until clear().
  std::span<const std::string_view> finish(std::uint64_t number, std::uint64_t first,
                                           std::uint64_t synced);

 private:
  static constexpr std::size_t copied_max = 4096;
  static constexpr std::size_t pieces_wanted = 500;

  void copy(std::string_view bytes);

  const std::size_t body_wanted_;
  std::vector<char> copies_;  // never grows beyond its capacity: pieces point into it
  std::vector<std::string_view> pieces_;
  std::size_t body_size_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace canopy::store
