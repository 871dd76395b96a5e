// The control socket: frames over a Unix domain socket that only its owner can
// open: by the file's mode, and by the user id of whoever connects.
//
// The server's socket file has mode 0600 from its first moment. A file left
// behind by a dead process is replaced; one that a live process answers on is
// an error. One thread, the one that runs the io_context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include "base/time.hpp"
#include "net/accept_errors.hpp"
#include "net/accept_loop.hpp"
#include "net/frame_channel.hpp"
#include "net/listen_error.hpp"

namespace canopy::net {

struct LocalListenerOptions {
  ChannelOptions channel{};
  std::size_t channels_max = 64;  // open at once; more are closed at once, and counted
};

class LocalListener {
 public:
  // A client has connected: the channel waits for start().
  using Accepted = std::function<void(std::shared_ptr<FrameChannel>)>;

  // Throws ListenError.
  LocalListener(boost::asio::io_context& io, std::string path, Accepted accepted,
                LocalListenerOptions options = {});

  // Accepts no more and removes the socket file, if it is still this one's.
  // Channels live on.
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;

  const std::string& path() const noexcept { return path_; }
  const StreamCounters& counters() const noexcept { return pool_->counters; }
  std::uint64_t accept_errors() const noexcept { return accept_errors_.count(); }
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  using Protocol = boost::asio::local::stream_protocol;

  Protocol::acceptor open(boost::asio::io_context& io);
  void accept(Protocol::socket socket);

  std::string path_;
  Accepted accepted_;
  LocalListenerOptions options_;
  std::shared_ptr<StreamPool> pool_ = std::make_shared<StreamPool>();
  std::vector<std::weak_ptr<FrameChannel>> channels_;
  AcceptErrors accept_errors_;
  std::uint64_t refused_ = 0;
  std::uint64_t file_device_ = 0;  // of the socket file, to know it again
  std::uint64_t file_inode_ = 0;
  AcceptLoop<Protocol> loop_;
};

// Connects to a daemon's control socket. The callback comes once, never inside
// this call: with a channel to start(), or an error and what to do about it.
using LocalConnected = std::function<void(boost::system::error_code error, std::string_view text,
                                          std::shared_ptr<FrameChannel> channel)>;
void connect_local(boost::asio::io_context& io, const std::string& path, Duration time_max,
                   LocalConnected connected, ChannelOptions options = {});

}  // namespace canopy::net
