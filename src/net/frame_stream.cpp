#include "net/frame_stream.hpp"

#include <span>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.hpp"
#include "net/clock.hpp"

namespace canopy::net {

namespace asio = boost::asio;
using boost::system::error_code;

std::unique_ptr<WriteBatch> StreamPool::take() {
  if (spares_.empty()) return std::make_unique<WriteBatch>();
  auto batch = std::move(spares_.back());
  spares_.pop_back();
  return batch;
}

void StreamPool::give_back(std::unique_ptr<WriteBatch> batch) {
  batch->clear();
  if (spares_.size() < spares_max) spares_.push_back(std::move(batch));
}

FrameStream::FrameStream(Socket socket, std::shared_ptr<StreamPool> pool,
                         std::size_t frame_bytes_max)
    : socket_(std::move(socket)), pool_(std::move(pool)), parser_(frame_bytes_max) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
}

void FrameStream::close() {
  if (!open_) return;
  open_ = false;
  error_code ignored;
  socket_.close(ignored);
  batch_.reset();
}

// --- reading ---

void FrameStream::start_reading() {
  CANOPY_ASSERT(!started_);
  started_ = true;
  wait_readable();
}

void FrameStream::resume_reading() {
  paused_ = false;
  // Whole frames may wait in the parser, which no socket event would tell.
  if (started_ && open_ && !input_ended_) post_read_turn();
}

void FrameStream::wait_readable() {
  if (read_pending_) return;
  read_pending_ = true;
  socket_.async_wait(Socket::wait_read, [this, self = shared_from_this()](error_code error) {
    read_pending_ = false;
    if (!open_) return;
    if (error)
      end({StreamEnd::Kind::failed, error.message()});
    else
      read_turn();
  });
}

void FrameStream::post_read_turn() {
  if (read_pending_) return;
  read_pending_ = true;
  asio::post(socket_.get_executor(), [this, self = shared_from_this()] {
    read_pending_ = false;
    if (open_) read_turn();
  });
}

void FrameStream::read_turn() {
  if (!deliver_parsed()) return;
  const std::span<char> room = parser_.prepare();
  error_code error;
  const std::size_t size = socket_.read_some(asio::buffer(room.data(), room.size()), error);
  if (error == asio::error::would_block || error == asio::error::interrupted)
    return wait_readable();
  if (error == asio::error::eof) return end_of_input();
  if (error) return end({StreamEnd::Kind::failed, error.message()});
  stream_counters().bytes_in += size;
  parser_.commit(size);
  if (!deliver_parsed()) return;
  if (size == room.size())
    post_read_turn();
  else
    wait_readable();
}

// Whether reading may go on now; if not, whoever stopped it arranged the rest.
bool FrameStream::deliver_parsed() {
  for (int frames = 0; !paused_; ++frames) {
    if (frames == frames_per_turn) {
      post_read_turn();
      return false;
    }
    const auto frame = parser_.next();
    if (!frame) break;
    ++stream_counters().frames_in;
    on_frame(*frame);
    if (!open_) return false;
  }
  if (paused_) return false;
  if (const auto& malformed = parser_.error()) {
    ++stream_counters().malformed;
    end({StreamEnd::Kind::malformed, malformed->reason});
    return false;
  }
  return true;
}

void FrameStream::end_of_input() {
  if (!write_error_.empty()) return end({StreamEnd::Kind::failed, std::move(write_error_)});
  if (parser_.pending() == 0) return end({StreamEnd::Kind::closed, "closed by the other side"});
  ++stream_counters().truncated;
  end({StreamEnd::Kind::truncated, "closed in the middle of a frame"});
}

void FrameStream::end(StreamEnd end) {
  input_ended_ = true;
  if (end.kind != StreamEnd::Kind::closed) close();
  on_end(end);
}

// --- writing ---

void FrameStream::flush() {
  if (open_ && write_state_ == WriteState::idle) post_write_turn();
}

void FrameStream::finish_writing() {
  finishing_ = true;
  flush();
}

void FrameStream::post_write_turn() {
  write_state_ = WriteState::writing;
  asio::post(socket_.get_executor(), [this, self = shared_from_this()] {
    if (open_) write_turn();
  });
}

void FrameStream::wait_writable() {
  if (write_blocked_since_ == never) write_blocked_since_ = mono_now();
  socket_.async_wait(Socket::wait_write, [this, self = shared_from_this()](error_code error) {
    if (!open_) return;
    if (error)
      write_failed(error);
    else
      write_turn();
  });
}

void FrameStream::write_turn() {
  if (!batch_) {
    batch_ = pool_->take();
    gather(*batch_);
    if (!open_) return;
    if (batch_->empty()) return all_written();
  }
  if (!write_some()) return;
  pool_->give_back(std::move(batch_));
  post_write_turn();
}

// Whether the whole batch is in the socket; if not, the rest is arranged.
bool FrameStream::write_some() {
  while (!batch_->written()) {
    error_code error;
    const std::size_t size = socket_.write_some(batch_->pieces(), error);
    if (error == asio::error::would_block || error == asio::error::interrupted) {
      wait_writable();
      return false;
    }
    if (error) {
      write_failed(error);
      return false;
    }
    write_blocked_since_ = never;
    ++stream_counters().writes;
    stream_counters().bytes_out += size;
    batch_->consume(size);
  }
  stream_counters().frames_out += batch_->frames();
  return true;
}

// What the other side sent before the connection broke is still read; the end
// of it comes soon, and tells.
void FrameStream::write_failed(const error_code& error) {
  write_state_ = WriteState::finished;
  batch_.reset();
  if (!started_ || paused_ || input_ended_) return end({StreamEnd::Kind::failed, error.message()});
  write_error_ = error.message();
}

void FrameStream::all_written() {
  pool_->give_back(std::move(batch_));
  write_state_ = WriteState::idle;
  if (finishing_) {
    write_state_ = WriteState::finished;
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
  }
  on_flushed();
}

}  // namespace canopy::net
