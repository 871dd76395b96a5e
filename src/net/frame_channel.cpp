#include "net/frame_channel.hpp"

#include <utility>

namespace canopy::net {

FrameChannel::FrameChannel(Socket socket, std::shared_ptr<StreamPool> pool, ChannelOptions options)
    : FrameStream(std::move(socket), std::move(pool), options.frame_bytes_max),
      options_(options),
      finish_timer_(FrameStream::socket().get_executor()) {}

void FrameChannel::start(ChannelHandlers handlers) {
  handlers_ = std::make_shared<ChannelHandlers>(std::move(handlers));
  start_reading();
}

bool FrameChannel::send(wire::EncodedFrame frame) {
  if (!is_open() || finishing_) return true;
  if (!queue_.empty() && queued_bytes_ + frame.size() > options_.queue_bytes_max) {
    refused_ = true;
    return false;
  }
  queued_bytes_ += frame.size();
  queue_.push_back(std::move(frame));
  flush();
  return true;
}

void FrameChannel::finish() {
  if (!is_open() || finishing_) return;
  finishing_ = true;
  handlers_.reset();
  resume_reading();  // to see the other side go
  finish_timer_.expires_after(options_.finish_time_max);
  finish_timer_.async_wait([this, self = shared_from_this()](boost::system::error_code error) {
    if (!error) close();
  });
  finish_writing();
}

void FrameChannel::close() {
  FrameStream::close();
  handlers_.reset();
  finish_timer_.cancel();
  queue_.clear();
  queued_bytes_ = 0;
}

void FrameChannel::on_frame(const wire::Frame& frame) {
  const auto handlers = handlers_;
  if (handlers && handlers->frame) handlers->frame(frame);
}

void FrameChannel::gather(WriteBatch& batch) {
  while (!queue_.empty() && !batch.full()) {
    queued_bytes_ -= queue_.front().size();
    batch.add(queue_.front());
    queue_.pop_front();
  }
  if (!refused_ || queued_bytes_ > options_.queue_bytes_max / 2) return;
  refused_ = false;
  const auto handlers = handlers_;
  if (handlers && handlers->writable) handlers->writable();
}

void FrameChannel::on_end(const StreamEnd& end) {
  const auto handlers = handlers_;
  close();
  if (handlers && handlers->closed) handlers->closed(end.reason);
}

}  // namespace canopy::net
