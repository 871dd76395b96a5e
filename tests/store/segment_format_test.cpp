#include "store/segment_format.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace canopy::store {
namespace {

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

const SegmentHeader header{7, 100, {Uuid::from_random_bits(1, 2), Uuid::from_random_bits(3, 4)}};

// A segment of frames, one a list of records.
class SegmentFormatTest : public testing::Test {
 protected:
  SegmentFormatTest() : segment_(encode(header)) {}

  void add_frame(const std::vector<std::string>& records, std::uint64_t synced = 0,
                 std::uint64_t number = header.number) {
    builder_.clear();
    for (const std::string& record : records) builder_.add(record);
    for (std::string_view piece : builder_.finish(number, next_, synced)) segment_ += piece;
    next_ += records.size();
  }

  Scan scan(std::uint64_t end = no_end) {
    seen_.clear();
    return scan_frames(segment_, header, end, [&](std::uint64_t index, std::string_view record) {
      EXPECT_EQ(index, header.first + seen_.size());
      seen_.emplace_back(record);
    });
  }

  FrameBuilder builder_;
  std::string segment_;
  std::uint64_t next_ = header.first;
  std::vector<std::string> seen_;
};

TEST_F(SegmentFormatTest, AHeaderSurvivesItsEncoding) {
  std::optional<SegmentHeader> decoded = decode_segment_header(encode(header));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->number, header.number);
  EXPECT_EQ(decoded->first, header.first);
  EXPECT_EQ(decoded->owner, header.owner);
}

TEST_F(SegmentFormatTest, AHeaderWithAnyByteChangedIsDamaged) {
  for (std::size_t i = 0; i < segment_header_size; ++i) {
    std::string bytes = encode(header);
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    EXPECT_FALSE(decode_segment_header(bytes)) << "byte " << i;
  }
  EXPECT_FALSE(decode_segment_header(encode(header).substr(0, 63)));
}

TEST_F(SegmentFormatTest, RecordsOfAllSizesComeBackInOrder) {
  const std::vector<std::string> large{std::string(4096, 'b'), std::string(4097, 'c'),
                                       std::string(300'000, 'd'), "", "e"};
  add_frame({"a", "", std::string(7, 'x')});
  add_frame(large);
  Scan scanned = scan();
  EXPECT_EQ(scanned.next, 108u);
  EXPECT_EQ(scanned.end, segment_.size());
  ASSERT_EQ(seen_.size(), 8u);
  EXPECT_EQ(seen_[0], "a");
  EXPECT_EQ(std::vector<std::string>(seen_.begin() + 3, seen_.end()), large);
}

TEST_F(SegmentFormatTest, SaysHowMuchAFrameTakes) {
  builder_.clear();
  EXPECT_EQ(builder_.size_with(5), 48u);
  add_frame({"hello"});
  EXPECT_EQ(segment_.size(), segment_header_size + 48);
}

TEST_F(SegmentFormatTest, AnyByteOfAFrameChangedEndsTheScanBeforeIt) {
  add_frame({"first"});
  std::size_t start = segment_.size();
  add_frame({"second"});
  for (std::size_t i = start; i < start + frame_header_size + 4 + 6; ++i) {
    segment_[i] = static_cast<char>(segment_[i] ^ 0x40);
    Scan scanned = scan();
    EXPECT_EQ(scanned.next, 101u) << "byte " << i - start;
    EXPECT_FALSE(scanned.damaged_before);
    segment_[i] = static_cast<char>(segment_[i] ^ 0x40);
  }
}

TEST_F(SegmentFormatTest, ABadFrameBeforeOneThatKnewItSyncedIsDamage) {
  add_frame({"first"}, 99);
  std::size_t second = segment_.size();
  add_frame({"second"}, 100);
  add_frame({"third"}, 100);
  segment_[second + 40] = '?';
  EXPECT_FALSE(scan().damaged_before) << "both may be of one torn write";
  add_frame({"fourth"}, 101);
  EXPECT_TRUE(scan().damaged_before);
}

TEST_F(SegmentFormatTest, FramesOfAFormerLifeOfTheFileDoNotCount) {
  add_frame({"first"});
  add_frame({"old"}, 1000, header.number - 1);
  Scan scanned = scan();
  EXPECT_EQ(scanned.next, 101u);
  EXPECT_FALSE(scanned.damaged_before);
}

TEST_F(SegmentFormatTest, TheScanEndsWhereTheNextSegmentBegins) {
  add_frame({"first"});
  add_frame({"failed, and written again to the next segment"});
  EXPECT_EQ(scan(101).next, 101u);
  EXPECT_EQ(seen_, std::vector<std::string>{"first"});
}

TEST_F(SegmentFormatTest, AMarkHasNoRecords) {
  add_frame({"first"}, 99);
  std::size_t first = segment_header_size;
  add_frame({}, 100);
  EXPECT_EQ(scan().end, segment_.size());
  segment_[first + 36] = '?';
  EXPECT_TRUE(scan().damaged_before);
}

TEST_F(SegmentFormatTest, SurvivesGarbage) {
  add_frame({"first"});
  for (std::size_t size = 0; size <= segment_.size(); ++size) {
    std::string cut = segment_.substr(0, size);
    scan_frames(cut, header, no_end, [](std::uint64_t, std::string_view) {});
  }
  segment_ += std::string(1000, '\xff');
  EXPECT_EQ(scan().next, 101u);
}

}  // namespace
}  // namespace canopy::store
