// The files of a log: segments with consecutive records, the last one written to.
//
// Append is one write a MiB and one sync for all. The names are numbers, which
// only grow; the oldest file is renamed to `spare` when it is not needed any more,
// and becomes the next segment. A segment gets its name when its header is synced,
// and its first index ends the segment before it, so that whatever a failed or
// torn write left there does not count. Not thread-safe; blocks on the disk.
//
// After an error the segment written to is left for good: after a failed sync
// nobody knows what it holds behind the last synced record.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/buffer.hpp"
#include "store/disk.hpp"
#include "store/owner.hpp"
#include "store/segment_format.hpp"

namespace canopy::store {

struct LogOptions {
  Owner owner;
  std::uint64_t segment_bytes = 64 << 20;
  std::uint64_t frame_bytes = 1 << 20;         // of one write, unless a record is larger
  std::uint64_t record_bytes_max = 16 << 20;   // less than a segment
  std::uint64_t pending_bytes_max = 64 << 20;  // submitted and not synced yet
  std::chrono::milliseconds retry_every{100};  // after a failure
  // From the beginning of a sync to that of the next, at most, as long as fewer
  // records are pending than were lately; enough of them never wait.
  std::chrono::microseconds gather_time{1000};
  std::size_t gather_enough = 32;
  std::function<void()> begin_thread;  // the writer's, called on it first
};

// "00000000000003e8.log": segments sort by name. Nothing for another name.
std::string segment_name(std::uint64_t number);
std::optional<std::uint64_t> segment_number(const std::string& name);

class Segments {
 public:
  // Reads what is there, up to the first torn record of the last segment. Throws
  // Damage if a file is corrupt, missing or another owner's.
  Segments(Disk& disk, const LogOptions& options);

  std::uint64_t first() const { return segments_.empty() ? last_ + 1 : segments_.front().first; }
  std::uint64_t last() const { return last_; }
  // Whether append() could write at once, as far as one can know.
  bool is_open() const { return file_ != nullptr; }

  // Throws Damage.
  void replay(std::uint64_t from, const UseRecord& use);

  // Makes a segment to write to if there is none.
  boost::system::error_code prepare();
  // Synced when it returns. After an error last() says how far it got.
  boost::system::error_code append(std::span<const Buffer> records);
  boost::system::error_code cut_before(std::uint64_t index);
  // Leaves a mark behind the last record, which tells from now on that it had
  // been synced.
  void close();

 private:
  struct Segment {
    std::uint64_t number = 0;
    std::uint64_t first = 0;
  };

  void read_directory();
  void read_last();
  SegmentHeader read_header(std::uint64_t number);
  std::string read_all(std::uint64_t number);
  boost::system::error_code name_spare(File& file, const Segment& segment);
  void remove_spare();
  void abandon();
  boost::system::error_code write(std::span<const Buffer> records, std::size_t& taken);
  boost::system::error_code write_frame();

  Disk& disk_;
  LogOptions options_;
  std::vector<Segment> segments_;  // by number
  std::uint64_t last_ = 0;
  std::uint64_t next_number_ = 1;
  bool has_spare_ = false;

  std::unique_ptr<File> file_;  // of the last segment
  std::uint64_t synced_end_ = 0;
  std::uint64_t end_ = 0;      // of what was written to it
  std::uint64_t marked_ = 0;   // a frame in the file says that this index is synced
  std::uint64_t written_ = 0;  // index
  FrameBuilder frame_;
};

}  // namespace canopy::store
