#include "net/write_batch.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace canopy::net {
namespace {

wire::EncodedFrame frame(const std::string& header, const std::string& body = {}) {
  auto made = wire::make_frame(0x10, header.size(), Buffer::copy_of(body));
  std::copy(header.begin(), header.end(), wire::header_of(made));
  return made;
}

std::string bytes_of(WriteBatch& batch) {
  std::string all;
  for (const auto& piece : batch.pieces())
    all.append(static_cast<const char*>(piece.data()), piece.size());
  return all;
}

TEST(WriteBatch, PutsHeadsTogetherAndLeavesBodiesWhereTheyAre) {
  WriteBatch batch;
  const auto with_body = frame("two", "the body");
  batch.add(frame("one"));
  batch.add(with_body);
  batch.add(frame("three"));
  batch.add(frame("four"));
  const std::string expected =
      frame("one").head + with_body.head + "the body" + frame("three").head + frame("four").head;
  EXPECT_EQ(bytes_of(batch), expected);
  ASSERT_EQ(batch.pieces().size(), 3u);
  EXPECT_EQ(batch.pieces()[1].data(), with_body.body.data());
  EXPECT_EQ(batch.frames(), 4u);
  EXPECT_EQ(batch.bytes(), expected.size());
}

TEST(WriteBatch, CanBeWrittenInAnyParts) {
  const std::string whole = frame("one", "body one").head + "body one" + frame("two").head;
  for (std::size_t step = 1; step <= whole.size(); ++step) {
    WriteBatch batch;
    batch.add(frame("one", "body one"));
    batch.add(frame("two"));
    std::string written;
    while (!batch.written()) {
      const std::string left = bytes_of(batch);
      const std::size_t size = std::min(step, left.size());
      written += left.substr(0, size);
      batch.consume(size);
    }
    EXPECT_EQ(written, whole) << "in steps of " << step;
  }
}

TEST(WriteBatch, IsBoundedInFramesPiecesAndBytes) {
  WriteBatch small;
  while (!small.full()) small.add(frame("x"));
  EXPECT_EQ(small.frames(), WriteBatch::frames_max);
  EXPECT_EQ(small.pieces().size(), 1u);

  WriteBatch bodies;
  while (!bodies.full()) bodies.add(frame("x", "y"));
  EXPECT_LE(bodies.pieces().size(), WriteBatch::pieces_max);
  EXPECT_GE(bodies.frames(), WriteBatch::pieces_max / 2 - 1);

  WriteBatch large;
  while (!large.full()) large.add(frame("x", std::string(100'000, 'y')));
  EXPECT_EQ(large.frames(), 3u);
}

TEST(WriteBatch, LetsGoOfBodiesWhenCleared) {
  auto bytes = std::make_shared<std::string>("payload");
  const std::shared_ptr<const char[]> slab(bytes, bytes->data());
  WriteBatch batch;
  batch.add({std::string(8, '\0'), Buffer(slab, 0, bytes->size())});
  EXPECT_EQ(slab.use_count(), 3);
  batch.clear();
  EXPECT_EQ(slab.use_count(), 2);
  EXPECT_TRUE(batch.empty());
}

}  // namespace
}  // namespace canopy::net
