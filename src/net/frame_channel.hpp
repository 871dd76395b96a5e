// A bounded, flow-controlled pipe of frames over a connected socket: both ends
// of the control socket.
//
// Output is queued up to a bound of bytes; send() says when there is no room,
// and `writable` when there is again, so that a sender can stop producing for
// a receiver that does not read. Input is slowed by pause_reading(). The
// handlers are released when the channel has closed.
//
// Ownership: by shared_ptr; an open channel that has been started also lives
// as long as its socket. One thread: the one that runs the socket's executor.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>

#include <boost/asio/steady_timer.hpp>

#include "base/time.hpp"
#include "net/frame_stream.hpp"

namespace canopy::net {

struct ChannelOptions {
  std::size_t queue_bytes_max = std::size_t{1} << 20;
  std::size_t frame_bytes_max = wire::default_max_frame;  // larger ones from the other side close
  Duration finish_time_max = std::chrono::seconds(2);     // for finish()
};

struct ChannelHandlers {
  // A frame has come; its header is valid during the call only.
  std::function<void(const wire::Frame& frame)> frame{};

  // After a send() that returned false: half of the queue is free again.
  std::function<void()> writable{};

  // The last call of all, unless close() was called: the other side is gone.
  std::function<void(std::string_view reason)> closed{};
};

class FrameChannel final : public FrameStream {
 public:
  FrameChannel(Socket socket, std::shared_ptr<StreamPool> pool, ChannelOptions options);

  // Frames are handed over from now on, never inside this call.
  void start(ChannelHandlers handlers);

  // Queues a frame. False: no room, the frame is not queued; wait for
  // `writable`, or drop it. A frame larger than the whole queue has room when
  // the queue is empty. After close() frames are dropped, and it says true.
  bool send(wire::EncodedFrame frame);

  // Bytes queued and not yet given to the socket.
  std::size_t queued_bytes() const noexcept { return queued_bytes_; }

  // Writes what is queued, then closes; within finish_time_max or at once
  // when the other side goes. Input is dropped from now on; no handler is
  // called any more.
  void finish();

  // Closes at once. No handler is called any more.
  void close();

 private:
  void on_frame(const wire::Frame& frame) override;
  void gather(WriteBatch& batch) override;
  void on_end(const StreamEnd& end) override;

  ChannelOptions options_;
  std::shared_ptr<ChannelHandlers> handlers_;  // shared by a call under way
  std::deque<wire::EncodedFrame> queue_;
  std::size_t queued_bytes_ = 0;
  bool refused_ = false;  // send() returned false since `writable`
  bool finishing_ = false;
  boost::asio::steady_timer finish_timer_;
};

}  // namespace canopy::net
