// Frames over a connected socket: the part that links between peers and the
// control socket have in common.
//
// Reading: waits until the socket is readable, reads into the parser's slab and
// hands over at most one slab and frames_per_turn frames before other streams
// get their turn. Writing: flush() asks gather() for frames and writes them in
// one system call; while the socket takes no more, nothing is gathered, so what
// waits stays in the owner's bounded queue. An idle stream owns no write
// buffers.
//
// Ownership: by shared_ptr; operations under way hold one too. close() ends
// everything at once and no hook is called after it. All calls and hooks on one
// thread, the one that runs the socket's executor.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/system/error_code.hpp>

#include "base/time.hpp"
#include "net/counters.hpp"
#include "net/write_batch.hpp"
#include "wire/frame.hpp"

namespace canopy::net {

// What streams of one loop share: counters and spare write batches.
class StreamPool {
 public:
  StreamCounters counters;

  std::unique_ptr<WriteBatch> take();
  void give_back(std::unique_ptr<WriteBatch> batch);

 private:
  static constexpr std::size_t spares_max = 8;
  std::vector<std::unique_ptr<WriteBatch>> spares_;
};

// Why nothing more will be read.
struct StreamEnd {
  enum class Kind {
    closed,     // the other side has finished, between two frames
    truncated,  // the other side has finished in the middle of a frame
    malformed,  // it sent something that is no frame
    failed,     // the connection broke
  };
  Kind kind = Kind::closed;
  std::string reason;  // for people
};

class FrameStream : public std::enable_shared_from_this<FrameStream> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  FrameStream(Socket socket, std::shared_ptr<StreamPool> pool, std::size_t frame_bytes_max);
  virtual ~FrameStream() = default;
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  bool is_open() const noexcept { return open_; }

  // Stops handing over frames, and resumes. A frame being handed over is the
  // last one. Not reading is what slows the other side down.
  void pause_reading() noexcept { paused_ = true; }
  void resume_reading();

  // Closes at once; what was not written is lost. May be called again.
  void close();

 protected:
  // A whole frame; its header is valid during the call only.
  virtual void on_frame(const wire::Frame& frame) = 0;

  // The next frames to write, until batch.full(). None: there is nothing.
  virtual void gather(WriteBatch& batch) = 0;

  // gather() had nothing more and everything gathered is in the socket.
  virtual void on_flushed() {}

  // Nothing more will be read. After Kind::closed one can still write, as the
  // other side may read on (until a second end says that it does not); after
  // the others the stream is closed already.
  virtual void on_end(const StreamEnd& end) = 0;

  void start_reading();

  // Writes what gather() has once the current turn of the loop is over, so that
  // all that a turn produces leaves together.
  void flush();

  // Lets the other side read to the end: once gather() has nothing more, only
  // the direction outwards is closed. on_flushed() follows.
  void finish_writing();

  // Since when the socket takes no more; `never` if it does.
  MonoTime write_blocked_since() const noexcept { return write_blocked_since_; }

  bool finished_writing() const noexcept { return write_state_ == WriteState::finished; }

  void set_frame_bytes_max(std::size_t bytes) noexcept { parser_.set_max_frame(bytes); }
  StreamCounters& stream_counters() noexcept { return pool_->counters; }
  Socket& socket() noexcept { return socket_; }

 private:
  enum class WriteState {
    idle,      // nothing gathered
    writing,   // write_turn() runs, or will
    finished,  // the direction outwards is closed, or broken
  };
  static constexpr int frames_per_turn = 512;

  void wait_readable();
  void read_turn();
  void post_read_turn();
  bool deliver_parsed();
  void end(StreamEnd end);
  void end_of_input();
  void post_write_turn();
  void write_turn();
  void wait_writable();
  bool write_some();
  void write_failed(const boost::system::error_code& error);
  void all_written();

  Socket socket_;
  std::shared_ptr<StreamPool> pool_;
  wire::FrameParser parser_;
  std::unique_ptr<WriteBatch> batch_;
  WriteState write_state_ = WriteState::idle;
  bool open_ = true;
  bool started_ = false;
  bool paused_ = false;
  bool input_ended_ = false;
  bool read_pending_ = false;  // a wait or a posted turn is under way
  bool finishing_ = false;
  MonoTime write_blocked_since_ = never;
  std::string write_error_;  // what broke the direction outwards
};

}  // namespace canopy::net
