// One connection of the HTTP server, over TCP or TLS.
//
// A read is always outstanding while there is room, also while a call is under
// way: so the end of the client is seen at once. There are no timers of its own:
// the loop's tick compares a deadline. Of the loop's thread.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "gateway/http_answer.hpp"
#include "gateway/http_loop.hpp"
#include "gateway/http_parser.hpp"
#include "gateway/pending_call.hpp"

namespace canopy::gateway {

template <class Stream>
class HttpConnection final : public AnyConnection,
                             public PendingCall::Owner,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  static constexpr bool is_tls = !std::is_same_v<Stream, boost::asio::ip::tcp::socket>;

  HttpConnection(HttpLoop& loop, Stream stream)
      : loop_(loop), stream_(std::move(stream)), parser_(loop.options.limits, is_tls) {}

  void start() {
    loop_.add(this->shared_from_this());
    if constexpr (is_tls) {
      expect_within(loop_.options.head_max);
      stream_.async_handshake(Stream::server, [self = this->shared_from_this()](Error error) {
        if (error) return self->abort();
        self->await_request();
        self->read();
      });
    } else {
      await_request();
      read();
    }
  }

  void on_tick(Clock::time_point now) override {
    if (now < deadline_) return;
    loop_.counts.timed_out.fetch_add(1, std::memory_order_relaxed);
    abort();
  }

  void drain() override {
    if (state_ == State::idle && begin_ == end_) return abort();
    if (state_ != State::calling || !receives_) return;
    // What comes for it from now on goes back to its queue.
    std::exchange(call_, nullptr)->abandon();
    answer(loop_.front.finish(reply_, queue::ReceiveMessageResult{}));
  }

  void abort() override {
    if (state_ == State::closed) return;
    if (state_ == State::calling && call_) {
      loop_.counts.hung_up.fetch_add(1, std::memory_order_relaxed);
      std::exchange(call_, nullptr)->abandon();
    }
    state_ = State::closed;
    Error ignored;
    socket().close(ignored);
    loop_.grow_buffer(-counted(buffer_.size()));
    loop_.remove(*this);
  }

  void on_outcome(queue::Outcome outcome) override {
    if (state_ != State::calling) return;
    Answer written = loop_.front.finish(reply_, outcome);
    if (receives_) received_ = std::move(outcome);
    answer(std::move(written));
  }

 private:
  using Error = boost::system::error_code;
  enum class State : std::uint8_t {
    idle,     // a request, or nothing, has begun to arrive
    calling,  // the service has the call
    writing,  // the answer is on its way
    closing,  // what still arrives is thrown away
    closed,
  };

  static constexpr std::size_t buffer_usual = 2'048;
  static constexpr std::size_t buffer_kept_max = 64 * 1'024;
  // Room for a body before anything of it has come.
  static constexpr std::size_t body_first = 16 * 1'024;
  // What may arrive in advance while a request is being answered.
  static constexpr std::size_t ahead_max = 64 * 1'024;

  auto& socket() {
    if constexpr (is_tls)
      return stream_.next_layer();
    else
      return stream_;
  }

  void expect_within(std::chrono::seconds span) { deadline_ = loop_.now() + span; }
  void expect_transfer(std::size_t bytes) {
    expect_within(loop_.options.transfer_max +
                  std::chrono::seconds(bytes / loop_.options.transfer_bytes_per_second_min));
  }

  void await_request() {
    state_ = State::idle;
    expect_within(loop_.options.idle_max);
  }

  std::string_view arrived() const { return {buffer_.data() + begin_, end_ - begin_}; }

  // --- Reading ---

  void read() {
    if (reading_ || state_ == State::closed) return;
    const bool answering = state_ == State::calling || state_ == State::writing;
    // The request that is being answered has been taken out already.
    if (answering && end_ - begin_ >= ahead_max) return;
    if (!make_room()) {
      // What is being written goes first: its end reads on.
      if (!answering && !continuing_) shed();
      return;
    }
    reading_ = true;
    // Tries at once, mostly in vain; to wait until there is something costs as many
    // system calls, as the descriptor has to be armed again.
    stream_.async_read_some(boost::asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                            [self = this->shared_from_this()](Error error, std::size_t size) {
                              self->reading_ = false;
                              self->on_read(error, size);
                            });
  }

  // The usual buffers are bounded by the number of connections.
  static std::ptrdiff_t counted(std::size_t buffer) {
    return buffer > buffer_usual ? static_cast<std::ptrdiff_t>(buffer) : 0;
  }

  bool make_room() {
    const std::size_t held = end_ - begin_;
    if (held == 0) begin_ = end_ = 0;
    if (held == 0 && buffer_.size() > buffer_kept_max) {
      loop_.grow_buffer(-counted(buffer_.size()));
      std::vector<char>().swap(buffer_);
    }
    // Of a body whose length is known, up to as much as has come, and no more than is
    // missing: a client has to send for what it makes this process keep.
    const std::size_t request = state_ == State::idle ? parser_.wanted() : 0;
    const std::size_t room = request > held ? std::min(request - held, std::max(held, body_first))
                                            : std::max(buffer_usual / 4, held / 2);
    if (buffer_.size() - end_ >= room) return true;
    if (buffer_.size() - held < room) {
      std::vector<char> larger;
      const std::size_t size = std::max(buffer_usual, held + room);
      if (!loop_.grow_buffer(counted(size) - counted(buffer_.size()))) return false;
      larger.resize(size);
      std::copy_n(buffer_.data() + begin_, held, larger.data());
      buffer_.swap(larger);
    } else {
      std::copy(buffer_.data() + begin_, buffer_.data() + end_, buffer_.data());
    }
    begin_ = 0;
    end_ = held;
    return true;
  }

  void on_read(Error error, std::size_t size) {
    if (state_ == State::closed) return;
    if (error) return on_end(error);
    if (state_ == State::closing) return read();  // to the same place again
    const bool first = begin_ == end_;
    end_ += size;
    if (state_ == State::idle) {
      if (first) expect_within(loop_.options.head_max);
      advance();
    }
    read();
  }

  // A client that shuts down its side while it waits for messages is taken for
  // gone: they would be lost if it were. Other answers are tried.
  void on_end(Error error) {
    ended_ = true;
    const bool owes_answer = state_ == State::writing || (state_ == State::calling && !receives_);
    if (owes_answer && error == boost::asio::error::eof) return;
    abort();
  }

  // --- A request ---

  void advance() {
    if (continuing_) return;
    switch (parser_.parse(arrived())) {
      case HttpParser::Status::more:
        if (ended_) return abort();
        if (parser_.has_head()) await_body();
        break;
      case HttpParser::Status::complete:
        loop_.counts.requests.fetch_add(1, std::memory_order_relaxed);
        take();
        break;
      case HttpParser::Status::refused:
        loop_.counts.malformed.fetch_add(1, std::memory_order_relaxed);
        refuse(parser_.refusal());
        break;
    }
  }

  void await_body() {
    if (body_begun_) return;
    body_begun_ = true;
    expect_transfer(parser_.wanted());
    if (!parser_.expects_continue()) return;
    continuing_ = true;
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    boost::asio::async_write(stream_, boost::asio::buffer(go_on),
                             [self = this->shared_from_this()](Error error, std::size_t) {
                               self->continuing_ = false;
                               if (error) return self->abort();
                               if (self->state_ == State::idle) self->advance();
                               self->read();
                             });
  }

  void take() {
    const Request& request = parser_.request();
    head_only_ = request.method == "HEAD";
    keep_alive_ = parser_.keep_alive();
    version_ = parser_.version();
    auto taken = loop_.front.take(request, wall_seconds());
    begin_ += parser_.size();
    parser_.next();
    body_begun_ = false;
    if (auto* ready = std::get_if<Answer>(&taken)) return answer(std::move(*ready));
    call(std::get<Work>(std::move(taken)));
  }

  void call(Work work) {
    state_ = State::calling;
    deadline_ = Clock::time_point::max();
    reply_ = std::move(work.reply);
    receives_ = std::holds_alternative<queue::ReceiveMessage>(work.action);
    // The service lets go of a call when it is done, mostly.
    if (!call_ || call_.use_count() > 1)
      call_ = std::make_shared<PendingCall>(loop_.mailbag, loop_.service);
    call_->begin(*this, std::move(work.caller), std::move(work.action));
  }

  void shed() {
    loop_.counts.shed.fetch_add(1, std::memory_order_relaxed);
    refuse({503, "too much is arriving at the moment: try again"});
  }

  void refuse(const HttpParser::Refusal& refusal) {
    Answer answer_text;
    answer_text.status = refusal.status;
    answer_text.content_type = "text/plain";
    answer_text.body.append(refusal.reason).append("\n");
    keep_alive_ = false;
    head_only_ = false;
    version_ = parser_.version();
    begin_ = end_;
    answer(std::move(answer_text));
  }

  // --- The answer ---

  void answer(Answer written) {
    state_ = State::writing;
    if (loop_.draining()) keep_alive_ = false;
    head_.clear();
    append_head(written, {version_, keep_alive_, loop_.date()}, head_);
    body_ = std::move(written.body);
    if (head_only_) body_.clear();
    expect_transfer(body_.size());
    const std::array<boost::asio::const_buffer, 2> buffers{boost::asio::buffer(head_),
                                                           boost::asio::buffer(body_)};
    boost::asio::async_write(
        stream_, buffers,
        [self = this->shared_from_this()](Error error, std::size_t) { self->on_written(error); });
  }

  void on_written(Error error) {
    if (error || state_ == State::closed) {
      // The client did not get its messages.
      if (received_ && call_) call_->give_back(*received_);
      received_.reset();
      return abort();
    }
    received_.reset();
    std::string().swap(body_);
    if (!keep_alive_ || (ended_ && begin_ == end_)) return finish();
    await_request();
    if (begin_ != end_) {
      expect_within(loop_.options.head_max);
      advance();
    } else if (loop_.draining()) {
      return finish();
    }
    read();
  }

  // Closes such that the client can read what it was told: a socket that is
  // closed with bytes unread resets the connection.
  void finish() {
    state_ = State::closing;
    expect_within(loop_.options.closing_max);
    Error ignored;
    socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
    if (ended_) return abort();
    begin_ = end_ = 0;
    read();
  }

  HttpLoop& loop_;
  Stream stream_;
  HttpParser parser_;
  State state_ = State::idle;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool reading_ = false;
  bool ended_ = false;       // nothing more will arrive
  bool body_begun_ = false;  // the deadline is that of a body
  bool continuing_ = false;  // 100 Continue is on its way

  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;

  // The request being answered.
  bool head_only_ = false;
  bool keep_alive_ = true;
  int version_ = 11;
  bool receives_ = false;
  Reply reply_;
  std::shared_ptr<PendingCall> call_;
  std::optional<queue::Outcome> received_;  // until the client has it

  std::string head_;
  std::string body_;
};

}  // namespace canopy::gateway
