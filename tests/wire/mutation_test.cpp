// Frames with random damage: whatever comes in, a parser either refuses it or
// yields something that can be sent on. The same without an end: tests/fuzz.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frame_bytes.hpp"
#include "sample_messages.hpp"
#include "wire/codec.hpp"
#include "wire/hello.hpp"

namespace canopy::wire {
namespace {

using testing::bytes_of;
using testing::describe;
using testing::Sampler;

// One of the ways in which bytes go wrong.
void damage(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  const std::size_t at = random.below(bytes.size());
  const std::size_t size = std::min<std::size_t>(1 + random.below(20), bytes.size() - at);
  switch (random.below(6)) {
    case 0: bytes[at] = static_cast<char>(bytes[at] ^ 1 << random.below(8)); break;
    case 1: bytes[at] = static_cast<char>(random.next()); break;
    case 2: bytes.erase(at, size); break;
    case 3: bytes.insert(at, bytes.substr(at, size)); break;
    case 4: bytes.insert(at, 1, static_cast<char>(random.next())); break;
    default: std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, '\xff'); break;
  }
}

// The length field is set right again, so that damage reaches what lies deeper.
void mend_length(std::string& bytes) {
  if (bytes.size() < frame_prefix_size) return;
  const auto length = static_cast<std::uint32_t>(bytes.size() - 4);
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<char>(length >> (24 - 8 * i));
}

struct Outcome {
  unsigned understood = 0;
  unsigned skipped = 0;
  unsigned malformed = 0;
};

void feed(std::string_view stream, PeerTable& peers, Outcome& outcome) {
  FrameParser parser(std::size_t{1} << 20);
  ReceiveDictionary receive;
  SendDictionary send;
  while (!stream.empty()) {
    const auto room = parser.prepare();
    const std::size_t size = std::min(room.size(), stream.size());
    std::copy_n(stream.data(), size, room.data());
    stream.remove_prefix(size);
    parser.commit(size);
    while (const auto frame = parser.next()) {
      auto message = decode(*frame, peers, receive);
      if (!message) {
        ++outcome.malformed;
        ASSERT_FALSE(message.error().reason.empty());
        return;
      }
      if (!*message) {
        ++outcome.skipped;
        continue;
      }
      ++outcome.understood;
      const auto again = encode(**message, peers, send);
      ASSERT_TRUE(again) << type_name(**message) << again.error().message();
      ReceiveDictionary fresh;
      SendDictionary whole_ids;
      const auto self_contained = encode(**message, peers, whole_ids);
      const auto copy = decode(view_of(*self_contained), peers, fresh);
      ASSERT_TRUE(copy && copy->has_value()) << type_name(**message);
      ASSERT_EQ(describe(**copy, peers), describe(**message, peers));
    }
    if (parser.error()) {
      ++outcome.malformed;
      ASSERT_FALSE(parser.error()->reason.empty());
      return;
    }
  }
}

TEST(Mutation, DamagedMessagesAreRefusedSkippedOrWhole) {
  Random random(2024);
  PeerTable sender_peers;
  Sampler sampler(random, sender_peers);
  Outcome outcome;
  for (unsigned round = 0; round < 30'000; ++round) {
    SendDictionary send;
    const Message message = sampler.any_message();
    const auto frame = encode(message, sender_peers, send);
    ASSERT_TRUE(frame);
    std::string bytes = bytes_of(*frame);
    for (unsigned i = 0; i <= random.below(3); ++i) damage(bytes, random);
    if (random.chance(0.9)) mend_length(bytes);
    PeerTable receiver_peers;
    feed(bytes, receiver_peers, outcome);
    ASSERT_FALSE(HasFatalFailure()) << "round " << round << ", " << type_name(message);
  }
  // Each way out was taken often, so the damage went deep and not too deep.
  EXPECT_GT(outcome.understood, 3000U);
  EXPECT_GT(outcome.skipped, 100U);
  EXPECT_GT(outcome.malformed, 3000U);
}

TEST(Mutation, DamagedHellosAreRefusedOrWhole) {
  Random random(2025);
  const Hello hello{.cluster = Uuid::from_random_bits(1, 2),
                    .cluster_name = "canopy",
                    .peer = testing::sample_peer(3)};
  const EncodedFrame frame = encode(hello);
  const std::string header(view_of(frame).header);
  unsigned accepted = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string bytes = header;
    for (unsigned i = 0; i <= random.below(3); ++i) damage(bytes, random);
    const auto decoded = decode_hello({frame_kind::hello, 0, bytes, {}});
    if (!decoded) {
      ASSERT_FALSE(decoded.error().reason.empty());
      continue;
    }
    ++accepted;
    const auto again = decode_hello(view_of(encode(*decoded)));
    ASSERT_TRUE(again) << again.error().reason;
    ASSERT_EQ(*again, *decoded);
  }
  EXPECT_GT(accepted, 1000U);
  EXPECT_LT(accepted, 19'000U);
}

}  // namespace
}  // namespace canopy::wire
