#include "store/segments.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "store/damage.hpp"

namespace canopy::store {
namespace {

using boost::system::error_code;
using boost::system::result;

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
const std::string spare_name = "spare";

}  // namespace

std::string segment_name(std::uint64_t number) { return fmt::format("{:016x}.log", number); }

std::optional<std::uint64_t> segment_number(const std::string& name) {
  if (name.size() != 20 || !name.ends_with(".log")) return std::nullopt;
  std::uint64_t number = 0;
  for (char c : name.substr(0, 16)) {
    bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(c >= 'a' && c <= 'f')) return std::nullopt;
    number = number << 4 | static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return number;
}

Segments::Segments(Disk& disk, const LogOptions& options)
    : disk_(disk), options_(options), frame_(options.frame_bytes) {
  CANOPY_ASSERT(options_.record_bytes_max + 1024 <= options_.segment_bytes);
  read_directory();
  if (!segments_.empty()) read_last();
}

void Segments::read_directory() {
  result<std::vector<std::string>> names = disk_.list();
  if (!names) throw Damage(disk_.path("."), "cannot be read: " + names.error().message());
  for (const std::string& name : *names) {
    has_spare_ = has_spare_ || name == spare_name;
    std::optional<std::uint64_t> number = segment_number(name);
    if (!number) continue;
    std::uint64_t first = read_header(*number).first;
    if (!segments_.empty() && first < segments_.back().first)
      throw Damage(disk_.path(name),
                   fmt::format("begins with record {}, the file before it with {}", first,
                               segments_.back().first));
    segments_.push_back({*number, first});
    next_number_ = *number + 1;
  }
}

SegmentHeader Segments::read_header(std::uint64_t number) {
  std::string name = segment_name(number);
  result<std::string> bytes = disk_.read(name, 0, segment_header_size);
  if (!bytes) throw Damage(disk_.path(name), "cannot be read: " + bytes.error().message());
  std::optional<SegmentHeader> header = decode_segment_header(*bytes);
  if (!header) throw Damage(disk_.path(name), "its header is damaged");
  if (header->number != number)
    throw Damage(disk_.path(name),
                 fmt::format("is number {}, not what its name says", header->number));
  if (header->owner.cluster != options_.owner.cluster)
    throw Damage(disk_.path(name),
                 "belongs to another cluster, " + header->owner.cluster.to_string());
  if (header->owner.node != options_.owner.node)
    throw Damage(disk_.path(name), "belongs to another node, " + header->owner.node.to_string());
  return *header;
}

std::string Segments::read_all(std::uint64_t number) {
  std::string name = segment_name(number);
  result<std::string> bytes = disk_.read(name, 0, no_end);
  if (!bytes) throw Damage(disk_.path(name), "cannot be read: " + bytes.error().message());
  return std::move(*bytes);
}

void Segments::read_last() {
  const Segment& last = segments_.back();
  std::string bytes = read_all(last.number);
  Scan scan = scan_frames(bytes, {last.number, last.first, options_.owner}, no_end,
                          [](std::uint64_t, std::string_view) {});
  if (scan.damaged_before)
    throw Damage(disk_.path(segment_name(last.number)),
                 fmt::format("record {}, at byte {}, is damaged", scan.next, scan.end));
  // It was made as long as it may get, and is only ever cut behind a frame.
  const bool cut_short = bytes.size() < options_.segment_bytes && bytes.size() != scan.end;
  if (cut_short && bytes.find_first_not_of('\0', scan.end) != std::string::npos)
    throw Damage(disk_.path(segment_name(last.number)),
                 fmt::format("ends within record {}, at byte {}: it has been cut short", scan.next,
                             scan.end));
  last_ = scan.next - 1;
  // What is behind does not count; its room is wanted back.
  if (bytes.size() > scan.end)
    if (auto file = disk_.open(segment_name(last.number), false); file) (*file)->truncate(scan.end);
}

void Segments::replay(std::uint64_t from, const UseRecord& use) {
  if (from < first())
    throw Damage(disk_.path(segment_name(segments_.empty() ? 1 : segments_.front().number)),
                 fmt::format("begins with record {}: those from {} on are missing", first(), from));
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    std::uint64_t end = i + 1 < segments_.size() ? segments_[i + 1].first : last_ + 1;
    if (end <= from) continue;
    const Segment& segment = segments_[i];
    std::string bytes = read_all(segment.number);
    Scan scan = scan_frames(bytes, {segment.number, segment.first, options_.owner}, end,
                            [&](std::uint64_t index, std::string_view record) {
                              if (index >= from) use(index, record);
                            });
    if (scan.next < end)
      throw Damage(disk_.path(segment_name(segment.number)),
                   fmt::format("record {}, at byte {}, is damaged or missing; there have to be "
                               "records up to {}",
                               scan.next, scan.end, end - 1));
  }
}

error_code Segments::prepare() {
  if (file_) return {};
  // Not an old segment's file, whose new name may not have reached the disk.
  if (!has_spare_) disk_.remove(spare_name);
  result<std::unique_ptr<File>> file = disk_.open(spare_name, !has_spare_);
  if (!file) return file.error();
  has_spare_ = true;
  Segment segment{next_number_, last_ + 1};
  if (error_code error = name_spare(**file, segment)) {
    file->reset();
    remove_spare();
    return error;
  }
  file_ = std::move(*file);
  synced_end_ = end_ = segment_header_size;
  marked_ = 0;
  return {};
}

error_code Segments::name_spare(File& file, const Segment& segment) {
  std::string header = encode({segment.number, segment.first, options_.owner});
  std::array<std::string_view, 1> pieces{header};
  if (error_code error = file.allocate(options_.segment_bytes)) return error;
  if (error_code error = file.write(0, pieces)) return error;
  if (error_code error = file.sync()) return error;
  if (error_code error = disk_.rename(spare_name, segment_name(segment.number))) return error;
  // From here on the name may be on the disk, whatever else fails.
  has_spare_ = false;
  ++next_number_;
  segments_.push_back(segment);
  return disk_.sync();
}

// So that its room can be used for what is smaller.
void Segments::remove_spare() {
  if (has_spare_ && !disk_.remove(spare_name)) has_spare_ = false;
}

error_code Segments::append(std::span<const Buffer> records) {
  while (!records.empty()) {
    error_code error = prepare();
    if (error) return error;
    std::size_t taken = 0;
    written_ = last_;
    error = write(records, taken);
    if (!error) error = file_->sync();
    if (error) {
      abandon();
      return error;
    }
    synced_end_ = end_;
    last_ = written_;
    records = records.subspan(taken);
    if (!records.empty()) file_.reset();  // it is full
  }
  return {};
}

// As many as fit the segment.
error_code Segments::write(std::span<const Buffer> records, std::size_t& taken) {
  while (taken < records.size()) {
    frame_.clear();
    while (taken < records.size() && !frame_.is_full() &&
           end_ + frame_.size_with(records[taken].size()) <= options_.segment_bytes)
      frame_.add(records[taken++].view());
    if (frame_.count() == 0) return {};
    if (error_code error = write_frame()) return error;
  }
  return {};
}

error_code Segments::write_frame() {
  std::span<const std::string_view> pieces =
      frame_.finish(segments_.back().number, written_ + 1, last_);
  if (error_code error = file_->write(end_, pieces)) return error;
  for (std::string_view piece : pieces) end_ += piece.size();
  written_ += frame_.count();
  marked_ = last_;
  return {};
}

void Segments::abandon() {
  file_->truncate(synced_end_);
  file_.reset();
}

error_code Segments::cut_before(std::uint64_t index) {
  while (segments_.size() > 1 && segments_[1].first <= index) {
    std::string name = segment_name(segments_.front().number);
    bool keep = !has_spare_;
    if (error_code error = keep ? disk_.rename(name, spare_name) : disk_.remove(name)) return error;
    segments_.erase(segments_.begin());
    // Synced before the next, so that no hole can appear, and before the spare
    // gets another header.
    if (error_code error = disk_.sync()) return error;
    has_spare_ = true;
  }
  return {};
}

void Segments::close() {
  frame_.clear();
  if (!file_ || marked_ == last_ || end_ + frame_.size_with(0) > options_.segment_bytes) return;
  written_ = last_;
  if (!write_frame()) file_->sync();
  file_.reset();
}

}  // namespace canopy::store
