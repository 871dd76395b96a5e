// What peers of this protocol version have on the wire, as bytes: a later
// version must still understand them, and say the same in the same way.
//
// tests/data/wire/golden_frames.txt has one frame of every message type, by the
// name of the type. Lines are added with types and never changed.
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "frame_bytes.hpp"
#include "sample_messages.hpp"
#include "wire/codec.hpp"
#include "wire/content.hpp"
#include "wire/hello.hpp"

namespace canopy::wire {
namespace {

using testing::bytes_of;

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::map<std::string, std::string> golden_frames() {
  std::ifstream file(CANOPY_TEST_DATA_DIR "/wire/golden_frames.txt");
  std::map<std::string, std::string> frames;
  std::string type;
  std::string hex;
  while (file >> type >> hex) frames[type] = from_hex(hex);
  return frames;
}

// Calls `use` with the one frame that these bytes are.
template <class Use>
void with_frame(const std::string& bytes, Use use) {
  FrameParser parser;
  const auto room = parser.prepare();
  ASSERT_LE(bytes.size(), room.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  parser.commit(bytes.size());
  const auto frame = parser.next();
  ASSERT_TRUE(frame);
  use(*frame);
  EXPECT_FALSE(parser.next());
}

std::string random_example(std::size_t type) {
  Random random(type);
  PeerTable peers;
  SendDictionary groups;
  testing::Sampler sampler(random, peers);
  return bytes_of(encode(sampler.message(type), peers, groups).value());
}

TEST(GoldenFrames, EveryTypeIsReadAndWrittenAsEver) {
  const auto frames = golden_frames();
  for (std::size_t type = 0; type < std::variant_size_v<Message::variant>; ++type) {
    Random random(type);
    PeerTable sampled;
    const std::string name(type_name(testing::Sampler(random, sampled).message(type)));
    const auto golden = frames.find(name);
    if (golden == frames.end()) {
      ADD_FAILURE() << "golden_frames.txt lacks:\n" << name << ' ' << to_hex(random_example(type));
      continue;
    }
    with_frame(golden->second, [&](const Frame& frame) {
      PeerTable peers;
      ReceiveDictionary received;
      const auto decoded = decode(frame, peers, received);
      ASSERT_TRUE(decoded) << name << ": " << decoded.error().reason;
      ASSERT_TRUE(decoded->has_value()) << name;
      EXPECT_EQ(type_name(**decoded), name);
      SendDictionary sent;
      EXPECT_EQ(to_hex(bytes_of(encode(**decoded, peers, sent).value())), to_hex(golden->second))
          << name;
    });
  }
}

// So that no two fields can be swapped on both sides unnoticed.
TEST(GoldenFrames, AMulticastSaysWhatItsBytesSay) {
  const std::string bytes = from_hex(
      "00000043"                                          // length
      "4b00003b"                                          // kind, flags, header length
      "0a14d4036891c194493056568a8a6c7e0643ea30fd0c1001"  // group, its number on the link
      "1a21"                                              // message id:
      "0a14b36828398e513ae808e0c63582fb5dba635d7d15"      // publisher
      "110700000000000000"                                // incarnation
      "1803"                                              // sequence
      "01006869");                                        // content: no headers, "hi"
  with_frame(bytes, [](const Frame& frame) {
    PeerTable peers;
    ReceiveDictionary groups;
    const auto decoded = decode(frame, peers, groups);
    ASSERT_TRUE(decoded && decoded->has_value());
    const auto& multicast = std::get<Multicast>(**decoded);
    EXPECT_EQ(multicast.group, Id::hash_of("prices"));
    EXPECT_EQ(multicast.id, (MessageId{Id::hash_of("node-1"), 7, 3}));
    EXPECT_EQ(decode_content(multicast.body, 100).value().payload.view(), "hi");
  });
}

TEST(GoldenFrames, AHelloIsReadAndWrittenAsEver) {
  const Hello hello{.cluster = Uuid::from_random_bits(1, 2),
                    .cluster_name = "canopy",
                    .peer = testing::sample_peer(1),
                    .features = 5};
  const std::string bytes = from_hex(
      "0000006a01000066"
      "0a1000000000000040018000000000000002"  // cluster
      "120663616e6f7079"                      // its name
      "1a40"                                  // the peer:
      "0a14b36828398e513ae808e0c63582fb5dba635d7d15110168e5cf8b010000"
      "1a066e6f64652d31220d0a0831302e302e302e3110e939280132067a6f6e652d31"
      "2001280130053804"  // versions, features, digit bits
      "4010");            // leaf set
  EXPECT_EQ(to_hex(bytes_of(encode(hello))), to_hex(bytes));
  with_frame(bytes, [&](const Frame& frame) { EXPECT_EQ(decode_hello(frame).value(), hello); });
}

TEST(GoldenFrames, ARefusalIsReadAndWrittenAsEver) {
  const HelloReject refusal{RejectCode::version, "no"};
  const std::string bytes = from_hex("0000000a02000006080212026e6f");
  EXPECT_EQ(to_hex(bytes_of(encode(refusal))), to_hex(bytes));
  with_frame(bytes,
             [&](const Frame& frame) { EXPECT_EQ(decode_hello_reject(frame).value(), refusal); });
}

}  // namespace
}  // namespace canopy::wire
