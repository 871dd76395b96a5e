// What waits for a link: bounds, classes, sharing, peers that do not read.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/link_harness.hpp"
#include "net/links.hpp"

namespace canopy::net {
namespace {

using namespace testing;
namespace asio = boost::asio;

Buffer payload(std::size_t size, char fill = 'x') {
  return Buffer::copy_of(std::string(size, fill));
}

// A linked peer whose process stands still until thaw().
struct FrozenPeer {
  FrozenPeer(asio::io_context& io, TestPeer& sender, const PeerSettings& settings)
      : peer(loop, settings), ref(sender.ref_of(peer)) {
    sender.links->send(ref, probe(0));
    EXPECT_TRUE(run_until(io, [&] {
      run_ready(loop);
      return peer.inbox.size() == 1;
    }));
    peer.inbox.clear();
  }
  asio::io_context loop;
  TestPeer peer;
  PeerRef ref;
};

// Lets the sender's socket fill up.
void run_for_a_while(asio::io_context& io) {
  for (int i = 0; i < 200; ++i) io.poll();
}

TEST(LinksQueue, AStalledReaderCostsBoundedMemoryAndItsOldestBulkIsDroppedFirst) {
  asio::io_context io;
  LinkOptions options;
  options.outbox.bulk = {1000, std::size_t{1} << 20};
  TestPeer a(io, {.name = "a", .options = options});
  FrozenPeer b(io, a, {.name = "b"});
  constexpr std::size_t size = 10'000;
  const auto flood = [&](std::uint64_t from, std::uint64_t count) {
    for (std::uint64_t i = from; i < from + count; ++i) {
      a.links->send(b.ref, multicast(i, payload(size)));
      io.poll();
    }
  };
  flood(0, 5000);
  const std::uint64_t before = resident_bytes();
  flood(5000, 5000);
  if (memory_is_measurable()) {
    EXPECT_LT(resident_bytes(), before + (std::uint64_t{4} << 20));
  }
  const LinkCounters counters = a.links->counters();
  EXPECT_LE(counters.queued_bytes, std::size_t{1} << 20);
  EXPECT_GT(counters.dropped_full.bulk, 5000u);
  EXPECT_EQ(counters.dropped_full.control, 0u);

  // When it reads again, it gets what came first and what came last.
  std::vector<std::uint64_t> got;
  b.peer.keep_messages = false;
  b.peer.on_message = [&](PeerRef, wire::Message& message) {
    got.push_back(std::get<wire::Multicast>(message).id.sequence);
  };
  ASSERT_TRUE(run_until(io, [&] {
    run_ready(b.loop);
    return !got.empty() && got.back() == 9999;
  }));
  EXPECT_EQ(got.front(), 0u);
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end()));
  EXPECT_EQ(got.size() + a.links->counters().dropped_full.bulk, 10'000u);
}

TEST(LinksQueue, ControlOvertakesBulk) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  FrozenPeer b(io, a, {.name = "b"});
  std::uint64_t bulk = 0;
  while (a.links->counters().queued_messages < 100) {
    a.links->send(b.ref, multicast(bulk++, payload(50'000)));
    run_ready(io);
  }
  const std::size_t waiting = a.links->counters().queued_messages;
  a.links->send(b.ref, probe(42));
  std::uint64_t bulk_before_control = 0;
  bool control_came = false;
  b.peer.keep_messages = false;
  b.peer.on_message = [&](PeerRef, wire::Message& message) {
    if (std::holds_alternative<wire::Probe>(message)) control_came = true;
    if (!control_came) ++bulk_before_control;
  };
  ASSERT_TRUE(run_until(io, [&] {
    run_ready(b.loop);
    return b.peer.received_count == bulk + 2;
  }));
  EXPECT_TRUE(control_came);
  EXPECT_LE(bulk_before_control, bulk - waiting);
}

TEST(LinksQueue, ControlIsBoundedToo) {
  asio::io_context io;
  LinkOptions options;
  options.outbox.control = {100, std::size_t{1} << 20};
  TestPeer a(io, {.name = "a", .options = options});
  FrozenPeer b(io, a, {.name = "b"});
  for (std::uint32_t i = 1; i <= 1000; ++i) a.links->send(b.ref, probe(i));
  EXPECT_EQ(a.links->counters().queued_messages, 100u);
  EXPECT_EQ(a.links->counters().dropped_full.control, 900u);
  ASSERT_TRUE(run_until(io, [&] {
    run_ready(b.loop);
    return b.peer.inbox.size() == 100;
  }));
  EXPECT_EQ(b.peer.nonces().front(), 901u);
  EXPECT_EQ(b.peer.nonces().back(), 1000u);
}

TEST(LinksQueue, OnePayloadServesEveryDestinationUncopied) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  constexpr std::size_t size = std::size_t{1} << 20;
  constexpr int destinations = 20;
  std::vector<std::unique_ptr<FrozenPeer>> peers;
  for (int i = 0; i < destinations; ++i)
    peers.push_back(
        std::make_unique<FrozenPeer>(io, a, PeerSettings{.name = "b" + std::to_string(i)}));
  auto slab = std::make_shared<std::string>(size, 'p');
  const std::shared_ptr<const char[]> bytes(slab, slab->data());
  const std::uint64_t before = resident_bytes();
  for (const auto& peer : peers) {
    for (int copy = 0; copy < 3; ++copy)
      a.links->send(peer->ref, multicast(0, Buffer(bytes, 0, size)));
  }
  EXPECT_EQ(bytes.use_count(), 2 + 3 * destinations);
  run_for_a_while(io);
  // The sockets' own buffers are not ours.
  if (memory_is_measurable()) {
    EXPECT_LT(resident_bytes(), before + (std::uint64_t{8} << 20));
  }
  EXPECT_EQ(a.links->counters().dropped_full.bulk, 0u);
}

TEST(LinksQueue, WhatWaitsLeavesInFewWrites) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer b(io, {.name = "b"});
  const PeerRef to_b = a.ref_of(b);
  a.links->send(to_b, probe(0));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
  const std::uint64_t before = a.links->counters().stream.writes;
  for (std::uint32_t i = 1; i <= 1000; ++i) a.links->send(to_b, probe(i));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1001; }));
  EXPECT_LE(a.links->counters().stream.writes - before, 8u);
}

TEST(LinksQueue, APeerThatReadsNothingForLongIsGivenUp) {
  asio::io_context io;
  LinkOptions options;
  options.stall_time_max = std::chrono::milliseconds(200);
  TestPeer a(io, {.name = "a", .options = options});
  FrozenPeer b(io, a, {.name = "b"});
  ASSERT_TRUE(run_until(io, [&] {
    if (a.links->counters().queued_messages < 10)
      a.links->send(b.ref, multicast(1, payload(100'000)));
    return !a.disconnections.empty();
  }));
  EXPECT_EQ(a.disconnections[0].second, Disconnect::stalled);
  EXPECT_EQ(a.links->counters().stalled, 1u);
}

TEST(LinksQueue, AMessageBeyondTheFrameLimitIsDroppedAndCounted) {
  asio::io_context io;
  LinkOptions options;
  options.frame_bytes_max = 100'000;
  TestPeer a(io, {.name = "a", .options = options});
  TestPeer b(io, {.name = "b", .options = options});
  a.links->send(a.ref_of(b), multicast(1, payload(100'001)));
  a.links->send(a.ref_of(b), multicast(2, payload(90'000)));
  ASSERT_TRUE(run_until(io, [&] { return b.inbox.size() == 1; }));
  EXPECT_EQ(a.links->counters().not_encodable, 1u);
  EXPECT_EQ(std::get<wire::Multicast>(b.inbox[0].message).body, payload(90'000));
}

TEST(LinksQueue, ABusyLinkDoesNotStarveAnother) {
  asio::io_context io;
  TestPeer a(io, {.name = "a"});
  TestPeer busy(io, {.name = "busy"});
  TestPeer quiet(io, {.name = "quiet"});
  const PeerRef to_a = busy.ref_of(a);
  quiet.links->send(quiet.ref_of(a), probe(0));
  std::uint64_t sent = 0;
  const auto pump = [&] {
    while (busy.links->counters().queued_messages < 64)
      busy.links->send(to_a, multicast(sent++, payload(10'000)));
  };
  a.keep_messages = false;
  ASSERT_TRUE(run_until(io, [&] {
    pump();
    return a.received_count > 1000;
  }));
  bool quiet_came = false;
  a.on_message = [&](PeerRef, wire::Message& message) {
    quiet_came = quiet_came || std::holds_alternative<wire::Probe>(message);
  };
  const std::uint64_t before = a.received_count;
  quiet.links->send(quiet.ref_of(a), probe(1));
  ASSERT_TRUE(run_until(io, [&] {
    pump();
    return quiet_came;
  }));
  EXPECT_LT(a.received_count - before, 2000u);
}

}  // namespace
}  // namespace canopy::net
