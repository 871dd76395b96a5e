#include "gateway/http_server.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "fake_service.hpp"

namespace canopy::gateway {
namespace {

using Tcp = boost::asio::ip::tcp;

// Connects again and again, until refused, and keeps what it gets.
class Crowd {
 public:
  explicit Crowd(std::uint16_t port)
      : port_(port), thread_([this] {
          while (!over_ && sockets_.size() < sockets_max && connect()) {
          }
        }) {}
  ~Crowd() {
    over_ = true;
    thread_.join();
  }

 private:
  static constexpr std::size_t sockets_max = 200;

  bool connect() {
    boost::system::error_code error;
    sockets_.emplace_back(io_).connect({boost::asio::ip::address_v4::loopback(), port_}, error);
    return !error;
  }

  const std::uint16_t port_;
  boost::asio::io_context io_;
  std::vector<Tcp::socket> sockets_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

HttpOptions any_port() {
  HttpOptions options;
  options.listen = {"127.0.0.1", 0};
  return options;
}

void wait_for_connections(const HttpServer& server) {
  while (server.counters().accepted < 10) std::this_thread::yield();
}

TEST(HttpServer, EndsWhileClientsConnect) {
  FakeService service;
  for (int round = 0; round < 50; ++round) {
    auto server = std::make_unique<HttpServer>(any_port(), FrontOptions{}, service);
    std::future<void> ended;  // waits for its task, which the crowd may hold up
    const Crowd crowd(server->endpoint().port);
    wait_for_connections(*server);
    ended = std::async(std::launch::async, [&server] { server.reset(); });
    ASSERT_EQ(ended.wait_for(std::chrono::seconds(10)), std::future_status::ready) << round;
  }
}

TEST(HttpServer, DrainsWhileClientsConnect) {
  FakeService service;
  for (int round = 0; round < 50; ++round) {
    HttpServer server(any_port(), FrontOptions{}, service);
    const Crowd crowd(server.endpoint().port);
    wait_for_connections(server);
    ASSERT_TRUE(server.drain(std::chrono::seconds(10))) << round;
  }
}

TEST(HttpServer, SaysWhetherItsConnectionsEndedInTime) {
  FakeService service;
  HttpServer server(any_port(), FrontOptions{}, service);
  boost::asio::io_context io;
  Tcp::socket client(io);
  client.connect({boost::asio::ip::address_v4::loopback(), server.endpoint().port});
  const std::string head =
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  boost::asio::write(client, boost::asio::buffer(head));
  std::array<char, 100> go_on;
  client.read_some(boost::asio::buffer(go_on));
  EXPECT_FALSE(server.drain(std::chrono::milliseconds(20)));
  client.close();
  EXPECT_TRUE(server.drain(std::chrono::seconds(10)));
}

}  // namespace
}  // namespace canopy::gateway
