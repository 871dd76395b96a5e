#include "net/tcp_listener.hpp"

#include <sstream>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace canopy::net {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

void ignore(Tcp::socket) {}

std::string failure_of(asio::io_context& io, const Endpoint& where) {
  try {
    const TcpListener listener(io, where, ignore);
    return "none";
  } catch (const ListenError& error) {
    return error.what();
  }
}

TEST(TcpListener, SaysThatAPortIsInUseAndWhatToDo) {
  asio::io_context io;
  const TcpListener first(io, {"127.0.0.1", 0}, ignore);
  ASSERT_NE(first.endpoint().port, 0);
  EXPECT_EQ(failure_of(io, first.endpoint()),
            "127.0.0.1:" + std::to_string(first.endpoint().port) +
                " is in use by another process: choose another --listen or stop it");
}

TEST(TcpListener, SaysThatAHostCannotBeListenedOn) {
  asio::io_context io;
  EXPECT_NE(failure_of(io, {"no-such-host.invalid", 0}).find("cannot be resolved"),
            std::string::npos);
  EXPECT_EQ(failure_of(io, {"203.0.113.1", 7000}),
            "203.0.113.1:7000 is no address of this machine: choose another --listen");
}

TEST(TcpListener, APortCanBeUsedAgainWhileOldConnectionsFade) {
  asio::io_context io;
  Endpoint endpoint;
  {
    // The listening side closes first, which leaves its end in TIME_WAIT.
    std::vector<Tcp::socket> accepted;
    const TcpListener listener(io, {"127.0.0.1", 0},
                               [&](Tcp::socket socket) { accepted.push_back(std::move(socket)); });
    endpoint = listener.endpoint();
    Tcp::socket client(io);
    client.connect({asio::ip::address_v4::loopback(), endpoint.port});
    while (accepted.empty()) io.run_one();
    accepted.clear();
    char byte = 0;
    boost::system::error_code end;
    client.read_some(asio::buffer(&byte, 1), end);
    EXPECT_EQ(end, asio::error::eof);
  }
  const TcpListener again(io, endpoint, ignore);
  EXPECT_EQ(again.endpoint(), endpoint);
}

TEST(TcpListener, ListensOnTheAddressesOfAName) {
  asio::io_context io;
  int accepted = 0;
  const TcpListener listener(io, {"localhost", 0}, [&](Tcp::socket) { ++accepted; });
  EXPECT_EQ(listener.endpoint().host, "localhost");
  Tcp::socket client(io);
  client.connect({asio::ip::address_v4::loopback(), listener.endpoint().port});
  while (accepted == 0) io.run_one();
  EXPECT_EQ(accepted, 1);
}

TEST(TcpListener, PausesWhileTheProcessIsOutOfDescriptorsAndSaysSoOnce) {
  std::ostringstream log;
  const auto logger_before = spdlog::default_logger();
  auto logger = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  logger->set_pattern("%v");
  spdlog::set_default_logger(std::move(logger));
  asio::io_context io;
  int accepted = 0;
  const TcpListener listener(io, {"127.0.0.1", 0}, [&](Tcp::socket) { ++accepted; });
  Tcp::socket client(io);
  client.connect({asio::ip::address_v4::loopback(), listener.endpoint().port});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next_descriptor = ::dup(0);
  ::close(next_descriptor);
  rlimit none_left = before;
  none_left.rlim_cur = static_cast<rlim_t>(next_descriptor);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  while (listener.accept_errors() == 0) io.run_one();
  int turns = 0;
  while (io.poll_one() > 0) ++turns;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_LT(turns, 10);
  EXPECT_EQ(accepted, 0);
  while (accepted == 0) io.run_one();
  EXPECT_LE(listener.accept_errors(), 3u);
  EXPECT_EQ(log.str(),
            "cannot accept connections at 127.0.0.1:" + std::to_string(listener.endpoint().port) +
                ": Too many open files: raise the limit of open files (ulimit -n, or "
                "LimitNOFILE)\n");
  spdlog::set_default_logger(logger_before);
}

}  // namespace
}  // namespace canopy::net
