#include "net/dialer.hpp"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "net/link_harness.hpp"

namespace canopy::net {
namespace {

using namespace testing;
namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

struct Port {
  explicit Port(asio::io_context& io) : acceptor(io, {asio::ip::address_v4::loopback(), 0}) {}
  Endpoint endpoint() const { return {"127.0.0.1", acceptor.local_endpoint().port()}; }
  Tcp::acceptor acceptor;
};

TEST(Dialer, TriesTheNextAddressWhenOneRefuses) {
  asio::io_context io;
  Dialer dialer(io, {});
  const Port open(io);
  std::optional<DialResult> result;
  dialer.start({closed_port(io), open.endpoint()}, false,
               [&](DialResult r) { result.emplace(std::move(r)); });
  EXPECT_FALSE(result);
  ASSERT_TRUE(run_until(io, [&] { return result.has_value(); }));
  ASSERT_FALSE(result->error) << result->text;
  EXPECT_EQ(result->socket.remote_endpoint().port(), open.endpoint().port);
  EXPECT_EQ(dialer.attempts(), 0u);
}

TEST(Dialer, DoesNotWaitForAnAddressThatIsSilent) {
  asio::io_context io;
  DialOptions options;
  options.stagger = std::chrono::milliseconds(20);
  options.time_max = deadline;
  Dialer dialer(io, options);
  const SilentPort silent(io);
  const Port open(io);
  std::optional<DialResult> result;
  dialer.start({silent.endpoint(), open.endpoint()}, false,
               [&](DialResult r) { result.emplace(std::move(r)); });
  ASSERT_TRUE(run_until(
      io, [&] { return result.has_value(); }, deadline / 2));
  ASSERT_FALSE(result->error) << result->text;
  EXPECT_EQ(dialer.attempts(), 0u);
}

TEST(Dialer, SaysWhatWasWrongWithEachAddress) {
  asio::io_context io;
  DialOptions options;
  options.time_max = std::chrono::milliseconds(300);
  options.stagger = std::chrono::milliseconds(10);
  Dialer dialer(io, options);
  const SilentPort silent(io);
  const Endpoint closed = closed_port(io);
  std::optional<DialResult> result;
  dialer.start({closed, silent.endpoint()}, false,
               [&](DialResult r) { result.emplace(std::move(r)); });
  ASSERT_TRUE(run_until(io, [&] { return result.has_value(); }));
  EXPECT_EQ(result->error, asio::error::timed_out);
  EXPECT_NE(result->text.find(std::to_string(closed.port) + ": Connection refused"),
            std::string::npos)
      << result->text;
  EXPECT_NE(result->text.find(std::to_string(silent.endpoint().port) + ": no answer"),
            std::string::npos)
      << result->text;
}

TEST(Dialer, FailsForANameThatDoesNotExistAndForNoAddressAtAll) {
  asio::io_context io;
  Dialer dialer(io, {});
  std::optional<DialResult> unknown;
  std::optional<DialResult> nothing;
  dialer.start({{"no-such-host.invalid", 7000}}, false,
               [&](DialResult r) { unknown.emplace(std::move(r)); });
  dialer.start({}, false, [&](DialResult r) { nothing.emplace(std::move(r)); });
  ASSERT_TRUE(run_until(io, [&] { return unknown && nothing; }));
  EXPECT_TRUE(unknown->error);
  EXPECT_NE(unknown->text.find("no-such-host.invalid:7000"), std::string::npos) << unknown->text;
  EXPECT_TRUE(nothing->error);
}

TEST(Dialer, PeersThatFailedLatelyCannotTakeEverySocket) {
  asio::io_context io;
  DialOptions options;
  options.attempts_max = 8;
  options.time_max = deadline;
  Dialer dialer(io, options);
  const SilentPort silent(io);
  for (int i = 0; i < 100; ++i) dialer.start({silent.endpoint()}, true, [](DialResult) {});
  run_ready(io);
  EXPECT_EQ(dialer.attempts(), 4u);
  const Port open(io);
  std::optional<DialResult> result;
  dialer.start({open.endpoint()}, false, [&](DialResult r) { result.emplace(std::move(r)); });
  ASSERT_TRUE(run_until(
      io, [&] { return result.has_value(); }, deadline / 2));
  EXPECT_FALSE(result->error);
}

TEST(Dialer, WaitingDialsStartWhenOthersEnd) {
  asio::io_context io;
  DialOptions options;
  options.attempts_max = 2;
  Dialer dialer(io, options);
  const Port open(io);
  int connected = 0;
  std::size_t most = 0;
  for (int i = 0; i < 20; ++i) {
    dialer.start({open.endpoint()}, false, [&](DialResult r) {
      if (!r.error) ++connected;
    });
  }
  ASSERT_TRUE(run_until(io, [&] {
    most = std::max(most, dialer.attempts());
    return connected == 20;
  }));
  EXPECT_LE(most, 2u);
  EXPECT_EQ(dialer.attempts(), 0u);
}

TEST(Dialer, ACancelledDialSaysNothingAndFreesItsSocket) {
  asio::io_context io;
  Dialer dialer(io, {});
  const SilentPort silent(io);
  bool called = false;
  const auto dial = dialer.start({silent.endpoint()}, false, [&](DialResult) { called = true; });
  run_ready(io);
  EXPECT_EQ(dialer.attempts(), 1u);
  dialer.cancel(dial);
  EXPECT_EQ(dialer.attempts(), 0u);
  run_ready(io);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace canopy::net
