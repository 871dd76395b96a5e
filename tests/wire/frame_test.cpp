#include "wire/frame.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "base/random.hpp"
#include "frame_bytes.hpp"
#include "wire/big_endian.hpp"

namespace canopy::wire {
namespace {

using testing::bytes_of;

constexpr std::size_t idle_memory = 4096;
constexpr std::size_t largest_slab = 65536;

std::string frame_bytes(std::uint8_t kind, std::string_view header, std::string_view body) {
  EncodedFrame frame = make_frame(kind, header.size(), Buffer::copy_of(body));
  std::copy(header.begin(), header.end(), header_of(frame));
  return bytes_of(frame);
}

std::string random_text(Random& random, std::size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

// What a frame says, apart from where it lies.
struct Seen {
  std::uint8_t kind = 0;
  std::string header = {};
  std::string body = {};
  friend bool operator==(const Seen&, const Seen&) = default;
};

// Feeds the stream in the pieces that `next_size` asks for and takes all frames
// after each.
template <class NextSize>
std::vector<Seen> feed(FrameParser& parser, std::string_view stream, NextSize next_size) {
  std::vector<Seen> seen;
  while (!stream.empty() && !parser.error()) {
    const auto room = parser.prepare();
    const std::size_t size = std::min({room.size(), stream.size(), std::size_t{next_size()}});
    std::copy_n(stream.data(), size, room.data());
    stream.remove_prefix(size);
    parser.commit(size);
    while (const auto frame = parser.next()) {
      seen.push_back({frame->kind, std::string(frame->header), std::string(frame->body.view())});
    }
  }
  return seen;
}

std::vector<Seen> feed_whole(FrameParser& parser, std::string_view stream) {
  return feed(parser, stream, [] { return SIZE_MAX; });
}

TEST(Frame, ThePrefixIsEightBytesInBigEndian) {
  const std::string bytes = frame_bytes(0x4b, "head", "payload");
  EXPECT_EQ(bytes, std::string("\x00\x00\x00\x0f\x4b\x00\x00\x04headpayload", 19));
}

TEST(Frame, ALongHeaderIsFlaggedAndHasItsOwnLength) {
  const std::string header(65536, 'h');
  const std::string bytes = frame_bytes(7, header, "body");
  EXPECT_EQ(bytes.substr(0, 12),
            std::string("\x00\x01\x00\x0c\x07\x01\x00\x00\x00\x01\x00\x00", 12));
  FrameParser parser;
  EXPECT_EQ(feed_whole(parser, bytes), (std::vector<Seen>{{7, header, "body"}}));
  EXPECT_EQ(frame_bytes(7, std::string(65535, 'h'), "").substr(5, 3), std::string("\0\xff\xff", 3));
}

TEST(Frame, ViewOfShowsWhatTheParserWouldYield) {
  for (const std::size_t header_size : {0U, 5U, 65535U, 65536U}) {
    EncodedFrame encoded = make_frame(9, header_size, Buffer::copy_of("body"));
    std::fill_n(header_of(encoded), header_size, 'h');
    const Frame frame = view_of(encoded);
    EXPECT_EQ(frame.kind, 9);
    EXPECT_EQ(frame.header, std::string(header_size, 'h'));
    EXPECT_EQ(frame.body.data(), encoded.body.data());
  }
}

TEST(FrameParser, YieldsFramesWhateverThePiecesTheyComeIn) {
  Random random(1);
  std::string stream;
  std::vector<Seen> sent;
  for (unsigned i = 0; i < 60; ++i) {
    const std::size_t header_size = random.below(random.chance(0.1) ? 100'000 : 200);
    const std::size_t body_size = random.below(random.chance(0.2) ? 200'000 : 300);
    sent.push_back({static_cast<std::uint8_t>(random.next()), random_text(random, header_size),
                    random_text(random, body_size)});
    stream += frame_bytes(sent.back().kind, sent.back().header, sent.back().body);
  }
  for (const std::size_t largest : {3U, 100U, 5000U, 100'000U, 10'000'000U}) {
    FrameParser parser;
    const auto seen = feed(parser, stream, [&] { return 1 + random.below(largest); });
    EXPECT_EQ(seen, sent) << "in pieces of at most " << largest;
    EXPECT_EQ(parser.pending(), 0U);
  }
}

TEST(FrameParser, YieldsFramesFedByteByByte) {
  std::string stream;
  std::vector<Seen> sent;
  for (unsigned i = 0; i < 200; ++i) {
    sent.push_back({static_cast<std::uint8_t>(i), std::string(i % 7, 'h'), std::string(i, 'b')});
    stream += frame_bytes(sent.back().kind, sent.back().header, sent.back().body);
  }
  FrameParser parser;
  EXPECT_EQ(feed(parser, stream, [] { return 1U; }), sent);
}

TEST(FrameParser, AFrameCutAtAnyByteIsNoFrameAndLeavesATrace) {
  const std::string bytes = frame_bytes(3, "header", "some body");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    FrameParser parser;
    EXPECT_TRUE(feed_whole(parser, bytes.substr(0, cut)).empty());
    EXPECT_FALSE(parser.error());
    EXPECT_EQ(parser.pending(), cut);
    EXPECT_EQ(feed_whole(parser, bytes.substr(cut)),
              (std::vector<Seen>{{3, "header", "some body"}}));
  }
}

TEST(FrameParser, BodiesStayAsTheyWereWhileMoreIsRead) {
  Random random(2);
  FrameParser parser;
  std::vector<std::pair<Buffer, std::string>> held;
  for (unsigned i = 0; i < 2000; ++i) {
    const std::string body = random_text(random, 1 + random.below(400));
    const std::string bytes = frame_bytes(1, random_text(random, random.below(30)), body);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto room = parser.prepare();
      const std::size_t size = std::min({room.size(), bytes.size() - at, 1 + random.below(300)});
      std::copy_n(bytes.data() + at, size, room.data());
      at += size;
      parser.commit(size);
      while (auto frame = parser.next()) held.emplace_back(std::move(frame->body), body);
    }
  }
  ASSERT_EQ(held.size(), 2000U);
  for (const auto& [body, expected] : held) ASSERT_EQ(body.view(), expected);
}

TEST(FrameParser, SmallBodiesOfOneReadShareASlab) {
  FrameParser parser;
  const std::string bytes = frame_bytes(1, "h", "first") + frame_bytes(1, "h", "second");
  const auto room = parser.prepare();
  std::copy(bytes.begin(), bytes.end(), room.data());
  parser.commit(bytes.size());
  const auto first = parser.next();
  const auto second = parser.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->body.data(), room.data() + 9);
  EXPECT_EQ(second->body.data(), room.data() + 14 + 9);
}

TEST(FrameParser, ALargeBodyIsReadToWhereItStays) {
  const std::string bytes = frame_bytes(1, "h", std::string(std::size_t{1} << 20, 'b'));
  FrameParser parser;
  std::size_t copied = 0;  // read elsewhere before the frame got its slab
  const char* last_room = nullptr;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto room = parser.prepare();
    if (last_room != nullptr && room.data() != last_room) copied += parser.pending();
    const std::size_t size = std::min({room.size(), bytes.size() - at, std::size_t{100'000}});
    std::copy_n(bytes.data() + at, size, room.data());
    at += size;
    parser.commit(size);
    last_room = room.data() + size;
    if (at < bytes.size()) {
      ASSERT_FALSE(parser.next());
    }
  }
  const auto frame = parser.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->body.size(), std::size_t{1} << 20);
  EXPECT_LE(copied, idle_memory);
  EXPECT_EQ(frame->body.data() + frame->body.size(), last_room);
}

TEST(FrameParser, MemoryGrowsWithTrafficAndGoesBackWhenItEnds) {
  FrameParser parser;
  EXPECT_EQ(parser.memory(), 0U);
  std::string stream;
  while (stream.size() < 1'000'000) stream += frame_bytes(1, "header", std::string(300, 'b'));
  std::size_t most = 0;
  feed(parser, stream, [&] {
    most = std::max(most, parser.memory());
    return SIZE_MAX;
  });
  EXPECT_EQ(most, largest_slab);
  feed_whole(parser, frame_bytes(1, "heartbeat", ""));
  EXPECT_LE(parser.memory(), idle_memory);
  EXPECT_FALSE(parser.next());
  EXPECT_LE(parser.memory(), idle_memory);
}

TEST(FrameParser, MemoryOfALargeFrameIsGivenBackOnceItIsTaken) {
  FrameParser parser;
  feed_whole(parser, frame_bytes(1, "", std::string(3'000'000, 'b')));
  feed_whole(parser, frame_bytes(1, "heartbeat", ""));
  EXPECT_LE(parser.memory(), idle_memory);
}

TEST(FrameParser, HeadersAloneAreReadIntoTheSameSlabAgainAndAgain) {
  FrameParser parser;
  const std::string heartbeat = frame_bytes(1, "heartbeat", "");
  feed_whole(parser, heartbeat);
  const char* const slab = parser.prepare().data();
  for (unsigned i = 0; i < 10'000; ++i) {
    ASSERT_EQ(parser.prepare().data(), slab);
    ASSERT_EQ(feed_whole(parser, heartbeat).size(), 1U);
  }
}

TEST(FrameParser, EveryRoomIsLargeEnoughToBeWorthASystemCall) {
  Random random(4);
  FrameParser parser;
  std::string stream;
  while (stream.size() < 500'000) {
    stream += frame_bytes(1, random_text(random, random.below(60)),
                          random_text(random, random.below(900)));
  }
  std::size_t at = 0;
  std::size_t reads = 0;
  while (at < stream.size()) {
    const auto room = parser.prepare();
    const std::size_t size = std::min(room.size(), stream.size() - at);
    std::copy_n(stream.data() + at, size, room.data());
    at += size;
    parser.commit(size);
    ++reads;
    while (parser.next()) {
    }
  }
  EXPECT_LE(reads, stream.size() / 16'384);
}

// --- What is refused ---

struct BadFrame {
  std::string bytes;
  std::string reason;
  boost::system::error_code code = errc::protocol;
};

std::string prefix_bytes(std::uint32_t length, std::uint8_t flags, std::uint16_t header_size) {
  std::string bytes(8, '\0');
  const FramePrefix prefix{length, 1, flags, header_size};
  prefix.write_to(std::span<char, 8>(bytes.data(), 8));
  return bytes;
}

std::string long_header(std::uint32_t size, std::size_t present) {
  std::string length(4, '\0');
  store_big_endian(length.data(), size);
  return prefix_bytes(static_cast<std::uint32_t>(8 + present), frame_flag::long_header, 0) +
         length + std::string(present, 'h');
}

TEST(FrameParser, AMalformedFrameEndsTheStreamWithAReason) {
  const std::vector<BadFrame> all = {
      {prefix_bytes(0, 0, 0), "frame of 4 bytes is shorter than its own prefix"},
      {prefix_bytes(3, 0, 0), "frame of 7 bytes is shorter than its own prefix"},
      {prefix_bytes(0xffffffff, 0, 0), "frame of 4294967299 bytes, more than 4194304",
       errc::too_large},
      {prefix_bytes(4194301, 0, 0), "frame of 4194305 bytes, more than 4194304", errc::too_large},
      {prefix_bytes(6, 0, 3) + "ab", "frame of kind 1 has a header of 3 bytes in 2 bytes"},
      {prefix_bytes(4, frame_flag::long_header, 0),
       "frame of kind 1 announces a long header without saying how long"},
      {prefix_bytes(8, frame_flag::long_header, 1) + std::string(4, '\0'),
       "frame of kind 1 announces a long header without saying how long"},
      {long_header(11, 10), "frame of kind 1 has a long header of 11 bytes in 10 bytes"},
      {long_header(0xffffffff, 10),
       "frame of kind 1 has a long header of 4294967295 bytes in 10 bytes"},
      {long_header(max_header + 1, max_header + 1),
       "frame of kind 1 has a header of 262145 bytes, more than 262144", errc::too_large},
  };
  const std::string good = frame_bytes(2, "good", "frame");
  for (const BadFrame& bad : all) {
    FrameParser parser;
    const auto seen = feed_whole(parser, good + bad.bytes + good);
    EXPECT_EQ(seen.size(), 1U);
    ASSERT_TRUE(parser.error()) << bad.reason;
    EXPECT_EQ(parser.error()->reason, bad.reason);
    EXPECT_EQ(parser.error()->code, bad.code);
    EXPECT_FALSE(parser.next());
  }
}

TEST(FrameParser, ASizeIsCheckedBeforeMemoryIsReservedForIt) {
  FrameParser parser(1000);
  const std::string prefix = prefix_bytes(997, 0, 0);
  const auto room = parser.prepare();
  std::copy(prefix.begin(), prefix.end(), room.data());
  parser.commit(prefix.size());
  EXPECT_LE(parser.prepare().size(), idle_memory);  // even if next() is not asked
  EXPECT_FALSE(parser.next());
  EXPECT_TRUE(parser.error());
  EXPECT_LE(parser.memory(), idle_memory);
}

TEST(FrameParser, TheLimitCountsWholeFramesAndCanBeChanged) {
  FrameParser parser(100);
  EXPECT_EQ(feed_whole(parser, frame_bytes(1, "", std::string(92, 'b'))).size(), 1U);
  parser.set_max_frame(200);
  EXPECT_EQ(feed_whole(parser, frame_bytes(1, "", std::string(192, 'b'))).size(), 1U);
  EXPECT_EQ(feed_whole(parser, frame_bytes(1, "", std::string(193, 'b'))).size(), 0U);
  EXPECT_TRUE(parser.error());
}

TEST(FrameParser, GarbageNeverYieldsMoreThanItHolds) {
  Random random(5);
  for (unsigned round = 0; round < 2000; ++round) {
    std::string stream = random_text(random, 1 + random.below(200));
    if (random.chance(0.5))
      std::fill_n(stream.begin(), std::min<std::size_t>(3, stream.size()), '\0');
    FrameParser parser(1 << 16);
    std::size_t yielded = 0;
    for (const Seen& seen : feed(parser, stream, [&] { return 1 + random.below(50); })) {
      yielded += frame_prefix_size + seen.header.size() + seen.body.size();
    }
    ASSERT_LE(yielded, stream.size());
    ASSERT_LE(parser.memory(), std::size_t{1} << 16);
  }
}

}  // namespace
}  // namespace canopy::wire
