#include "store/check.hpp"

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include "store/damage.hpp"
#include "store/owner.hpp"
#include "store/posix_disk.hpp"
#include "store/recovery.hpp"
#include "store/rocks_files.hpp"
#include "store/rocks_format.hpp"
#include "store/segment_format.hpp"

namespace canopy::store {
namespace {

using boost::system::result;

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

// Goes from the newest segment to the oldest, since the first index of one says
// where the one before has to end.
class LogCheck {
 public:
  LogCheck(PosixDisk& disk, Report& report) : disk_(disk), report_(report) {}

  std::optional<Owner> owner() const { return owner_; }

  void run() {
    result<std::vector<std::string>> names = disk_.list();
    if (!names) return add(".", "cannot be read: " + names.error().message());
    for (auto name = names->rbegin(); name != names->rend(); ++name)
      if (std::optional<std::uint64_t> number = segment_number(*name)) check_file(*name, *number);
  }

 private:
  void add(const std::string& name, const std::string& problem) {
    report_.findings.push_back({disk_.path(name), problem});
  }

  void check_file(const std::string& name, std::uint64_t number) {
    ++report_.segments;
    std::optional<std::uint64_t> end = std::exchange(next_first_, std::nullopt);
    result<std::string> bytes = disk_.read(name, 0, no_end);
    if (!bytes) return add(name, "cannot be read: " + bytes.error().message());
    std::optional<SegmentHeader> header = decode_segment_header(*bytes);
    if (!header || header->number != number) return add(name, "its header is damaged");
    if (!owner_) owner_ = header->owner;
    if (header->owner != *owner_) add(name, "belongs to another cluster or node than the others");
    if (end && header->first > *end)
      add(name,
          fmt::format("begins with record {}, the file after it with {}", header->first, *end));
    bool is_last = report_.segments == 1;
    check_frames(name, *bytes, *header, is_last, end);
    report_.first = next_first_.emplace(header->first);
  }

  void check_frames(const std::string& name, const std::string& bytes, const SegmentHeader& header,
                    bool is_last, std::optional<std::uint64_t> end) {
    Scan scan =
        scan_frames(bytes, header, end.value_or(no_end), [](std::uint64_t, std::string_view) {});
    if (is_last) report_.last = scan.next - 1;
    if (scan.damaged_before || (end && scan.next < *end))
      add(name, fmt::format("record {}, at byte {}, is damaged or missing", scan.next, scan.end));
  }

  PosixDisk& disk_;
  Report& report_;
  std::optional<Owner> owner_;
  std::optional<std::uint64_t> next_first_;  // of the file after; none: unknown
};

class StoreCheck {
 public:
  StoreCheck(std::string directory, Report& report)
      : directory_(std::move(directory)), report_(report) {}

  void run(const std::optional<Owner>& owner_of_log) {
    rocksdb::DB* opened = nullptr;
    rocksdb::Options options;
    options.max_open_files = 64;
    options.info_log = no_log();
    rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, directory_, &opened);
    db_.reset(opened);
    if (!status.ok()) return add(directory_, "cannot be opened: " + status.ToString());
    check_own_keys(owner_of_log);
    check_files(options);
    walk();
  }

 private:
  void add(const std::string& file, const std::string& problem) {
    report_.findings.push_back({file, problem});
  }

  void check_own_keys(const std::optional<Owner>& owner_of_log) {
    std::string bytes;
    db_->Get({}, {owner_key.data(), owner_key.size()}, &bytes);
    std::optional<Owner> owner = decode_owner(bytes);
    if (!owner) add(directory_, "does not say whose it is");
    if (owner && owner_of_log && *owner != *owner_of_log)
      add(directory_, "belongs to another cluster or node than the log");
    bytes.clear();
    db_->Get({}, {applied_key.data(), applied_key.size()}, &bytes);
    report_.applied = decode_index(bytes).value_or(0);
  }

  void check_files(const rocksdb::Options& options) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const rocksdb::LiveFileMetaData& file : files) {
      ++report_.store_files;
      std::string path = file.db_path + file.name;
      rocksdb::SstFileReader reader(options);
      rocksdb::Status status = reader.Open(path);
      if (status.ok()) status = reader.VerifyChecksum();
      if (!status.ok()) add(path, status.ToString());
    }
  }

  void walk() {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
    for (at->SeekToFirst(); at->Valid(); at->Next())
      if (at->key().compare({first_user_key.data(), first_user_key.size()}) >= 0) ++report_.entries;
    if (!at->status().ok()) add(directory_, at->status().ToString());
  }

  const std::string directory_;
  Report& report_;
  std::unique_ptr<rocksdb::DB> db_;
};

void check_where_they_meet(const std::string& directory, Report& report) {
  if (report.segments == 0 && report.applied > 0)
    report.findings.push_back({log_directory(directory), "has no records, but the store has"});
  if (report.segments == 0) return;
  if (report.first > report.applied + 1)
    report.findings.push_back(
        {log_directory(directory), fmt::format("begins with record {}, but the store is only at {}",
                                               report.first, report.applied)});
  if (report.last < report.applied)
    report.findings.push_back(
        {log_directory(directory),
         fmt::format("ends with record {}, but the store is at {}", report.last, report.applied)});
}

}  // namespace

Report check(const std::string& directory) {
  Report report;
  for (const std::string& part : {log_directory(directory), store_directory(directory)}) {
    std::error_code failed;
    if (!std::filesystem::is_directory(part, failed))
      report.findings.push_back({part, "is missing"});
  }
  if (!report.findings.empty()) return report;
  try {
    PosixDisk disk(log_directory(directory));
    LogCheck log(disk, report);
    log.run();
    StoreCheck(store_directory(directory), report).run(log.owner());
    check_where_they_meet(directory, report);
  } catch (const Damage& damage) {
    report.findings.push_back({damage.file(), damage.problem()});
  }
  return report;
}

std::string to_text(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings)
    text += fmt::format("{}: {}\n", finding.file, finding.problem);
  text += fmt::format(
      "{}: log of {} segments with records {} to {}; store of {} files with {} entries, at record "
      "{}\n",
      report.findings.empty() ? "well" : fmt::format("{} findings", report.findings.size()),
      report.segments, report.first, report.last, report.store_files, report.entries,
      report.applied);
  return text;
}

}  // namespace canopy::store
