#include "store/segment_format.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <zlib.h>

#include "base/assert.hpp"

namespace canopy::store {
namespace {

constexpr std::string_view segment_magic = "CANOPYL1";
constexpr std::uint32_t frame_magic = 0xCA9F0F01;
constexpr std::size_t record_header_size = 4;
constexpr std::size_t covered_from = 8;  // the checksum covers a frame from here

template <typename Number>
void put(char* to, Number number) {
  for (std::size_t i = sizeof number; i-- > 0; number = static_cast<Number>(number >> 8))
    to[i] = static_cast<char>(number & 0xff);
}

template <typename Number>
Number get(std::string_view from, std::size_t offset) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number = static_cast<Number>(number << 8 | static_cast<unsigned char>(from[offset + i]));
  return number;
}

std::uint32_t checksum(std::uint32_t start, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(start, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t checksum_start(std::uint64_t number) {
  std::array<char, sizeof number> bytes;
  put(bytes.data(), number);
  return checksum(0, {bytes.data(), bytes.size()});
}

std::size_t padded(std::size_t size) {
  return (size + frame_alignment - 1) / frame_alignment * frame_alignment;
}

bool holds_records(std::string_view body, std::uint32_t count) {
  for (; count > 0; --count) {
    if (body.size() < record_header_size) return false;
    std::size_t size = get<std::uint32_t>(body, 0);
    if (size > body.size() - record_header_size) return false;
    body.remove_prefix(record_header_size + size);
  }
  return body.empty();
}

bool was_synced(std::string_view segment, std::size_t from, std::uint64_t number,
                std::uint64_t index) {
  for (std::size_t offset = from; offset + frame_header_size <= segment.size();
       offset += frame_alignment) {
    std::optional<Frame> frame = read_frame(segment, offset, number);
    if (frame && frame->synced >= index) return true;
  }
  return false;
}

}  // namespace

std::string encode(const SegmentHeader& header) {
  std::string bytes(segment_header_size, '\0');
  std::copy(segment_magic.begin(), segment_magic.end(), bytes.begin());
  put(bytes.data() + 8, header.number);
  put(bytes.data() + 16, header.first);
  std::copy(header.owner.cluster.bytes.begin(), header.owner.cluster.bytes.end(),
            bytes.begin() + 24);
  std::copy(header.owner.node.bytes.begin(), header.owner.node.bytes.end(), bytes.begin() + 40);
  put(bytes.data() + 60, checksum(0, std::string_view(bytes).substr(0, 60)));
  return bytes;
}

std::optional<SegmentHeader> decode_segment_header(std::string_view bytes) {
  if (bytes.size() < segment_header_size || !bytes.starts_with(segment_magic) ||
      get<std::uint32_t>(bytes, 60) != checksum(0, bytes.substr(0, 60)))
    return std::nullopt;
  SegmentHeader header{get<std::uint64_t>(bytes, 8), get<std::uint64_t>(bytes, 16), {}};
  std::copy_n(bytes.begin() + 24, 16, header.owner.cluster.bytes.begin());
  std::copy_n(bytes.begin() + 40, 16, header.owner.node.bytes.begin());
  return header;
}

std::optional<Frame> read_frame(std::string_view segment, std::size_t offset,
                                std::uint64_t number) {
  if (offset > segment.size() || segment.size() - offset < frame_header_size) return std::nullopt;
  std::string_view bytes = segment.substr(offset);
  if (get<std::uint32_t>(bytes, 0) != frame_magic) return std::nullopt;
  std::size_t body_size = get<std::uint32_t>(bytes, 8);
  if (body_size > bytes.size() - frame_header_size) return std::nullopt;
  std::size_t size = frame_header_size + body_size;
  if (get<std::uint32_t>(bytes, 4) !=
      checksum(checksum_start(number), bytes.substr(covered_from, size - covered_from)))
    return std::nullopt;
  Frame frame{get<std::uint64_t>(bytes, 16), get<std::uint32_t>(bytes, 12),
              get<std::uint64_t>(bytes, 24), bytes.substr(frame_header_size, body_size),
              padded(size)};
  if (!holds_records(frame.body, frame.count)) return std::nullopt;
  return frame;
}

std::string_view take_record(std::string_view& body) {
  std::string_view record = body.substr(record_header_size, get<std::uint32_t>(body, 0));
  body.remove_prefix(record_header_size + record.size());
  return record;
}

Scan scan_frames(std::string_view segment, const SegmentHeader& header, std::uint64_t end,
                 const UseRecord& use) {
  Scan scan{header.first, segment_header_size, false};
  while (scan.next < end) {
    std::optional<Frame> frame = read_frame(segment, scan.end, header.number);
    if (!frame || frame->first != scan.next) {
      scan.damaged_before = was_synced(segment, scan.end, header.number, scan.next);
      break;
    }
    std::string_view body = frame->body;
    for (std::uint32_t i = 0; i < frame->count && scan.next < end; ++i, ++scan.next)
      use(scan.next, take_record(body));
    scan.end += frame->size;
  }
  return scan;
}

FrameBuilder::FrameBuilder(std::size_t body_wanted) : body_wanted_(body_wanted) {
  copies_.reserve(frame_header_size + body_wanted + 2 * (record_header_size + copied_max));
  clear();
}

void FrameBuilder::clear() {
  copies_.assign(frame_header_size, '\0');
  pieces_.assign(1, {copies_.data(), copies_.size()});
  body_size_ = 0;
  count_ = 0;
}

std::size_t FrameBuilder::size_with(std::size_t extra) const {
  return padded(frame_header_size + body_size_ + record_header_size + extra);
}

void FrameBuilder::copy(std::string_view bytes) {
  CANOPY_ASSERT(copies_.capacity() - copies_.size() >= bytes.size());
  const char* end = copies_.data() + copies_.size();
  copies_.insert(copies_.end(), bytes.begin(), bytes.end());
  std::string_view& last = pieces_.back();
  if (last.data() + last.size() == end)
    last = {last.data(), last.size() + bytes.size()};
  else
    pieces_.emplace_back(end, bytes.size());
}

void FrameBuilder::add(std::string_view record) {
  CANOPY_ASSERT(!is_full());
  std::array<char, record_header_size> size;
  put(size.data(), static_cast<std::uint32_t>(record.size()));
  copy({size.data(), size.size()});
  if (record.size() <= copied_max)
    copy(record);
  else
    pieces_.push_back(record);
  body_size_ += record_header_size + record.size();
  ++count_;
}

std::span<const std::string_view> FrameBuilder::finish(std::uint64_t number, std::uint64_t first,
                                                       std::uint64_t synced) {
  char* header = copies_.data();
  put(header, frame_magic);
  put(header + 8, static_cast<std::uint32_t>(body_size_));
  put(header + 12, count_);
  put(header + 16, first);
  put(header + 24, synced);
  std::uint32_t sum = checksum(checksum_start(number), pieces_.front().substr(covered_from));
  for (std::size_t i = 1; i < pieces_.size(); ++i) sum = checksum(sum, pieces_[i]);
  put(header + 4, sum);
  std::size_t size = frame_header_size + body_size_;
  copy(std::string_view("\0\0\0\0\0\0\0", padded(size) - size));
  return pieces_;
}

}  // namespace canopy::store
