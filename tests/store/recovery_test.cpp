#include "store/recovery.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/check.hpp"
#include "store/damage.hpp"
#include "store/loop.hpp"
#include "store/scratch_directory.hpp"

namespace canopy::store {
namespace {

namespace fs = std::filesystem;

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    options_.owner = {Uuid::from_random_bits(1, 2), Uuid::from_random_bits(3, 4)};
    options_.log.segment_bytes = 64 << 10;
    options_.log.record_bytes_max = 16 << 10;
    options_.store.memory_bytes = 4 << 20;
  }

  // Opens, and applies what the store lacks: a record is a key.
  void start() {
    opened_ = {};
    told_ = {};
    opened_ = open(path_, options_, told_, loop_.post());
    replayed_ = 0;
    replay(*opened_.store, *opened_.log, [&](std::uint64_t index, std::string_view record) {
      apply(index, record);
      ++replayed_;
    });
  }

  void apply(std::uint64_t index, std::string_view record) {
    Batch batch;
    batch.put(std::string(record), "value");
    ASSERT_FALSE(opened_.store->apply(batch, index));
  }

  void write(int count) {
    std::uint64_t applied = opened_.store->applied();
    std::uint64_t last = 0;
    for (int i = 0; i < count; ++i)
      last =
          opened_.log->submit(Buffer::copy_of(key(applied + 1 + static_cast<unsigned>(i)))).value();
    ASSERT_TRUE(loop_.run_until([&] { return told_.last == last; }));
    for (std::uint64_t index = applied + 1; index <= last; ++index) apply(index, key(index));
  }

  static std::string key(std::uint64_t index) {
    return "key " + std::to_string(index) + std::string(1000, 'x');
  }

  // The files as they are now: what a killed process leaves.
  void kill() {
    fs::copy(path_, path_ + ".copy", fs::copy_options::recursive);
    opened_.log.reset();
    opened_.store.reset();
    fs::remove_all(path_);
    fs::rename(path_ + ".copy", path_);
  }
  void stop() {
    opened_.log.reset();
    opened_.store.reset();
  }

  void cut() {
    opened_.store->flush();
    while (opened_.store->persisted() < opened_.store->applied()) {
    }
    std::uint64_t first = opened_.log->first();
    opened_.log->cut_before(opened_.store->persisted() + 1);
    while (opened_.log->first() == first) {
    }
  }

  std::string segment(std::size_t i) const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/log"))
      if (segment_number(entry.path().filename().string())) names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    return names.at(i);
  }

  static void damage(const std::string& file, std::streamoff offset) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(offset);
    int byte = bytes.get();
    bytes.seekp(offset);
    bytes.put(static_cast<char>(byte ^ 1));
  }

  std::string findings() const {
    std::string text;
    for (const Finding& finding : check(path_).findings)
      text += finding.file + ": " + finding.problem + "\n";
    return text;
  }

  static void expect_in(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  ScratchDirectory directory_;
  std::string path_ = directory_.path() + "/data";
  Options options_;
  Loop loop_;
  Told told_;
  Opened opened_;
  int replayed_ = 0;
};

TEST_F(RecoveryTest, AppliesWhatTheStoreLacksAfterAKill) {
  start();
  write(100);
  kill();
  start();
  EXPECT_EQ(replayed_, 100);
  EXPECT_EQ(opened_.store->applied(), 100u);
  EXPECT_TRUE(opened_.store->get(key(100)).value());
}

TEST_F(RecoveryTest, AppliesNothingAgainAfterACleanStop) {
  start();
  write(100);
  stop();
  start();
  EXPECT_EQ(replayed_, 0);
  EXPECT_EQ(opened_.store->applied(), 100u);
}

TEST_F(RecoveryTest, NeedsOnlyWhatIsBehindTheCut) {
  start();
  write(200);
  cut();
  write(50);
  kill();
  start();
  EXPECT_EQ(replayed_, 50);
  EXPECT_TRUE(opened_.store->get(key(1)).value());
  EXPECT_TRUE(opened_.store->get(key(250)).value());
}

TEST_F(RecoveryTest, RefusesALogThatEndsBeforeTheStore) {
  start();
  write(100);
  stop();
  fs::remove_all(path_ + "/log");
  EXPECT_THROW(start(), Damage);
  expect_in(findings(), "log");
}

TEST_F(RecoveryTest, RefusesALogThatBeginsBehindTheStore) {
  start();
  write(200);
  cut();
  stop();
  fs::remove_all(path_ + "/store");
  EXPECT_THROW(start(), Damage);
}

TEST_F(RecoveryTest, ASecondOneIsRefused) {
  start();
  Told told;
  EXPECT_THROW(open(path_, options_, told, loop_.post()), Damage);
  expect_in(findings(), "in use");
}

TEST_F(RecoveryTest, CheckFindsNothingWhenAllIsWell) {
  start();
  write(200);
  cut();
  write(200);
  kill();
  Report report = check(path_);
  EXPECT_EQ(findings(), "");
  EXPECT_EQ(report.last, 400u);
  EXPECT_EQ(report.applied, 200u);
  EXPECT_EQ(report.entries, 200u);
  EXPECT_GT(report.segments, 2u);
  EXPECT_GT(report.store_files, 0u);
  expect_in(to_text(report), "well: log of");
}

TEST_F(RecoveryTest, CheckNamesEveryDamagedSegment) {
  start();
  write(400);
  stop();
  damage(segment(0), 10);
  damage(segment(2), 2000);
  std::string text = findings();
  expect_in(text, segment(0) + ": its header is damaged");
  expect_in(text, segment(2) + ": record ");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

TEST_F(RecoveryTest, CheckNamesTheHoleOfAMissingSegment) {
  start();
  write(400);
  stop();
  fs::remove(segment(2));
  expect_in(findings(), segment(1) + ": record ");
}

TEST_F(RecoveryTest, CheckNamesADamagedFileOfTheStore) {
  start();
  write(400);
  stop();
  std::string file;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/store"))
    if (entry.path().extension() == ".sst" && entry.file_size() > 10'000)
      file = entry.path().string();
  damage(file, 5000);
  expect_in(findings(), file + ": Corruption");
}

TEST_F(RecoveryTest, CheckSaysWhatIsNotThere) { expect_in(findings(), "data/log: is missing"); }

TEST_F(RecoveryTest, CheckChangesNothing) {
  start();
  write(100);
  kill();
  auto before = fs::last_write_time(segment(0));
  auto size = fs::file_size(segment(0));
  check(path_);
  EXPECT_EQ(fs::last_write_time(segment(0)), before);
  EXPECT_EQ(fs::file_size(segment(0)), size);
  start();
  EXPECT_EQ(opened_.store->applied(), 100u);
}

}  // namespace
}  // namespace canopy::store
