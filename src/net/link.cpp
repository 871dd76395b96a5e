#include "net/link.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"

namespace canopy::net {

namespace {
constexpr std::size_t own_frames_max = 8;  // more pings than this go unanswered
}

Link::Link(std::uint64_t number, Side side, boost::asio::ip::tcp::socket socket, Endpoint remote,
           std::shared_ptr<StreamPool> pool, const LinkOptions& options, LinkHost& host)
    : FrameStream(Socket(std::move(socket)), std::move(pool), wire::max_frame_before_hello),
      number_(number),
      side_(side),
      options_(options),
      host_(&host),
      remote_(std::move(remote)) {}

void Link::start(const wire::Hello* hello) {
  if (hello) send_own(wire::encode(*hello));
  limit_time(options_.handshake_time_max);
  start_reading();
}

void Link::establish(const wire::Hello* hello) {
  CANOPY_ASSERT(state_ == State::deciding);
  state_ = State::established;
  timer_.reset();
  set_frame_bytes_max(options_.frame_bytes_max);
  if (hello) send_own(wire::encode(*hello));
  resume_reading();
}

void Link::refuse(const wire::HelloReject& reject) {
  if (state_ == State::leaving || state_ == State::gone) return;
  deliver_ = false;
  send_own(wire::encode(reject));
  begin_leaving();
}

void Link::leave() {
  if (state_ == State::leaving || state_ == State::gone) return;
  begin_leaving();
}

void Link::fail(StreamEnd end) {
  if (state_ == State::gone) return;
  const auto self = shared_from_this();
  if (state_ != State::leaving) host_->link_lost(*this, end);
  finish();
}

void Link::abandon() {
  state_ = State::gone;
  host_ = nullptr;
  timer_.reset();
  close();
}

void Link::ask_alive() { send_own(wire::make_frame(wire::frame_kind::link_ping, 0)); }

// --- the stream's events ---

void Link::on_frame(const wire::Frame& frame) {
  switch (state_) {
    case State::handshaking: return on_handshake_frame(frame);
    case State::established: return on_established_frame(frame);
    case State::leaving:
      if (deliver_) on_established_frame(frame);
      return;
    case State::deciding:
    case State::gone: return;
  }
}

void Link::on_handshake_frame(const wire::Frame& frame) {
  if (frame.kind == wire::frame_kind::hello_reject) return on_reject(frame);
  if (frame.kind != wire::frame_kind::hello)
    return refuse_malformed("a frame came before the Hello");
  auto hello = wire::decode_hello(frame);
  if (!hello) return refuse_malformed(hello.error().reason);
  state_ = State::deciding;
  pause_reading();
  host_->link_hello(*this, std::move(*hello));
}

void Link::refuse_malformed(const std::string& reason) {
  const auto self = shared_from_this();
  host_->link_lost(*this, {StreamEnd::Kind::malformed, reason});
  refuse({wire::RejectCode::malformed, reason});
}

void Link::on_established_frame(const wire::Frame& frame) {
  switch (frame.kind) {
    case wire::frame_kind::link_ping:
      if (own_frames_.size() < own_frames_max)
        send_own(wire::make_frame(wire::frame_kind::link_pong, 0));
      return;
    case wire::frame_kind::link_pong: return host_->link_alive(*this);
    case wire::frame_kind::hello_reject: return on_reject(frame);
    case wire::frame_kind::hello: return fail({StreamEnd::Kind::malformed, "a second Hello came"});
    default:
      if (frame.kind >= wire::frame_kind::first_control)
        return fail({StreamEnd::Kind::malformed, "a frame of the control socket came"});
      host_->link_frame(*this, frame);
  }
}

void Link::on_reject(const wire::Frame& frame) {
  const auto reject = wire::decode_hello_reject(frame);
  if (!reject) return fail({StreamEnd::Kind::malformed, reject.error().reason});
  const bool known = state_ != State::leaving;
  if (known) host_->link_rejected(*this, *reject);
  finish();
}

void Link::gather(WriteBatch& batch) {
  for (const auto& frame : std::exchange(own_frames_, {})) batch.add(frame);
  if (state_ == State::established) host_->link_gather(*this, batch);
}

void Link::on_flushed() {
  if (state_ == State::leaving && input_ended_ && finished_writing()) finish();
}

void Link::on_end(const StreamEnd& end) {
  const auto self = shared_from_this();
  input_ended_ = true;
  const bool orderly = end.kind == StreamEnd::Kind::closed;
  const State before = state_;
  if (before != State::leaving && before != State::gone) host_->link_lost(*this, end);
  if (state_ == State::gone) return;
  if (!orderly || before == State::handshaking || before == State::deciding) return finish();
  if (state_ == State::established) begin_leaving();
  if (finished_writing()) finish();
}

// --- ends ---

void Link::send_own(wire::EncodedFrame frame) {
  own_frames_.push_back(std::move(frame));
  flush();
}

void Link::begin_leaving() {
  state_ = State::leaving;
  limit_time(options_.drain_time_max);
  resume_reading();
  finish_writing();
}

void Link::limit_time(Duration time_max) {
  timer_ = std::make_unique<boost::asio::steady_timer>(socket().get_executor(), time_max);
  timer_->async_wait([this, self = shared_from_this(), state = state_](auto error) {
    if (error || state_ == State::gone) return;
    // A link keeps the limit of its handshake while its host decides.
    if (state == state_ || state_ == State::deciding) out_of_time();
  });
}

void Link::out_of_time() {
  if (state_ == State::leaving) return finish();
  const auto time_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.handshake_time_max).count();
  fail({StreamEnd::Kind::failed, fmt::format("no handshake within {} ms", time_ms)});
}

void Link::finish() {
  if (state_ == State::gone) return;
  state_ = State::gone;
  timer_.reset();
  close();
  std::exchange(host_, nullptr)->link_gone(*this);
}

}  // namespace canopy::net
