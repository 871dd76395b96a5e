#include "system/client.hpp"

#include <stdexcept>
#include <utility>

namespace canopy::system_test {
namespace {

constexpr auto answer_time_max = std::chrono::seconds(30);

}  // namespace

void wrong_answer(const control::Answer& answer) {
  if (const auto* failure = std::get_if<control::Failure>(&answer))
    throw std::runtime_error("failure: " + failure->text);
  throw std::runtime_error("an answer of another kind");
}

Client::~Client() { close(); }

void Client::close() {
  if (channel_) channel_->close();
  channel_.reset();
  waiting_.clear();
}

bool Client::connect() {
  if (channel_) return true;
  bool over = false;
  net::connect_local(
      io_, path_, std::chrono::seconds(5),
      [&](boost::system::error_code, std::string_view, std::shared_ptr<net::FrameChannel> channel) {
        channel_ = std::move(channel);
        over = true;
      });
  while (!over) {
    io_.restart();
    io_.run_one();
  }
  if (!channel_) return false;
  net::ChannelHandlers handlers;
  handlers.frame = [this](const wire::Frame& frame) {
    auto answer = control::decode_answer(frame);
    if (!answer) return;
    const auto waiting = waiting_.find(answer->id);
    if (waiting != waiting_.end()) OnAnswer(waiting->second)(*answer);
  };
  handlers.closed = [this](std::string_view) { channel_.reset(); };
  channel_->start(std::move(handlers));
  return true;
}

std::uint64_t Client::send(control::Request request, OnAnswer on_answer) {
  const std::uint64_t id = ++last_id_;
  if (!connect()) throw std::runtime_error("nobody answers at " + path_);
  auto frame = control::encode(control::RequestEnvelope{id, std::move(request)});
  if (!frame) throw std::runtime_error("a request that cannot be encoded");
  waiting_[id] = std::move(on_answer);
  channel_->send(std::move(*frame));
  return id;
}

void Client::cancel(std::uint64_t id) {
  forget(id);
  if (!channel_) return;
  if (auto frame = control::encode(control::RequestEnvelope{id, control::Cancel{}}))
    channel_->send(std::move(*frame));
}

std::vector<control::Answer> Client::ask_any(control::Request request) {
  std::vector<control::Answer> parts;
  bool whole = false;
  const std::uint64_t id = send(std::move(request), [&](const control::AnswerEnvelope& envelope) {
    parts.push_back(envelope.answer);
    whole = !envelope.more;
  });
  const auto deadline = std::chrono::steady_clock::now() + answer_time_max;
  while (!whole && channel_ && std::chrono::steady_clock::now() < deadline) {
    io_.restart();
    io_.run_one_for(std::chrono::milliseconds(100));
  }
  forget(id);
  if (!whole) throw std::runtime_error("no answer from " + path_);
  return parts;
}

}  // namespace canopy::system_test
