#include "wire/hello.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "base/random.hpp"
#include "proto_bytes.hpp"
#include "sample_messages.hpp"
#include "wire/codec.hpp"

namespace canopy::wire {
namespace {

using testing::bytes_field;
using testing::number_field;

Hello hello_of(unsigned peer) {
  return {.cluster = Uuid::from_random_bits(1, 2),
          .cluster_name = "canopy",
          .peer = testing::sample_peer(peer),
          .features = 5};
}

Hello changed(Hello hello, const std::function<void(Hello&)>& change) {
  change(hello);
  return hello;
}

TEST(Hello, SurvivesTheRoundTrip) {
  for (const Hello& hello : {hello_of(1), hello_of(3), Hello{}, changed(hello_of(2), [](Hello& h) {
                               h.cluster = {};
                               h.version_max = 65535;
                               h.features = ~std::uint64_t{0};
                               h.digit_bits = 8;
                               h.leaf_set_size = 65535;
                             })}) {
    const EncodedFrame frame = encode(hello);
    const auto decoded = decode_hello(view_of(frame));
    ASSERT_TRUE(decoded) << decoded.error().reason;
    EXPECT_EQ(*decoded, hello);
  }
}

TEST(Hello, FitsIntoWhatAPeerTakesBeforeIt) {
  Hello hello = hello_of(1);
  const std::string longest(255, 'x');
  hello.cluster_name = hello.peer.name = hello.peer.zone = longest;
  hello.peer.addresses.assign(limit::addresses, {longest, 65535});
  EXPECT_LE(encode(hello).size(), max_frame_before_hello);
  EXPECT_EQ(*decode_hello(view_of(encode(hello))), hello);
}

TEST(Hello, MalformedOnesAreRefusedWithTheirReason) {
  const std::string peer = bytes_field(3, bytes_field(1, std::string(20, 'p')));
  const std::vector<std::pair<std::string, std::string>> all = {
      {"\xff", "not valid Protobuf"},
      {"", "peer is an id of 0 bytes"},
      {peer + bytes_field(1, "short"), "cluster is a UUID of 5 bytes"},
      {peer + bytes_field(2, std::string(256, 'c')), "cluster name has a text of 256 bytes"},
      {peer + bytes_field(2, "\n"), "cluster name has a text that is not printable"},
      {peer + number_field(4, 2) + number_field(5, 1), "its range of versions is empty"},
      {peer + number_field(5, 65536), "version_max is 65536"},
      {peer + number_field(7, 256), "digit_bits is 256"},
      {peer + number_field(8, 65536), "leaf_set_size is 65536"},
  };
  for (const auto& [header, reason] : all) {
    const auto decoded = decode_hello({frame_kind::hello, 0, header, {}});
    ASSERT_FALSE(decoded) << reason;
    EXPECT_EQ(decoded.error().code, errc::protocol);
    EXPECT_NE(decoded.error().reason.find(reason), std::string::npos) << decoded.error().reason;
  }
  const auto other = decode_hello({0x4b, 0, "", {}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().reason, "Hello: a frame of kind 75 came instead");
}

TEST(Hello, ToleratesWhatALaterVersionAdds) {
  const EncodedFrame frame = encode(hello_of(1));
  const std::string header =
      std::string(view_of(frame).header) + bytes_field(50, "later") + number_field(51, 1);
  const auto decoded = decode_hello({frame_kind::hello, 0x80, header, Buffer::copy_of("more")});
  ASSERT_TRUE(decoded) << decoded.error().reason;
  EXPECT_EQ(*decoded, hello_of(1));
}

TEST(HelloReject, SurvivesTheRoundTrip) {
  const HelloReject reject{RejectCode::busy, "too many links: try again later"};
  const auto decoded = decode_hello_reject(view_of(encode(reject)));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, reject);
}

TEST(HelloReject, IsCutBetweenCharacters) {
  std::string text;
  while (text.size() < 2000) text += "\xe2\x82\xac";
  const auto decoded = decode_hello_reject(view_of(encode({RejectCode::busy, text})));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->text, text.substr(0, 1023));
}

TEST(HelloReject, IsShownSafelyWhateverItSays) {
  for (const std::string& text : {std::string("\x1b[2J"), std::string(2000, 'x')}) {
    const std::string header = number_field(1, 500) + bytes_field(2, text);
    const auto decoded = decode_hello_reject({frame_kind::hello_reject, 0, header, {}});
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->text, "(a reason that cannot be printed)");
  }
  EXPECT_FALSE(decode_hello_reject({frame_kind::hello_reject, 0, "\xff", {}}));
  EXPECT_FALSE(decode_hello_reject({frame_kind::hello, 0, "", {}}));
}

struct Case {
  std::string what;
  Hello theirs;
  RejectCode code;
  std::string text;
};

TEST(CheckCompatible, NamesExactlyWhatDiffers) {
  const Hello mine = hello_of(1);
  const Hello base = hello_of(2);
  const std::vector<Case> all = {
      {"name", changed(base, [](Hello& h) { h.cluster_name = "other"; }), RejectCode::wrong_cluster,
       "node-1 is of the cluster 'canopy', node-2 of the cluster 'other'"},
      {"UUID", changed(base, [](Hello& h) { h.cluster = Uuid::from_random_bits(3, 4); }),
       RejectCode::wrong_cluster,
       "two clusters have the name 'canopy': the UUID of node-1's is "
       "00000000-0000-4001-8000-000000000002, of node-2's 00000000-0000-4003-8000-000000000004"},
      {"version", changed(base, [](Hello& h) { h.version_min = 2, h.version_max = 4; }),
       RejectCode::version,
       "node-1 speaks the protocol versions 1 to 1, node-2 2 to 4: none in common"},
      {"digits", changed(base, [](Hello& h) { h.digit_bits = 2; }), RejectCode::parameters,
       "node-1 has digits of 4 bits, node-2 of 2: all peers of a cluster need the same "
       "--digit-bits"},
      {"leaf set", changed(base, [](Hello& h) { h.leaf_set_size = 8; }), RejectCode::parameters,
       "node-1 has leaf sets of 16, node-2 of 8: all peers of a cluster need the same --leaf-set"},
      {"namesake", changed(hello_of(1), [](Hello& h) { ++h.peer.incarnation; }),
       RejectCode::duplicate_name,
       "two running peers have the name node-1 and so the same id: give one of them another "
       "--name"},
      {"no name", changed(base, [](Hello& h) { h.peer.name.clear(); }), RejectCode::malformed,
       base.peer.id.to_hex() + " has no valid name: give it one with --name"},
      {"id", changed(base, [](Hello& h) { h.peer.id = Id::hash_of("other"); }),
       RejectCode::malformed,
       "the id of node-2 is " + Id::hash_of("other").to_hex() + ", not its name's SHA-1"},
      {"self", mine, RejectCode::self, "the address leads back to node-1 itself"},
  };
  for (const Case& c : all) {
    const auto reject = check_compatible(mine, c.theirs);
    ASSERT_TRUE(reject) << c.what;
    EXPECT_EQ(reject->code, c.code) << c.what;
    EXPECT_EQ(reject->text, c.text) << c.what;
    if (c.code == RejectCode::malformed) continue;  // nothing is wrong with the other one
    const auto other_way = check_compatible(c.theirs, mine);
    ASSERT_TRUE(other_way) << c.what;
    EXPECT_EQ(other_way->code, c.code) << c.what;
  }
}

TEST(CheckCompatible, PeersOfOneClusterFit) {
  EXPECT_FALSE(check_compatible(hello_of(1), hello_of(2)));
}

TEST(CheckCompatible, FeaturesAndOverlappingVersionsMayDiffer) {
  const Hello later = changed(hello_of(2), [](Hello& h) { h.version_max = 7, h.features = 0; });
  EXPECT_FALSE(check_compatible(hello_of(1), later));
}

TEST(CheckCompatible, OneThatBelongsToNoClusterFitsOneThatDoes) {
  const Hello joiner = changed(hello_of(2), [](Hello& h) { h.cluster = {}; });
  EXPECT_FALSE(check_compatible(hello_of(1), joiner));
  EXPECT_FALSE(check_compatible(joiner, hello_of(1)));
  const Hello another = changed(hello_of(3), [](Hello& h) { h.cluster = {}; });
  const auto reject = check_compatible(joiner, another);
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->code, RejectCode::not_member);
}

}  // namespace
}  // namespace canopy::wire
