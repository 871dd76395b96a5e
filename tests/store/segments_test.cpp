#include "store/segments.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/damage.hpp"
#include "store/fault_disk.hpp"

namespace canopy::store {
namespace {

const Owner owner{Uuid::from_random_bits(1, 2), Uuid::from_random_bits(3, 4)};

LogOptions small_segments() {
  LogOptions options;
  options.owner = owner;
  options.segment_bytes = 4096;
  options.record_bytes_max = 2048;
  return options;
}

class SegmentsTest : public testing::Test {
 protected:
  void open() {
    segments_.reset();
    segments_.emplace(disk_, options_);
  }

  boost::system::error_code append(const std::vector<std::string>& records) {
    std::vector<Buffer> buffers;
    for (const std::string& record : records) buffers.push_back(Buffer::copy_of(record));
    return segments_->append(buffers);
  }

  // One append each.
  void append_many(int count, std::size_t size = 500) {
    for (int i = 0; i < count; ++i)
      ASSERT_FALSE(append({std::string(size, static_cast<char>('a' + i % 26))}));
  }

  std::vector<std::string> replayed(std::uint64_t from = 1) {
    std::vector<std::string> records;
    segments_->replay(from, [&](std::uint64_t index, std::string_view record) {
      EXPECT_EQ(index, from + records.size());
      records.emplace_back(record);
    });
    return records;
  }

  // What opening, and reading all of it, complains about; empty if it does not.
  std::string complaint() {
    try {
      open();
      replayed(segments_->first());
      return {};
    } catch (const Damage& damage) {
      return damage.what();
    }
  }

  void expect_complaint(const std::string& file, const std::string& problem) {
    std::string text = complaint();
    EXPECT_NE(text.find(file), std::string::npos) << text;
    EXPECT_NE(text.find(problem), std::string::npos) << text;
  }

  FaultDisk disk_{1};
  LogOptions options_ = small_segments();
  std::optional<Segments> segments_;
};

TEST_F(SegmentsTest, StartsEmpty) {
  open();
  EXPECT_EQ(segments_->first(), 1u);
  EXPECT_EQ(segments_->last(), 0u);
  EXPECT_TRUE(replayed().empty());
}

TEST_F(SegmentsTest, KeepsRecordsOverACrash) {
  open();
  ASSERT_FALSE(append({"one", "two"}));
  ASSERT_FALSE(append({"three"}));
  disk_.crash();
  open();
  EXPECT_EQ(segments_->last(), 3u);
  EXPECT_EQ(replayed(), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(replayed(3), (std::vector<std::string>{"three"}));
}

TEST_F(SegmentsTest, AppendsOneBatchWithOneSync) {
  open();
  ASSERT_FALSE(append({"one"}));
  std::uint64_t before = disk_.syncs();
  ASSERT_FALSE(append(std::vector<std::string>(100, "x")));
  EXPECT_EQ(disk_.syncs(), before + 1);
}

TEST_F(SegmentsTest, GoesOnInFurtherSegments) {
  open();
  append_many(30);
  EXPECT_GT(disk_.list()->size(), 3u);
  ASSERT_FALSE(append(std::vector<std::string>(40, std::string(500, 'z'))));
  disk_.crash();
  open();
  EXPECT_EQ(replayed().size(), 70u);
  ASSERT_FALSE(append({"more"}));
  EXPECT_EQ(replayed().back(), "more");
}

TEST_F(SegmentsTest, CutsWholeSegmentsAndUsesTheirFilesAgain) {
  open();
  append_many(30);
  std::size_t files = disk_.list()->size();
  segments_->cut_before(20);
  EXPECT_GT(segments_->first(), 10u);
  EXPECT_LE(segments_->first(), 20u);
  EXPECT_LT(disk_.list()->size(), files);
  EXPECT_TRUE(disk_.read("spare", 0, 1));
  append_many(30);
  segments_->cut_before(61);
  disk_.crash();
  open();
  EXPECT_EQ(segments_->last(), 60u);
  EXPECT_EQ(replayed(segments_->first()).size(), 61 - segments_->first());
}

TEST_F(SegmentsTest, KnowsItsIndexWhenAllIsCut) {
  open();
  append_many(8);
  segments_->cut_before(9);
  open();
  append_many(1, 2000);
  segments_->cut_before(10);
  disk_.crash();
  open();
  EXPECT_EQ(segments_->last(), 9u);
  ASSERT_FALSE(append({"ten"}));
  EXPECT_EQ(segments_->last(), 10u);
}

TEST_F(SegmentsTest, ReplayFromBeforeTheCutNamesWhatIsMissing) {
  open();
  append_many(30);
  segments_->cut_before(20);
  EXPECT_THROW(replayed(1), Damage);
}

TEST_F(SegmentsTest, ForgetsATornTail) {
  open();
  append_many(3);
  std::string name = disk_.list()->back();
  disk_.flip(name, segment_header_size + 2 * 536 + 100);
  open();
  EXPECT_EQ(segments_->last(), 2u);
  ASSERT_FALSE(append({"third again"}));
  open();
  EXPECT_EQ(replayed().back(), "third again");
}

TEST_F(SegmentsTest, NamesTheFileThatIsDamagedInItsMiddle) {
  open();
  append_many(3);
  std::string name = disk_.list()->back();
  disk_.flip(name, segment_header_size + 100);
  expect_complaint("fault/" + name, "record 1, at byte 64, is damaged");
}

TEST_F(SegmentsTest, NamesTheFileWhoseLastRecordIsDamagedAfterACleanEnd) {
  open();
  append_many(3);
  segments_->close();
  std::string name = disk_.list()->back();
  disk_.flip(name, segment_header_size + 2 * 536 + 100);
  expect_complaint("fault/" + name, "record 3");
}

TEST_F(SegmentsTest, NamesTheLastFileWhenItWasCutShort) {
  open();
  append_many(3);
  segments_->close();
  const std::string name = disk_.list()->back();
  const std::uint64_t third = segment_header_size + 2 * 536;
  auto file = disk_.open(name, false);
  ASSERT_FALSE((*file)->truncate(third + 100));
  expect_complaint("fault/" + name, "record 3");
}

TEST_F(SegmentsTest, NamesAFileBeforeTheLastThatIsDamagedAnywhere) {
  open();
  append_many(30);
  segments_->close();
  std::vector<std::string> names = *disk_.list();
  std::string name = names[names.size() - 2];
  for (std::uint64_t offset : {0, 20, 63, 64, 80, 100, 1000, 3000}) {
    disk_.flip(name, offset);
    expect_complaint("fault/" + name, "damaged");
    disk_.flip(name, offset);
  }
  EXPECT_EQ(complaint(), "");
}

TEST_F(SegmentsTest, NamesTheFileBeforeAMissingOne) {
  open();
  append_many(30);
  segments_->close();
  std::vector<std::string> names = *disk_.list();
  disk_.remove(names[1]);
  expect_complaint("fault/" + names[0], "missing");
}

TEST_F(SegmentsTest, NamesAFileThatWasRenamed) {
  open();
  append_many(30);
  disk_.rename(disk_.list()->back(), segment_name(77));
  expect_complaint(segment_name(77), "not what its name says");
}

TEST_F(SegmentsTest, RefusesAnotherOwnersFiles) {
  open();
  append_many(1);
  options_.owner.cluster = Uuid::from_random_bits(9, 9);
  expect_complaint(segment_name(1), "belongs to another cluster");
  options_.owner = owner;
  options_.owner.node = Uuid::from_random_bits(9, 9);
  expect_complaint(segment_name(1), "belongs to another node");
}

TEST_F(SegmentsTest, WritesRecordsAnewToAFreshSegmentAfterAFailedSync) {
  open();
  append_many(2);
  std::size_t files = disk_.list()->size();
  disk_.faults.sync_error = 1;
  EXPECT_EQ(append({"lost"}).value(), EIO);
  EXPECT_EQ(segments_->last(), 2u);
  disk_.faults.sync_error = 0;
  ASSERT_FALSE(append({"third"}));
  EXPECT_EQ(disk_.list()->size(), files + 1);
  disk_.crash();
  open();
  EXPECT_EQ(replayed().size(), 3u);
  EXPECT_EQ(replayed().back(), "third");
}

TEST_F(SegmentsTest, GivesTheRoomOfAFailedSegmentBack) {
  open();
  append_many(1);
  std::string name = disk_.list()->back();
  EXPECT_EQ(disk_.size(name), options_.segment_bytes);
  disk_.faults.write_error = 0.999;
  while (!append({"lost"})) {
  }
  disk_.faults.write_error = 0;
  disk_.crash();
  open();
  EXPECT_LT(disk_.size(name), options_.segment_bytes);
}

TEST_F(SegmentsTest, FailsWhenTheDiskIsFullAndGoesOnWhenThereIsRoom) {
  disk_.faults.room = 2 * options_.segment_bytes;
  open();
  int count = 0;
  boost::system::error_code error;
  while (!(error = append({std::string(500, 'x')}))) ++count;
  EXPECT_EQ(error.value(), ENOSPC);
  EXPECT_GT(count, 10);
  EXPECT_EQ(segments_->last(), static_cast<std::uint64_t>(count));
  EXPECT_FALSE(segments_->is_open());
  EXPECT_TRUE(append({"x"}));
  ASSERT_FALSE(segments_->cut_before(segments_->last()));
  ASSERT_FALSE(append({"room again"}));
  EXPECT_EQ(replayed(segments_->first()).back(), "room again");
}

}  // namespace
}  // namespace canopy::store
