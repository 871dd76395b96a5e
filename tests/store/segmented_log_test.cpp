#include "store/segmented_log.hpp"

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "base/random.hpp"
#include "store/damage.hpp"
#include "store/loop.hpp"
#include "store/posix_disk.hpp"
#include "store/scratch_directory.hpp"

namespace canopy::store {
namespace {

using boost::system::error_code;
using boost::system::result;

// What the test decides while the writer's thread runs.
struct Trouble {
  std::atomic<bool> full = false;
  std::atomic<bool> sync_fails = false;
  std::atomic<bool> holds_syncs = false;
  std::atomic<int> syncs = 0;
};

class TroubledFile final : public File {
 public:
  TroubledFile(std::unique_ptr<File> file, Trouble& trouble)
      : file_(std::move(file)), trouble_(trouble) {}

  error_code write(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    if (trouble_.full) return {ENOSPC, boost::system::system_category()};
    return file_->write(offset, pieces);
  }
  error_code sync() override {
    ++trouble_.syncs;
    trouble_.holds_syncs.wait(true);
    if (trouble_.sync_fails) return {EIO, boost::system::system_category()};
    return file_->sync();
  }
  error_code allocate(std::uint64_t size) override {
    if (trouble_.full) return {ENOSPC, boost::system::system_category()};
    return file_->allocate(size);
  }
  error_code truncate(std::uint64_t size) override { return file_->truncate(size); }

 private:
  std::unique_ptr<File> file_;
  Trouble& trouble_;
};

class TroubledDisk final : public Disk {
 public:
  TroubledDisk(const std::string& directory, Trouble& trouble)
      : disk_(directory), trouble_(trouble) {}

  result<std::vector<std::string>> list() override { return disk_.list(); }
  result<std::string> read(const std::string& name, std::uint64_t offset,
                           std::uint64_t size_max) override {
    return disk_.read(name, offset, size_max);
  }
  result<std::unique_ptr<File>> open(const std::string& name, bool create) override {
    result<std::unique_ptr<File>> file = disk_.open(name, create);
    if (!file) return file;
    return std::unique_ptr<File>(std::make_unique<TroubledFile>(std::move(*file), trouble_));
  }
  error_code rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  error_code remove(const std::string& name) override { return disk_.remove(name); }
  error_code sync() override { return disk_.sync(); }
  std::string path(const std::string& name) const override { return disk_.path(name); }

 private:
  PosixDisk disk_;
  Trouble& trouble_;
};

class SegmentedLogTest : public testing::Test {
 protected:
  SegmentedLogTest() {
    options_.owner = {Uuid::from_random_bits(1, 2), Uuid::from_random_bits(3, 4)};
    options_.segment_bytes = 1 << 20;
    options_.record_bytes_max = 300'000;
    options_.retry_every = std::chrono::milliseconds(1);
  }
  ~SegmentedLogTest() override { release_syncs(); }

  void open() {
    log_.reset();
    told_ = {};
    log_ = std::make_unique<SegmentedLog>(
        std::make_unique<TroubledDisk>(directory_.path(), trouble_), options_, told_, loop_.post());
  }

  result<std::uint64_t> submit(std::string_view record) {
    return log_->submit(Buffer::copy_of(record));
  }

  bool wait_for(std::uint64_t index) {
    return loop_.run_until([&] { return told_.last >= index; });
  }

  std::vector<std::string> replayed() {
    std::vector<std::string> records;
    log_->replay(log_->first(),
                 [&](std::uint64_t, std::string_view record) { records.emplace_back(record); });
    return records;
  }

  // The writer stands in a sync, with what was submitted before.
  void hold_a_sync() {
    int before = trouble_.syncs;
    trouble_.holds_syncs = true;
    ASSERT_TRUE(submit("held"));
    while (trouble_.syncs == before) loop_.run_ready();
  }
  void release_syncs() {
    trouble_.holds_syncs = false;
    trouble_.holds_syncs.notify_all();
  }

  ScratchDirectory directory_;
  Trouble trouble_;
  Loop loop_;
  Told told_;
  LogOptions options_;
  std::unique_ptr<SegmentedLog> log_;
};

TEST_F(SegmentedLogTest, PersistsWhatWasSubmitted) {
  open();
  EXPECT_EQ(*submit("one"), 1u);
  EXPECT_EQ(*submit("two"), 2u);
  ASSERT_TRUE(wait_for(2));
  EXPECT_EQ(log_->last(), 2u);
  open();
  EXPECT_EQ(log_->last(), 2u);
  EXPECT_EQ(replayed(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(*submit("three"), 3u);
  ASSERT_TRUE(wait_for(3));
}

TEST_F(SegmentedLogTest, GathersWhatArrivesDuringASyncForTheNextAndTellsOnce) {
  open();
  ASSERT_TRUE(submit("first"));
  ASSERT_TRUE(wait_for(1));
  hold_a_sync();
  int syncs = trouble_.syncs;
  std::uint64_t posted = loop_.posted();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(submit("record"));
  release_syncs();
  ASSERT_TRUE(wait_for(1002));
  EXPECT_EQ(trouble_.syncs, syncs + 1);
  EXPECT_LE(loop_.posted(), posted + 2);
}

TEST_F(SegmentedLogTest, OneTurnOfTheLoopGoesWithOneSync) {
  open();
  ASSERT_TRUE(submit("first"));
  ASSERT_TRUE(wait_for(1));
  int syncs = trouble_.syncs;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(submit("record"));
  ASSERT_TRUE(wait_for(101));
  EXPECT_EQ(trouble_.syncs, syncs + 1);
}

TEST_F(SegmentedLogTest, WaitsForAsManyRecordsAsItLatelyHad) {
  options_.gather_time = std::chrono::minutes(10);
  open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit("record"));
  ASSERT_TRUE(wait_for(3));
  const int syncs = trouble_.syncs;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(submit("record"));
    loop_.run_ready();
  }
  ASSERT_TRUE(wait_for(6));
  EXPECT_EQ(trouble_.syncs, syncs + 1);
}

TEST_F(SegmentedLogTest, WaitsForCallersThatHaveLeftForAMomentOnly) {
  options_.gather_time = std::chrono::milliseconds(1);
  open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(submit("record"));
  ASSERT_TRUE(wait_for(3));
  ASSERT_TRUE(submit("record"));
  ASSERT_TRUE(wait_for(4));
}

TEST_F(SegmentedLogTest, WritesWhatIsPendingWhenItEnds) {
  open();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(submit(std::string(1000, 'x')));
  open();
  EXPECT_EQ(log_->last(), 5000u);
  EXPECT_EQ(told_.last, 0u) << "nobody is told afterwards";
}

TEST_F(SegmentedLogTest, TellsNobodyAfterItsEnd) {
  open();
  ASSERT_TRUE(submit("record"));
  log_.reset();
  loop_.run_ready();
  EXPECT_EQ(told_.last, 0u);
}

TEST_F(SegmentedLogTest, RefusesMoreThanMayBePending) {
  options_.pending_bytes_max = 1000;
  open();
  ASSERT_TRUE(submit("first"));
  ASSERT_TRUE(wait_for(1));
  hold_a_sync();
  ASSERT_TRUE(submit(std::string(900, 'x')));
  result<std::uint64_t> refused = submit(std::string(200, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::queue_full));
  release_syncs();
  ASSERT_TRUE(wait_for(3));
  EXPECT_EQ(*submit(std::string(200, 'x')), 4u);
}

TEST_F(SegmentedLogTest, RefusesARecordThatNeverFits) {
  open();
  result<std::uint64_t> refused = submit(std::string(options_.record_bytes_max + 1, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::too_large));
  EXPECT_TRUE(submit(std::string(options_.record_bytes_max, 'x')));
}

TEST_F(SegmentedLogTest, RefusesWhileTheDiskIsFullAndRecoversByItself) {
  open();
  ASSERT_TRUE(submit("first"));
  ASSERT_TRUE(wait_for(1));
  trouble_.full = true;
  ASSERT_EQ(*submit("lost"), 2u);
  ASSERT_TRUE(loop_.run_until([&] { return !told_.failures.empty(); }));
  EXPECT_EQ(told_.failures[0].first, 2u);
  EXPECT_EQ(told_.failures[0].error.value(), ENOSPC);
  result<std::uint64_t> refused = submit("refused");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().value(), ENOSPC);
  trouble_.full = false;
  while (!(refused = submit("second"))) std::this_thread::yield();
  EXPECT_EQ(*refused, 2u);
  ASSERT_TRUE(wait_for(2));
  open();
  EXPECT_EQ(replayed(), (std::vector<std::string>{"first", "second"}));
}

TEST_F(SegmentedLogTest, AFailedSyncFailsEverythingSubmittedUntilThen) {
  open();
  ASSERT_TRUE(submit("first"));
  ASSERT_TRUE(wait_for(1));
  hold_a_sync();
  ASSERT_TRUE(submit("pending"));
  trouble_.sync_fails = true;
  release_syncs();
  ASSERT_TRUE(loop_.run_until([&] { return !told_.failures.empty(); }));
  EXPECT_EQ(told_.failures[0].first, 2u);
  EXPECT_EQ(told_.failures[0].error.value(), EIO);
  trouble_.sync_fails = false;
  result<std::uint64_t> index = submit("second");
  while (!index) index = submit("second");
  EXPECT_EQ(*index, 2u);
  ASSERT_TRUE(wait_for(2));
  open();
  EXPECT_EQ(replayed(), (std::vector<std::string>{"first", "second"}));
}

TEST_F(SegmentedLogTest, CutsInTheBackground) {
  open();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(submit(std::string(1000, 'x')));
  ASSERT_TRUE(wait_for(5000));
  log_->cut_before(4500);
  while (log_->first() < 3000) std::this_thread::yield();
  EXPECT_LE(log_->first(), 4500u);
  open();
  EXPECT_EQ(log_->last(), 5000u);
  EXPECT_EQ(replayed().size(), 5001 - log_->first());
}

TEST_F(SegmentedLogTest, ASecondProcessIsRefused) {
  open();
  EXPECT_THROW(PosixDisk(directory_.path()), Damage);
}

TEST_F(SegmentedLogTest, ManyRecordsOfRandomSizesComeBackAsTheyWere) {
  open();
  Random random(1);
  std::vector<std::string> records;
  for (int i = 0; i < 3000; ++i) {
    std::size_t size = random.chance(0.02) ? random.below(300'000) : random.below(3000);
    records.push_back(std::to_string(i) + std::string(size, static_cast<char>('a' + i % 26)));
    records.back().resize(std::min<std::size_t>(records.back().size(), 300'000));
    result<std::uint64_t> index = submit(records.back());
    while (!index) {
      ASSERT_TRUE(loop_.run_until([&] { return told_.last > 0; }));
      index = submit(records.back());
    }
  }
  ASSERT_TRUE(wait_for(3000));
  open();
  EXPECT_EQ(replayed(), records);
}

}  // namespace
}  // namespace canopy::store
