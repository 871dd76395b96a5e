// The control socket: its file, its channels, and clients that misbehave.
#include "net/local_socket.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sys/stat.h>

#include <boost/asio/write.hpp>
#include <gtest/gtest.h>
#include <unistd.h>

#include "net/link_harness.hpp"

namespace canopy::net {
namespace {

using namespace testing;
namespace asio = boost::asio;
namespace fs = std::filesystem;
using Channel = std::shared_ptr<FrameChannel>;

wire::EncodedFrame frame(std::uint8_t kind, const std::string& body) {
  return wire::make_frame(kind, 0, Buffer::copy_of(body));
}

class LocalSocketTest : public ::testing::Test {
 protected:
  LocalSocketTest() {
    std::string pattern = (fs::temp_directory_path() / "canopy-net-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    path = (folder / "control.sock").string();
  }
  ~LocalSocketTest() override { fs::remove_all(folder); }

  std::unique_ptr<LocalListener> listen(LocalListenerOptions options = {}) {
    return std::make_unique<LocalListener>(
        io, path, [this](Channel channel) { accepted.push_back(std::move(channel)); }, options);
  }

  std::string failure_to_listen() {
    try {
      listen();
      return "none";
    } catch (const ListenError& error) {
      return error.what();
    }
  }

  Channel connect(ChannelOptions options = {}) {
    Channel client;
    std::string problem;
    connect_local(
        io, path, deadline,
        [&](auto error, std::string_view text, Channel channel) {
          if (error) problem = text;
          client = std::move(channel);
        },
        options);
    EXPECT_TRUE(run_until(io, [&] { return client || !problem.empty(); }));
    EXPECT_EQ(problem, "");
    return client;
  }

  // The server's end of the newest connection.
  Channel server_end(std::size_t number) {
    EXPECT_TRUE(run_until(io, [&] { return accepted.size() == number; }));
    return accepted.back();
  }

  asio::io_context io;
  fs::path folder;
  std::string path;
  std::vector<Channel> accepted;
};

TEST_F(LocalSocketTest, CarriesFramesBothWays) {
  const auto listener = listen();
  const Channel client = connect();
  const Channel server = server_end(1);
  std::string seen;
  std::string answer;
  server->start({.frame =
                     [&](const wire::Frame& f) {
                       seen += f.body.view();
                       server->send(frame(0x91, "pong"));
                     },
                 .writable = {},
                 .closed = {}});
  client->start({.frame = [&](const wire::Frame& f) { answer = f.body.view(); },
                 .writable = {},
                 .closed = {}});
  client->send(frame(0x90, "ping"));
  ASSERT_TRUE(run_until(io, [&] { return !answer.empty(); }));
  EXPECT_EQ(seen, "ping");
  EXPECT_EQ(answer, "pong");
}

TEST_F(LocalSocketTest, IsItsOwnersOnlyFromTheStart) {
  const mode_t before = ::umask(0);
  const auto listener = listen();
  ::umask(before);
  struct stat file {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_TRUE(S_ISSOCK(file.st_mode));
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(LocalSocketTest, ReplacesTheSocketOfADeadProcess) {
  { asio::local::stream_protocol::acceptor dead(io, asio::local::stream_protocol::endpoint(path)); }
  ASSERT_TRUE(fs::exists(path));
  const auto listener = listen();
  EXPECT_TRUE(connect());
}

TEST_F(LocalSocketTest, RefusesThePathOfALiveDaemonAndOfOtherFiles) {
  auto listener = listen();
  EXPECT_NE(failure_to_listen().find("another daemon answers on it"), std::string::npos);
  EXPECT_TRUE(connect());
  listener.reset();
  EXPECT_FALSE(fs::exists(path));
  std::ofstream(path) << "precious";
  EXPECT_NE(failure_to_listen().find("is no socket"), std::string::npos);
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
  path = std::string(200, 'x');
  EXPECT_NE(failure_to_listen().find("1 to 107 bytes"), std::string::npos);
}

TEST_F(LocalSocketTest, ALateListenerDoesNotRemoveItsSuccessorsFile) {
  auto first = listen();
  fs::remove(path);
  const auto second = listen();
  first.reset();
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(LocalSocketTest, SaysWhatToDoWhenNoDaemonIsThere) {
  std::string text;
  connect_local(io, path, deadline, [&](auto error, std::string_view why, Channel) {
    EXPECT_TRUE(error);
    text = why;
  });
  EXPECT_EQ(text, "");
  ASSERT_TRUE(run_until(io, [&] { return !text.empty(); }));
  EXPECT_NE(text.find("start canopyd"), std::string::npos) << text;
}

TEST_F(LocalSocketTest, AClientThatDoesNotReadStopsTheServersProducing) {
  const auto listener = listen({.channel = {.queue_bytes_max = 100'000}});
  const Channel client = connect();
  const Channel server = server_end(1);
  constexpr int frames = 3000;
  const std::string body(1000, 'b');
  int sent = 0;
  int stops = 0;
  std::size_t most_queued = 0;
  const auto produce = [&] {
    while (sent < frames) {
      if (!server->send(frame(0x90, body))) {
        ++stops;
        return;
      }
      ++sent;
      most_queued = std::max(most_queued, server->queued_bytes());
    }
  };
  server->start({.frame = {}, .writable = produce, .closed = {}});
  produce();
  run_ready(io);
  EXPECT_LT(sent, frames);
  EXPECT_LE(most_queued, 100'000u);
  int received = 0;
  client->start({.frame = [&](const wire::Frame&) { ++received; }, .writable = {}, .closed = {}});
  ASSERT_TRUE(run_until(io, [&] { return received == frames; }));
  EXPECT_EQ(sent, frames);
  EXPECT_GE(stops, 1);
  EXPECT_EQ(server->queued_bytes(), 0u);
}

TEST_F(LocalSocketTest, AChannelThatDoesNotReadSlowsItsSenderDown) {
  const auto listener = listen();
  const Channel client = connect({.queue_bytes_max = 10'000});
  const Channel server = server_end(1);
  int received = 0;
  server->start({.frame =
                     [&](const wire::Frame&) {
                       if (++received == 3) server->pause_reading();
                     },
                 .writable = {},
                 .closed = {}});
  client->start({});
  for (int i = 0; i < 10; ++i) client->send(frame(0x90, "x"));
  run_ready(io);
  EXPECT_EQ(received, 3);
  server->resume_reading();
  ASSERT_TRUE(run_until(io, [&] { return received == 10; }));
}

TEST_F(LocalSocketTest, FinishWritesEverythingBeforeItCloses) {
  const auto listener = listen();
  const Channel client = connect();
  const Channel server = server_end(1);
  server->start({});
  for (int i = 0; i < 100; ++i) server->send(frame(0x90, std::string(5000, 'y')));
  server->finish();
  int received = 0;
  std::string reason;
  client->start({.frame = [&](const wire::Frame&) { ++received; },
                 .writable = {},
                 .closed = [&](std::string_view why) { reason = why; }});
  ASSERT_TRUE(run_until(io, [&] { return !reason.empty(); }));
  EXPECT_EQ(received, 100);
  EXPECT_EQ(reason, "closed by the other side");
  ASSERT_TRUE(run_until(io, [&] { return !server->is_open(); }));
}

TEST_F(LocalSocketTest, FinishDoesNotWaitForEverForAClientThatDoesNotRead) {
  const auto listener = listen({.channel = {.finish_time_max = std::chrono::milliseconds(50)}});
  const Channel client = connect();
  const Channel server = server_end(1);
  server->start({});
  for (int i = 0; i < 200; ++i) server->send(frame(0x90, std::string(5000, 'y')));
  server->finish();
  ASSERT_TRUE(run_until(io, [&] { return !server->is_open(); }));
}

TEST_F(LocalSocketTest, GarbageGiantsAndCutsCloseTheirChannelOnly) {
  const auto listener = listen();
  const Channel good = connect();
  const Channel good_server = server_end(1);
  good_server->start({});
  std::size_t number = 1;
  for (const std::string& bytes :
       {std::string(100, '\xff'), std::string("\x00\x00\x00\x01", 4), std::string(100, '\0'),
        std::string("\x00\x00\x10\x00\x90", 5)}) {
    asio::local::stream_protocol::socket client(io);
    client.connect(asio::local::stream_protocol::endpoint(path));
    const Channel server = server_end(++number);
    std::string reason;
    server->start(
        {.frame = {}, .writable = {}, .closed = [&](std::string_view why) { reason = why; }});
    asio::write(client, asio::buffer(bytes));
    client.shutdown(asio::socket_base::shutdown_send);
    ASSERT_TRUE(run_until(io, [&] { return !reason.empty(); }));
    EXPECT_FALSE(server->is_open());
  }
  EXPECT_TRUE(good_server->is_open());
  EXPECT_GE(listener->counters().malformed + listener->counters().truncated, 4u);
}

TEST_F(LocalSocketTest, TheNumberOfClientsIsBounded) {
  const auto listener = listen({.channels_max = 2});
  const Channel first = connect();
  const Channel second = connect();
  server_end(2);
  const Channel third = connect();
  bool closed = false;
  third->start({.frame = {}, .writable = {}, .closed = [&](std::string_view) { closed = true; }});
  ASSERT_TRUE(run_until(io, [&] { return closed; }));
  EXPECT_EQ(listener->refused(), 1u);
  accepted[0]->close();
  const Channel fourth = connect();
  server_end(3);
}

TEST_F(LocalSocketTest, AHandlerMayCloseItsOwnChannel) {
  const auto listener = listen();
  const Channel client = connect();
  Channel server = server_end(1);
  accepted.clear();
  server->start({.frame =
                     [&](const wire::Frame&) {
                       server->close();
                       server.reset();
                     },
                 .writable = {},
                 .closed = [&](std::string_view) { ADD_FAILURE() << "closed() after close()"; }});
  bool closed = false;
  client->start({.frame = {}, .writable = {}, .closed = [&](std::string_view) { closed = true; }});
  client->send(frame(0x90, "x"));
  client->send(frame(0x90, "y"));
  ASSERT_TRUE(run_until(io, [&] { return closed; }));
  EXPECT_FALSE(server);
}

}  // namespace
}  // namespace canopy::net
