// Links between well-behaved peers: exchange, addresses, crossing dials,
// restarts, refusals, shutdown.
#include "net/links.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "base/option_value.hpp"
#include "net/link_harness.hpp"

namespace canopy::net {
namespace {

using namespace testing;
namespace asio = boost::asio;

std::vector<std::uint32_t> numbers(std::uint32_t count, std::uint32_t from = 0) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), from);
  return all;
}

bool has_ipv6_loopback(asio::io_context& io) {
  try {
    const TcpListener probe(io, {"::1", 0}, [](asio::ip::tcp::socket) {});
    return true;
  } catch (const ListenError&) {
    return false;
  }
}

TEST(Links, CarryMessagesBothWaysOnOneLink) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  for (std::uint32_t i = 0; i < 100; ++i) a.links->send(a.ref_of(b), probe(i));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 100; }));
  EXPECT_EQ(b.nonces(), numbers(100));
  EXPECT_EQ(b.peers[b.inbox[0].from], a.descriptor());
  b.links->send(b.ref_of(a), probe(7));
  ASSERT_TRUE(run_until(io, [&] { return a.inbox.size() == 1; }));
  EXPECT_EQ(a.connections.size(), 1u);
  EXPECT_EQ(b.connections.size(), 1u);
  EXPECT_EQ(a.links->counters().established + b.links->counters().established, 2u);
}

TEST(Links, WorkOverIpv6) {
  asio::io_context io;
  if (!has_ipv6_loopback(io)) GTEST_SKIP() << "this machine has no ::1";
  TestPeer a(io, {.name = "a", .listen = {"::1", 0}});
  TestPeer b(io, {.name = "b", .listen = {"::1", 0}});
  a.links->send(a.ref_of(b), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
  EXPECT_EQ(b.peers[b.inbox[0].from].addresses.at(0).host, "::1");
}

TEST(Links, ResolveTheNamesOfPeersAndSeeds) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  PeerDescriptor named = b.descriptor();
  named.addresses = {{"localhost", b.endpoint.port}};
  a.links->send(a.ref_of(named), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));

  TestPeer c(io, {.name = "c"});
  PeerRef found;
  c.links->dial_seed({"localhost", b.endpoint.port},
                     [&](auto error, PeerRef peer, std::string_view text) {
                       EXPECT_FALSE(error) << text;
                       found = peer;
                     });
  ASSERT_TRUE(run_until(io, [&] { return static_cast<bool>(found); }));
  EXPECT_EQ(c.peers[found], b.descriptor());
  EXPECT_TRUE(c.links->has_link(found));
}

TEST(Links, CrossingDialsLeaveOneLinkAndLoseNothing) {
  constexpr int rounds = 60;
  constexpr std::uint32_t messages = 20;
  for (int round = 0; round < rounds; ++round) {
    asio::io_context io;
    TestPeer a(io, {.name = "a" + std::to_string(round)});
    TestPeer b(io, {.name = "b" + std::to_string(round)});
    const PeerRef to_b = a.ref_of(b);
    const PeerRef to_a = b.ref_of(a);
    // More is sent at every step of the two handshakes.
    std::uint32_t from_a = 0;
    std::uint32_t from_b = 0;
    for (int step = 0; from_a < messages || from_b < messages; ++step) {
      if (from_a < messages) a.links->send(to_b, probe(from_a++));
      if (from_b < messages && step >= round % 5) b.links->send(to_a, probe(from_b++));
      io.poll_one();
    }
    ASSERT_TRUE(
        run_until(io, [&] { return a.inbox.size() == messages && b.inbox.size() == messages; }))
        << "round " << round << ": " << a.inbox.size() << " and " << b.inbox.size();
    EXPECT_EQ(a.nonces(), numbers(messages)) << "round " << round;
    EXPECT_EQ(b.nonces(), numbers(messages)) << "round " << round;
    EXPECT_EQ(a.connections.size(), 1u);
    EXPECT_EQ(b.connections.size(), 1u);
    EXPECT_TRUE(a.disconnections.empty());
    EXPECT_TRUE(b.disconnections.empty());
    // Whatever was made twice is gone after a while, and the rest still works.
    a.links->send(to_b, probe(1000));
    b.links->send(to_a, probe(1000));
    ASSERT_TRUE(run_until(
        io, [&] { return a.inbox.size() == messages + 1 && b.inbox.size() == messages + 1; }));
    EXPECT_EQ(a.links->counters().links, 1u);
    EXPECT_EQ(b.links->counters().links, 1u);
  }
}

TEST(Links, SeedDialsOfALinkedPeerKeepTheLink) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  a.links->send(a.ref_of(b), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
  int answers = 0;
  const auto done = [&](auto error, PeerRef, std::string_view text) {
    EXPECT_FALSE(error) << text;
    ++answers;
  };
  a.links->dial_seed(b.endpoint, done);
  b.links->dial_seed(a.endpoint, done);
  ASSERT_TRUE(run_until(io, [&] { return answers == 2; }));
  a.links->send(a.ref_of(b), probe(2));
  b.links->send(b.ref_of(a), probe(3));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 2 && a.inbox.size() == 1; }));
  EXPECT_TRUE(a.disconnections.empty());
  EXPECT_TRUE(b.disconnections.empty());
  EXPECT_EQ(a.connections.size(), 1u);
}

TEST(Links, ARestartOnTheSamePortReplacesTheOldLinkAtOnce) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  auto b = std::make_unique<TestPeer>(io, PeerSettings{.name = "b", .incarnation = 1});
  const Endpoint port = b->endpoint;
  const PeerRef first = a.ref_of(*b);
  a.links->send(first, probe(1));
  ASSERT_TRUE(run_until(io, [&] { return b->inbox.size() == 1; }));
  b.reset();
  b = std::make_unique<TestPeer>(io, PeerSettings{.name = "b", .incarnation = 2, .listen = port});
  EXPECT_EQ(b->endpoint, port);
  b->links->send(b->ref_of(a), probe(2));
  ASSERT_TRUE(run_until(io, [&] { return a.inbox.size() == 1; }));
  const PeerRef second = a.inbox[0].from;
  EXPECT_NE(first, second);
  ASSERT_EQ(a.disconnections.size(), 1u);
  EXPECT_EQ(a.disconnections[0].first, first);
  // What is meant for the dead process is told, and does not reach the new one.
  a.links->send(first, probe(3));
  ASSERT_TRUE(run_until(io, [&] { return !a.unreachables.empty(); }));
  EXPECT_EQ(a.unreachables[0], first);
  a.links->send(second, probe(4));
  ASSERT_TRUE(run_until(io, [&] { return b->inbox.size() == 1; }));
  EXPECT_EQ(b->nonces(), numbers(1, 4));
}

TEST(Links, AHalfOpenLinkGivesWayToTheRestartedPeer) {
  asio::io_context io;
  asio::io_context frozen;  // the old process: it neither answers nor closes
  TestPeer a(io, {.name = "a"});
  TestPeer old_b(frozen, {.name = "b", .incarnation = 1});
  const PeerRef first = a.ref_of(old_b);
  a.links->send(first, probe(1));
  ASSERT_TRUE(run_until(io, [&] {
    run_ready(frozen);
    return old_b.inbox.size() == 1;
  }));
  TestPeer new_b(io, {.name = "b", .incarnation = 2});
  // It claims the old one's address, as a restarted machine would.
  wire::Hello self = new_b.links->self();
  self.peer.addresses = old_b.descriptor().addresses;
  new_b.links->set_self(self);
  new_b.links->send(new_b.ref_of(a), probe(2));
  ASSERT_TRUE(run_until(io, [&] { return a.inbox.size() == 1; }));
  EXPECT_EQ(a.peers[a.inbox[0].from].incarnation, 2u);
  ASSERT_EQ(a.disconnections.size(), 1u);
  EXPECT_EQ(a.disconnections[0], std::make_pair(first, Disconnect::restarted));
  EXPECT_EQ(a.links->counters().links, 1u);
}

TEST(Links, ADialThatFindsALaterStartReportsTheOneItWanted) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b", .incarnation = 5});
  PeerDescriptor stale = b.descriptor();
  stale.incarnation = 4;
  a.links->send(a.ref_of(stale), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return !a.unreachables.empty() && !a.connections.empty(); }));
  EXPECT_EQ(a.unreachables[0], a.ref_of(stale));
  EXPECT_EQ(a.connections[0], a.ref_of(b));
  EXPECT_TRUE(b.inbox.empty());
  EXPECT_EQ(a.links->counters().dropped_unreachable.control, 1u);
}

TEST(Links, AnotherClusterIsRefusedWithTheReasonOnBothSides) {
  asio::io_context io;
  TestPeer a(io, {.name = "a", .cluster = 1});
  TestPeer b(io, {.name = "b", .cluster = 2});
  std::string text;
  a.links->dial_seed(b.endpoint, [&](auto error, PeerRef, std::string_view why) {
    EXPECT_EQ(error, errc::wrong_cluster);
    text = why;
  });
  ASSERT_TRUE(run_until(io, [&] { return !text.empty(); }));
  ASSERT_EQ(a.rejections.size(), 1u);
  EXPECT_EQ(a.rejections[0].code, wire::RejectCode::wrong_cluster);
  EXPECT_EQ(a.rejections[0].remote, b.endpoint);
  EXPECT_NE(a.rejections[0].text.find("cluster"), std::string::npos) << a.rejections[0].text;
  EXPECT_EQ(b.links->counters().rejects_sent, 1u);
  EXPECT_EQ(a.links->counters().rejects_received, 1u);
  EXPECT_TRUE(a.connections.empty());
  EXPECT_TRUE(b.connections.empty());
  ASSERT_TRUE(run_until(io, [&] { return b.links->counters().handshakes == 0; }));
}

TEST(Links, AnotherPeerAtTheDialledAddressIsRefused) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  PeerDescriptor wanted;
  wanted.id = Id::hash_of("c");
  wanted.name = "c";
  wanted.addresses = {b.endpoint};
  a.links->send(a.ref_of(wanted), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return !a.unreachables.empty(); }));
  EXPECT_EQ(a.unreachables[0], a.ref_of(wanted));
  ASSERT_EQ(a.rejections.size(), 1u);
  EXPECT_EQ(a.rejections[0].code, wire::RejectCode::wrong_peer);
  EXPECT_EQ(a.rejections[0].text, "wanted c there, but found b");
  ASSERT_TRUE(run_until(io, [&] { return b.links->counters().rejects_received == 1; }));
  EXPECT_TRUE(b.inbox.empty());
}

TEST(Links, ADaemonThatDialsItselfIsTold) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  std::string text;
  a.links->dial_seed(a.endpoint, [&](auto, PeerRef, std::string_view why) { text = why; });
  ASSERT_TRUE(run_until(io, [&] { return !text.empty(); }));
  EXPECT_NE(text.find("itself"), std::string::npos) << text;
  EXPECT_TRUE(a.rejections.empty());
}

TEST(Links, ANameInUseRejectsTheNewcomerAndKeepsTheOldProcess) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer old_b(io, {.name = "b", .incarnation = 1});
  a.links->send(a.ref_of(old_b), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return old_b.inbox.size() == 1; }));
  TestPeer new_b(io, {.name = "b", .incarnation = 2});
  boost::system::error_code failure;
  new_b.links->dial_seed(a.endpoint,
                         [&](auto error, PeerRef, std::string_view) { failure = error; });
  ASSERT_TRUE(run_until(io, [&] { return failure.failed(); }));
  EXPECT_EQ(failure, errc::name_conflict);  // and not what a dial of oneself reports
  ASSERT_EQ(new_b.rejections.size(), 1u);
  EXPECT_EQ(new_b.rejections[0].code, wire::RejectCode::duplicate_name);
  EXPECT_NE(
      new_b.rejections[0].text.find("the name b is in use by " + format_endpoint(old_b.endpoint)),
      std::string::npos)
      << new_b.rejections[0].text;
  EXPECT_TRUE(a.disconnections.empty());
  a.links->send(a.ref_of(old_b), probe(2));
  ASSERT_TRUE(run_until(io, [&] { return old_b.inbox.size() == 2; }));
}

TEST(Links, ANameWhoseHolderNoLongerAnswersGoesToTheNewcomer) {
  asio::io_context io;
  asio::io_context frozen;
  LinkOptions options;
  options.alive_check_time_max = std::chrono::milliseconds(200);
  TestPeer a(io, {.name = "a", .options = options});
  TestPeer old_b(frozen, {.name = "b", .incarnation = 1});
  a.links->send(a.ref_of(old_b), probe(1));
  ASSERT_TRUE(run_until(io, [&] {
    run_ready(frozen);
    return old_b.inbox.size() == 1;
  }));
  TestPeer new_b(io, {.name = "b", .incarnation = 2});
  PeerRef found;
  new_b.links->dial_seed(a.endpoint, [&](auto error, PeerRef peer, std::string_view text) {
    EXPECT_FALSE(error) << text;
    found = peer;
  });
  ASSERT_TRUE(run_until(io, [&] { return static_cast<bool>(found); }));
  EXPECT_EQ(a.disconnections.size(), 1u);
  EXPECT_EQ(a.connections.size(), 2u);
  EXPECT_EQ(a.links->counters().links, 1u);
}

TEST(Links, TheLaterOfTwoNamesakesLearnsItFromTheOther) {
  asio::io_context io;
  TestPeer old_b(io, {.name = "b", .incarnation = 1});
  TestPeer new_b(io, {.name = "b", .incarnation = 2});
  new_b.links->dial_seed(old_b.endpoint, [](auto, PeerRef, std::string_view) {});
  ASSERT_TRUE(run_until(io, [&] { return !new_b.rejections.empty(); }));
  EXPECT_TRUE(old_b.rejections.empty());
  // And when the older one is the caller, too.
  new_b.rejections.clear();
  bool failed = false;
  old_b.links->dial_seed(new_b.endpoint,
                         [&](auto error, PeerRef, std::string_view) { failed = error.failed(); });
  ASSERT_TRUE(run_until(io, [&] { return failed; }));
  ASSERT_EQ(new_b.rejections.size(), 1u);
  EXPECT_EQ(new_b.rejections[0].code, wire::RejectCode::duplicate_name);
  for (const Rejection& rejection : old_b.rejections)
    EXPECT_EQ(rejection.code, wire::RejectCode::shutting_down) << rejection.text;
}

TEST(Links, APeerThatRefusesConnectionsIsReportedAndDialledAgainWhileSomethingWaits) {
  asio::io_context io;
  LinkOptions options;
  options.backoff_min = std::chrono::milliseconds(5);
  options.backoff_max = std::chrono::milliseconds(20);
  options.failures_max = 1000;
  TestPeer a(io, {.name = "a", .options = options});
  const Endpoint port = closed_port(io);
  PeerDescriptor b_later;
  b_later.id = Id::hash_of("b");
  b_later.incarnation = 1;
  b_later.name = "b";
  b_later.addresses = {port};
  a.links->send(a.ref_of(b_later), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return a.unreachables.size() >= 3; }));
  TestPeer b(io, {.name = "b", .listen = port});
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
}

TEST(Links, WhatWaitsForAPeerThatStaysAwayIsDroppedAndCounted) {
  asio::io_context io;
  LinkOptions options;
  options.backoff_min = options.backoff_max = std::chrono::milliseconds(5);
  options.failures_max = 2;
  TestPeer a(io, {.name = "a", .options = options});
  PeerDescriptor b;
  b.id = Id::hash_of("b");
  b.addresses = {closed_port(io)};
  for (std::uint32_t i = 0; i < 5; ++i) a.links->send(a.ref_of(b), probe(i));
  ASSERT_TRUE(run_until(io, [&] { return a.links->counters().dropped_unreachable.control == 5; }));
  EXPECT_EQ(a.unreachables.size(), 2u);
  EXPECT_EQ(a.links->counters().dials_failed, 2u);
  // Nothing is left of it after a while.
  ASSERT_TRUE(run_until(io, [&] { return a.links->counters().peers == 0; }));
}

TEST(Links, ALinkLostWithMessagesWaitingIsMadeAnew) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  const PeerRef to_b = a.ref_of(b);
  a.links->send(to_b, probe(1));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
  wire::Hello self = b.links->self();
  const Endpoint port = b.endpoint;
  b.links.reset();
  ASSERT_TRUE(run_until(io, [&] { return a.disconnections.size() == 1; }));
  EXPECT_FALSE(a.links->has_link(to_b));
  // The same process again, as after a cable was pulled.
  b.links = std::make_unique<Links>(io, b.peers, b, self, LinkOptions{}, 1);
  b.links->listen(port);
  a.links->send(to_b, probe(2));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 2; }));
}

TEST(Links, IdleLinksCloseUnlessWanted) {
  asio::io_context io;
  LinkOptions options;
  options.idle_time_max = std::chrono::milliseconds(60);
  TestPeer a(io, {.name = "a", .options = options});
  TestPeer b(io, {.name = "b"});
  TestPeer c(io, {.name = "c"});
  c.want_all = true;
  a.links->send(a.ref_of(b), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return a.disconnections.size() == 1; }));
  EXPECT_EQ(a.disconnections[0].second, Disconnect::idle);
  ASSERT_TRUE(run_until(io, [&] { return b.disconnections.size() == 1; }));
  EXPECT_EQ(b.disconnections[0].second, Disconnect::closed);
  EXPECT_EQ(a.links->counters().idle_closed, 1u);
  // The next message makes it anew.
  a.want_all = true;
  a.links->send(a.ref_of(b), probe(2));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 2; }));
  EXPECT_FALSE(run_until(
      io, [&] { return a.disconnections.size() > 1; }, std::chrono::milliseconds(200)));
}

TEST(Links, TheNumberOfLinksIsBounded) {
  asio::io_context io;
  LinkOptions options;
  options.links_max = 2;
  TestPeer a(io, {.name = "a", .options = options});
  a.want_all = true;
  TestPeer b(io, {.name = "b"});
  TestPeer c(io, {.name = "c"});
  TestPeer d(io, {.name = "d"});
  a.links->send(a.ref_of(b), probe(1));
  a.links->send(a.ref_of(c), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return a.links->counters().links == 2; }));
  d.links->dial_seed(a.endpoint, [](auto, PeerRef, std::string_view) {});
  ASSERT_TRUE(run_until(io, [&] { return !d.rejections.empty(); }));
  EXPECT_EQ(d.rejections[0].code, wire::RejectCode::busy);
  // An unwanted one makes room, after a second.
  a.want_all = false;
  ASSERT_TRUE(run_until(io, [&] {
    if (d.connections.empty() && d.links->counters().dials == d.links->counters().dials_failed)
      d.links->dial_seed(a.endpoint, [](auto, PeerRef, std::string_view) {});
    return d.connections.size() == 1;
  }));
  EXPECT_EQ(a.links->counters().links, 2u);
}

TEST(Links, ShutdownWritesTheControlMessagesThatWaitAndCloses) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  const PeerRef to_b = a.ref_of(b);
  a.links->send(to_b, probe(0));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
  for (std::uint32_t i = 1; i < 2000; ++i) a.links->send(to_b, probe(i));
  bool done = false;
  a.links->shutdown([&] { done = true; });
  EXPECT_FALSE(done);
  ASSERT_TRUE(run_until(io, [&] { return done; }));
  ASSERT_TRUE(run_until(io, [&] { return b.disconnections.size() == 1; }));
  EXPECT_EQ(b.nonces(), numbers(2000));
  EXPECT_EQ(b.disconnections[0].second, Disconnect::closed);
  EXPECT_THROW(RawClient(io, a.endpoint), boost::system::system_error);
}

TEST(Links, ReportEveryPeerRefThatTheyUse) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  PeerDescriptor unused;
  unused.id = Id::hash_of("unused");
  const PeerRef gone = a.ref_of(unused);
  a.links->send(a.ref_of(b), probe(1));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
  std::vector<PeerRef> refs;
  a.links->collect_refs(refs);
  EXPECT_NE(std::find(refs.begin(), refs.end(), a.ref_of(b)), refs.end());
  EXPECT_EQ(std::find(refs.begin(), refs.end(), gone), refs.end());
  a.peers.sweep(refs);
  a.links->send(a.ref_of(b), probe(2));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 2; }));
}

}  // namespace
}  // namespace canopy::net
