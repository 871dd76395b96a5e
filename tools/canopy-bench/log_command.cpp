// canopy-bench log: the command log of the store beside plain write and fdatasync
// of the same bytes to a preallocated file.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "canopy-bench/commands.hpp"
#include "store/posix_disk.hpp"
#include "store/segmented_log.hpp"

namespace canopy::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct LogBench {
  std::string directory = ".";
  std::size_t size = 100;
  double seconds = 2;
  std::vector<std::size_t> batches{1, 10, 100, 1000, 10000};
  bool json = false;
};

// Records a second.
struct Rates {
  double raw = 0;
  double log = 0;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check(boost::system::error_code error) {
  if (error) throw std::runtime_error(error.message());
}

// The storage loop: runs what the log posts.
class Loop final : public store::LogEvents {
 public:
  store::Post post() {
    return [this](std::function<void()> call) {
      std::lock_guard lock(mutex_);
      calls_.push_back(std::move(call));
      arrived_.notify_one();
    };
  }

  void wait_for(std::uint64_t index) {
    while (persisted_ < index) {
      std::vector<std::function<void()>> calls;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return !calls_.empty(); });
        calls.swap(calls_);
      }
      for (const auto& call : calls) call();
    }
  }

  void persisted(std::uint64_t index) override { persisted_ = index; }
  void failed(std::uint64_t, boost::system::error_code error) override { check(error); }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::function<void()>> calls_;
  std::uint64_t persisted_ = 0;
};

class Scratch {
 public:
  explicit Scratch(const std::string& directory)
      : path_(fmt::format("{}/canopy-bench-{}", directory, ::getpid())) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Writes the same to a preallocated file, round and round.
class Raw {
 public:
  Raw(const std::string& directory, std::size_t size)
      : disk_(directory), bytes_(size, 'x'), room_(std::max<std::uint64_t>(64 << 20, size)) {
    file_ = std::move(disk_.open("raw", true).value());
    check(file_->allocate(room_));
    check(file_->sync());
  }

  void write() {
    std::array<std::string_view, 1> pieces{bytes_};
    if (offset_ + bytes_.size() > room_) offset_ = 0;
    check(file_->write(offset_, pieces));
    check(file_->sync());
    offset_ += bytes_.size();
  }

 private:
  store::PosixDisk disk_;
  std::unique_ptr<store::File> file_;
  std::string bytes_;
  std::uint64_t room_;
  std::uint64_t offset_ = 0;
};

// Submits a batch and waits until all of it is persisted.
class Logged {
 public:
  Logged(const std::string& directory, std::size_t size, std::size_t batch)
      : batch_(batch),
        record_(Buffer::copy_of(std::string(size, 'x'))),
        log_(std::make_unique<store::PosixDisk>(directory), options_for(size * batch), loop_,
             loop_.post()) {}

  void write() {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < batch_; ++i) last = log_.submit(record_).value();
    loop_.wait_for(last);
    log_.cut_before(last);
  }

 private:
  static store::LogOptions options_for(std::size_t bytes) {
    store::LogOptions options;
    options.pending_bytes_max = std::max<std::uint64_t>(options.pending_bytes_max, bytes);
    return options;
  }

  std::size_t batch_;
  Buffer record_;
  Loop loop_;
  store::SegmentedLog log_;
};

void print(const LogBench& bench, std::size_t batch, const Rates& rates) {
  double size = static_cast<double>(bench.size) / 1e6;
  std::string text = bench.json ? "{{\"batch\": {}, \"raw_records_per_second\": {:.0f}, "
                                  "\"raw_mb_per_second\": {:.2f}, \"log_records_per_second\": "
                                  "{:.0f}, \"log_mb_per_second\": {:.2f}, \"ratio\": {:.3f}}}\n"
                                : "{:>8} {:>12.0f} {:>10.2f} {:>12.0f} {:>10.2f} {:>7.2f}\n";
  text = fmt::format(fmt::runtime(text), batch, rates.raw, rates.raw * size, rates.log,
                     rates.log * size, rates.log / rates.raw);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// Both in turns, so that whatever else uses the disk meets both.
Rates measure(const LogBench& bench, std::size_t batch) {
  Scratch scratch(bench.directory);
  Raw raw(scratch.path() + "/raw", bench.size * batch);
  Logged log(scratch.path() + "/log", bench.size, batch);
  double raw_seconds = 0;
  double log_seconds = 0;
  double records = 0;
  while (raw_seconds + log_seconds < bench.seconds) {
    Clock::time_point start = Clock::now();
    raw.write();
    raw_seconds += seconds_since(start);
    start = Clock::now();
    log.write();
    log_seconds += seconds_since(start);
    records += static_cast<double>(batch);
  }
  return {records / raw_seconds, records / log_seconds};
}

int run(const LogBench& bench) {
  if (!bench.json)
    std::printf("%8s %12s %10s %12s %10s %7s\n", "batch", "raw rec/s", "MB/s", "log rec/s", "MB/s",
                "ratio");
  for (std::size_t batch : bench.batches) print(bench, batch, measure(bench, batch));
  return 0;
}

}  // namespace

void add_log_command(cli::Command program, int& status) {
  const auto bench = std::make_shared<LogBench>();
  cli::Command command = program.command(
      "log", "Compare the store's log with plain write and fdatasync of the same bytes");
  command.option("--directory", bench->directory, "Where: on the disk that matters").show_default();
  command.option("--size", bench->size, "Bytes of a record").show_default();
  command.option("--seconds", bench->seconds, "How long for each batch size")
      .positive()
      .show_default();
  command.option("--batch", bench->batches, "Records a sync; several numbers are several runs")
      .positive()
      .separated_by(',')
      .show_default();
  command.flag("--json", bench->json, "One object a line");
  command.action([bench, &status] { status = run(*bench); });
}

}  // namespace canopy::tools
