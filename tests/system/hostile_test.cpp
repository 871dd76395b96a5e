// Bytes that make no sense, at the peers' port and at the control socket: the
// daemon stays up, says why it closes, and does not grow.
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/raw_socket.hpp"
#include "wire/hello.hpp"

namespace canopy::system_test {
namespace {

std::string random_bytes(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.next());
  return bytes;
}

std::string frame(std::uint32_t length, std::uint8_t kind, std::uint16_t header_size,
                  const std::string& rest) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(length >> shift);
  bytes += static_cast<char>(kind);
  bytes += '\0';
  bytes += static_cast<char>(header_size >> 8);
  bytes += static_cast<char>(header_size);
  return bytes + rest;
}

// Whatever a stranger may say.
std::vector<std::string> nonsense(Random& random) {
  std::vector<std::string> all;
  for (const std::size_t size : {1U, 7U, 8U, 9U, 100U, 5000U, 100'000U})
    all.push_back(random_bytes(random, size));
  all.push_back("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const std::uint8_t kind : {0x01, 0x02, 0x10, 0x7f, 0x80, 0x81, 0xff}) {
    all.push_back(frame(0xffffffff, kind, 0, ""));  // giant
    all.push_back(frame(0x7fffffff, kind, 100, std::string(50, 'x')));
    all.push_back(frame(0, kind, 0, ""));  // shorter than its own head
    all.push_back(frame(3, kind, 0, ""));
    all.push_back(frame(14, kind, 0xffff, std::string(10, 'x')));     // header beyond the frame
    all.push_back(frame(104, kind, 100, random_bytes(random, 100)));  // no Protobuf
    all.push_back(frame(1000, kind, 10, std::string(100, 'x')));      // cut off
  }
  return all;
}

class HostileTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.start(3);
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  }

  // Repeats an attack; what it takes the first times may be a cache's, after
  // that the daemon must not grow.
  void expect_flat_memory(const std::function<void()>& attack) {
    for (int round = 0; round < 3; ++round) attack();
    settle();
    const long before = cluster_[0].process().resident_kib();
    for (int round = 0; round < 12; ++round) attack();
    settle();
    const long after = cluster_[0].process().resident_kib();
    std::cout << "resident before " << before << " KiB, after " << after << " KiB\n";
    if (!sanitized) {
      EXPECT_LE(after, before + 1024);
    }
    EXPECT_TRUE(cluster_[0].process().running());
    EXPECT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  }

  void settle() {
    cluster_.until(seconds(10), [&] { return cluster_[0].client().connect(); });
    cluster_[0].status();
  }

  wire::Hello hello() {
    const control::Status status = cluster_[0].status();
    wire::Hello hello;
    hello.cluster = *Uuid::parse(status.cluster_uuid);
    hello.cluster_name = status.cluster;
    hello.peer.name = "stranger";
    hello.peer.id = Id::hash_of("stranger");
    hello.peer.incarnation = 1;
    hello.peer.addresses = {{"127.0.0.1", 1}};
    return hello;
  }

  static std::string bytes_of(const wire::Hello& hello) {
    const wire::EncodedFrame frame = wire::encode(hello);
    return frame.head + std::string(frame.body.view());
  }

  Cluster cluster_;
  Random random_{7};
};

TEST_F(HostileTest, NonsenseAtThePeersPort) {
  const std::uint16_t port = cluster_[0].port();
  expect_flat_memory([&] {
    for (const std::string& bytes : nonsense(random_)) {
      RawSocket socket(port);
      ASSERT_TRUE(socket.is_open());
      socket.send(bytes);
    }
  });
  EXPECT_GT(cluster_[0].counter("link.handshakes_failed"), 0U);
}

TEST_F(HostileTest, NonsenseAtTheControlSocket) {
  expect_flat_memory([&] {
    for (const std::string& bytes : nonsense(random_)) {
      RawSocket socket(cluster_[0].control_path());
      ASSERT_TRUE(socket.is_open());
      socket.send(bytes);
    }
  });
}

TEST_F(HostileTest, NonsenseThatMustNotWaitForMoreClosesAtOnce) {
  for (const std::string& bytes : {frame(0xffffffff, 1, 0, ""), frame(0, 1, 0, ""),
                                   frame(104, 1, 100, std::string(100, '\xff'))}) {
    RawSocket socket(cluster_[0].port());
    socket.send(bytes);
    EXPECT_TRUE(socket.is_closed_by_other(seconds(1) * slowness));
  }
  RawSocket control_socket(cluster_[0].control_path());
  control_socket.send(frame(0xffffffff, 0x80, 0, ""));
  EXPECT_TRUE(control_socket.is_closed_by_other(seconds(1) * slowness));
  EXPECT_TRUE(eventually(seconds(1) * slowness, [&] {
    return cluster_[0].process().err().find("link with") != std::string::npos;
  }));
}

TEST_F(HostileTest, AStrangerThatSaysNothingIsSentAway) {
  RawSocket socket(cluster_[0].port());
  EXPECT_TRUE(socket.is_closed_by_other(seconds(6) * slowness));
}

TEST_F(HostileTest, ManyIdleStrangersDoNotKeepPeersOut) {
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (int n = 0; n < 300; ++n) idle.push_back(std::make_unique<RawSocket>(cluster_[0].port()));
  Daemon& late = cluster_.add("late");
  EXPECT_TRUE(cluster_.until(seconds(15) * slowness, [&] { return late.active(); }))
      << cluster_.logs();
}

TEST_F(HostileTest, AHelloOfAnotherClusterIsRefusedWithTheReason) {
  wire::Hello other = hello();
  other.cluster = Uuid::from_random_bits(1, 2);
  expect_flat_memory([&] {
    for (int n = 0; n < 20; ++n) {
      RawSocket socket(cluster_[0].port());
      socket.send(bytes_of(other));
      EXPECT_FALSE(socket.receive(8, seconds(2) * slowness).empty());
      EXPECT_TRUE(socket.is_closed_by_other(seconds(4) * slowness));
    }
  });
  EXPECT_GT(cluster_[0].counter("link.rejects_sent"), 0U);
}

TEST_F(HostileTest, APeerThatClosesInTheMiddleOfAFrame) {
  const std::string greeting = bytes_of(hello());
  expect_flat_memory([&] {
    for (int n = 0; n < 20; ++n) {
      RawSocket socket(cluster_[0].port());
      socket.send(greeting);
      EXPECT_EQ(socket.receive(8, seconds(2) * slowness).size(), 8U);
      socket.send(frame(100'000, 0x10, 50, std::string(500, 'x')));
      socket.finish();
      EXPECT_TRUE(socket.is_closed_by_other(seconds(4) * slowness));
    }
  });
  EXPECT_GT(cluster_[0].counter("link.truncated"), 0U);
}

TEST_F(HostileTest, APeerThatTalksNonsenseAfterItsHello) {
  const std::string greeting = bytes_of(hello());
  expect_flat_memory([&] {
    for (int n = 0; n < 20; ++n) {
      RawSocket socket(cluster_[0].port());
      socket.send(greeting);
      socket.receive(8, seconds(2) * slowness);
      socket.send(frame(204, static_cast<std::uint8_t>(random_.below(64)), 100,
                        random_bytes(random_, 200)));
    }
  });
}

}  // namespace
}  // namespace canopy::system_test
