// Links against sockets without manners: garbage, giants, cuts, silence.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/link_harness.hpp"
#include "net/links.hpp"

namespace canopy::net {
namespace {

using namespace testing;
namespace asio = boost::asio;

std::string prefix(std::uint32_t length, std::uint8_t kind, std::uint16_t header_size) {
  std::array<char, wire::frame_prefix_size> bytes{};
  wire::FramePrefix{length, kind, 0, header_size}.write_to(bytes);
  return {bytes.data(), bytes.size()};
}

std::string hello_of(const TestPeer& like, const std::string& name) {
  wire::Hello hello = like.links->self();
  hello.peer.name = name;
  hello.peer.id = Id::hash_of(name);
  hello.peer.addresses = {{"127.0.0.1", 1}};
  return wire::encode(hello).head;
}

// A peer that has passed the handshake and then forgets itself.
struct Rogue {
  Rogue(asio::io_context& io, TestPeer& victim) : client(io, victim.endpoint) {
    client.write(hello_of(victim, "rogue"));
    const std::size_t before = victim.connections.size();
    EXPECT_TRUE(run_until(io, [&] { return victim.connections.size() == before + 1; }));
  }
  RawClient client;
};

TEST(LinksHostile, GarbageInsteadOfAHelloClosesAndIsCounted) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  const std::vector<std::string> garbage = {
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      std::string(64, '\xff'),
      std::string(64, '\0'),
      prefix(0xffffffff, 1, 0),                                // a giant length
      prefix(4, wire::frame_kind::hello, 0xffff),              // a header longer than its frame
      prefix(4, 0x10, 0),                                      // a message before the Hello
      prefix(7, wire::frame_kind::hello, 3) + "\xff\xff\xff",  // no Protobuf
      prefix(4, 0x90, 0),                                      // the control socket's
  };
  for (const std::string& bytes : garbage) {
    RawClient client(io, a.endpoint);
    client.write(bytes);
    EXPECT_TRUE(run_until(io, [&] { return client.closed(); }));
  }
  ASSERT_TRUE(run_until(io, [&] { return a.links->counters().handshakes == 0; }));
  EXPECT_EQ(a.links->counters().handshakes_failed, garbage.size());
  EXPECT_TRUE(a.connections.empty());
  TestPeer b(io, {.name = "b"});
  b.links->send(b.ref_of(a), probe(1));
  EXPECT_TRUE(run_until(io, [&] { return a.inbox.size() == 1; }));
}

TEST(LinksHostile, WhoseHelloIsNoneIsToldSo) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  wire::Hello borrowed = a.links->self();
  borrowed.peer.name = "rogue";
  wire::Hello nameless = borrowed;
  nameless.peer.name.clear();
  const std::vector<std::pair<std::string, std::string>> all = {
      {wire::encode(borrowed).head, "not its name's SHA-1"},
      {wire::encode(nameless).head, "no valid name"},
      {prefix(7, wire::frame_kind::hello, 3) + "\xff\xff\xff", "not valid Protobuf"},
      {prefix(4, 0x10, 0), "a frame came before the Hello"},
  };
  for (const auto& [bytes, reason] : all) {
    RawClient client(io, a.endpoint);
    client.write(bytes);
    EXPECT_TRUE(run_until(io, [&] { return client.closed(); }));
    EXPECT_NE(client.input().find(reason), std::string::npos) << reason;
  }
  EXPECT_TRUE(run_until(io, [&] { return a.links->counters().handshakes == 0; }));
}

TEST(LinksHostile, NonsenseOnAnEstablishedLinkClosesIt) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  const std::vector<std::string> nonsense = {
      prefix(0xfffffff0, 0x10, 0),
      prefix(2, 0x10, 0),                       // shorter than its own prefix
      prefix(4 + 3, 0x11, 3) + "\xff\xff\xff",  // a Probe that is no Protobuf
      hello_of(a, "rogue"),                     // a second Hello
      prefix(4, 0x80, 0),
  };
  for (const std::string& bytes : nonsense) {
    Rogue rogue(io, a);
    const std::size_t before = a.disconnections.size();
    rogue.client.write(bytes);
    ASSERT_TRUE(run_until(io, [&] { return a.disconnections.size() == before + 1; }));
    EXPECT_EQ(a.disconnections.back().second, Disconnect::malformed);
    EXPECT_TRUE(run_until(io, [&] { return rogue.client.closed(); }));
  }
  EXPECT_TRUE(a.inbox.empty());
  EXPECT_EQ(a.links->counters().links, 0u);
}

TEST(LinksHostile, AFrameOfAnUnknownKindIsSkipped) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  Rogue rogue(io, a);
  rogue.client.write(prefix(4, 0x7e, 0));
  EXPECT_TRUE(run_until(io, [&] { return a.links->counters().unknown == 1; }));
  EXPECT_TRUE(a.disconnections.empty());
}

TEST(LinksHostile, AStreamThatEndsInTheMiddleOfAFrameIsToldApart) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  Rogue rogue(io, a);
  rogue.client.write(prefix(1000, 0x4b, 10) + "half");
  rogue.client.close();
  ASSERT_TRUE(run_until(io, [&] { return a.disconnections.size() == 1; }));
  EXPECT_EQ(a.disconnections[0].second, Disconnect::broken);
  EXPECT_EQ(a.links->counters().stream.truncated, 1u);
}

TEST(LinksHostile, WhoeverSaysNothingIsClosedAfterTheHandshakeTime) {
  asio::io_context io;
  LinkOptions options;
  options.handshake_time_max = std::chrono::milliseconds(100);
  TestPeer a(io, {.name = "a", .options = options});
  RawClient silent(io, a.endpoint);
  RawClient slow(io, a.endpoint);  // a byte now and then
  const std::string hello = hello_of(a, "slow");
  std::size_t written = 0;
  ASSERT_TRUE(run_until(io, [&] {
    if (written < hello.size() / 2) written += slow.write(hello.substr(written, 1));
    return slow.closed() && silent.closed();
  }));
  EXPECT_EQ(a.links->counters().handshakes_failed, 2u);
  EXPECT_EQ(a.links->counters().handshakes, 0u);
}

TEST(LinksHostile, HandshakesUnderWayAreBoundedInTotalAndForEachAddress) {
  asio::io_context io;
  LinkOptions options;
  options.handshakes_per_address_max = 4;
  TestPeer a(io, {.name = "a", .options = options});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(std::make_unique<RawClient>(io, a.endpoint));
  ASSERT_TRUE(run_until(io, [&] { return a.links->counters().accepted == 10; }));
  EXPECT_EQ(a.links->counters().handshakes, 4u);
  EXPECT_EQ(a.links->counters().accepts_refused, 6u);
  clients.clear();
  ASSERT_TRUE(run_until(io, [&] { return a.links->counters().handshakes == 0; }));
  TestPeer b(io, {.name = "b"});
  b.links->send(b.ref_of(a), probe(1));
  EXPECT_TRUE(run_until(io, [&] { return a.inbox.size() == 1; }));
}

TEST(LinksHostile, AThousandBadConnectionsLeaveNothingBehind) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  const auto attack = [&](int count) {
    for (int i = 0; i < count; ++i) {
      RawClient client(io, a.endpoint);
      client.write(i % 2 == 0 ? prefix(0x7fffffff, 1, 9) : prefix(9000, 1, 8000) + "cut");
      if (i % 2 == 0)
        EXPECT_TRUE(run_until(io, [&] { return client.closed(); }));
      else
        run_ready(io);
    }
    EXPECT_TRUE(run_until(io, [&] { return a.links->counters().handshakes == 0; }));
  };
  attack(200);
  const std::uint64_t before = resident_bytes();
  attack(1000);
  if (memory_is_measurable()) {
    EXPECT_LT(resident_bytes(), before + (std::uint64_t{4} << 20));
  }
  EXPECT_EQ(a.links->counters().handshakes_failed, 1200u);
}

TEST(LinksHostile, ASeedThatAcceptsAndSaysNothingIsGivenUp) {
  asio::io_context io;
  LinkOptions options;
  options.handshake_time_max = std::chrono::milliseconds(100);
  TestPeer a(io, {.name = "a", .options = options});
  asio::ip::tcp::acceptor mute(io, {asio::ip::address_v4::loopback(), 0});
  std::string text;
  a.links->dial_seed({"127.0.0.1", mute.local_endpoint().port()},
                     [&](auto error, PeerRef, std::string_view why) {
                       EXPECT_TRUE(error);
                       text = why;
                     });
  ASSERT_TRUE(run_until(io, [&] { return !text.empty(); }));
  EXPECT_NE(text.find("no handshake within 100 ms"), std::string::npos) << text;
}

TEST(LinksHostile, APingIsAnsweredAndAFloodOfThemIsNotQueued) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  Rogue rogue(io, a);
  ASSERT_TRUE(
      run_until(io, [&] { return rogue.client.closed() || !rogue.client.input().empty(); }));
  const std::size_t hello_size = rogue.client.input().size();
  rogue.client.write(prefix(4, wire::frame_kind::link_ping, 0));
  const std::string pong = prefix(4, wire::frame_kind::link_pong, 0);
  ASSERT_TRUE(run_until(io, [&] {
    return rogue.client.closed() || rogue.client.input().size() == hello_size + pong.size();
  }));
  EXPECT_EQ(rogue.client.input().substr(hello_size), pong);
  std::string flood;
  for (int i = 0; i < 100'000; ++i) flood += prefix(4, wire::frame_kind::link_ping, 0);
  std::size_t written = 0;
  ASSERT_TRUE(run_until(io, [&] {
    written += rogue.client.write(std::string_view(flood).substr(written));
    return written == flood.size();
  }));
  EXPECT_TRUE(a.disconnections.empty());
}

}  // namespace
}  // namespace canopy::net
