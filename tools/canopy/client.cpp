#include "canopy/client.hpp"

#include <utility>

#include <boost/asio/error.hpp>
#include <fmt/format.h>

#include "net/local_socket.hpp"

namespace canopy::tools {

namespace control = wire::control;

namespace {

constexpr Duration connect_time_max = std::chrono::seconds(5);

std::string connect_problem(const std::string& path, const boost::system::error_code& error,
                            std::string_view text) {
  if (error == boost::system::errc::no_such_file_or_directory ||
      error == boost::asio::error::connection_refused) {
    return fmt::format(
        "no daemon answers at {}: start one with `canopyd`, or name its socket with --control or "
        "CANOPY_CONTROL",
        path);
  }
  return std::string(text);
}

// What a membership goes on after.
bool is_event(const control::Answer& answer) {
  return std::holds_alternative<control::Joined>(answer) ||
         std::holds_alternative<control::Message>(answer) ||
         std::holds_alternative<control::Gap>(answer) ||
         std::holds_alternative<control::Lost>(answer) ||
         std::holds_alternative<control::Presence>(answer) ||
         std::holds_alternative<control::NoLast>(answer) ||
         std::holds_alternative<control::RequestEnded>(answer) ||
         std::holds_alternative<std::monostate>(answer);
}

}  // namespace

void throw_if_failure(const control::Answer& answer) {
  if (const auto* failure = std::get_if<control::Failure>(&answer))
    throw Failure(failure->text, failure->error);
}

Client::Client(const std::string& path) : path_(path) {
  std::optional<std::string> problem;
  bool done = false;
  net::connect_local(io_, path, connect_time_max,
                     [&](boost::system::error_code error, std::string_view text,
                         std::shared_ptr<net::FrameChannel> channel) {
                       done = true;
                       if (error) problem = connect_problem(path, error, text);
                       channel_ = std::move(channel);
                     });
  while (!done) io_.run_one();
  if (problem) throw Failure(*problem);
  net::ChannelHandlers handlers;
  handlers.frame = [this](const wire::Frame& frame) { on_frame(frame); };
  handlers.writable = [this] { flush(); };
  handlers.closed = [this](std::string_view reason) {
    hung_up_ = true;
    hangup_reason_ = reason;
  };
  channel_->start(std::move(handlers));
}

Client::~Client() {
  if (channel_) channel_->close();
}

std::uint64_t Client::start(control::Request request, Handler handler) {
  const std::uint64_t id = next_id_++;
  auto frame = control::encode(control::RequestEnvelope{id, std::move(request)});
  if (!frame) throw Failure(frame.error().message());
  handlers_.emplace(id, std::move(handler));
  outbox_.push_back(std::move(*frame));
  flush();
  return id;
}

void Client::flush() {
  while (!outbox_.empty()) {
    if (!channel_->send(outbox_.front())) return;
    outbox_.pop_front();
  }
}

bool Client::run(const std::function<bool()>& done, Deadline deadline) {
  while (!done()) {
    if (hung_up_) {
      if (hangup_expected_) return false;
      throw Failure(
          fmt::format("the daemon at {} has hung up ({}): see its log", path_, hangup_reason_));
    }
    io_.restart();
    if (!deadline) {
      io_.run_one();
    } else if (io_.run_one_until(*deadline) == 0 && std::chrono::steady_clock::now() >= *deadline) {
      return done();
    }
  }
  return true;
}

void Client::on_frame(const wire::Frame& frame) {
  auto decoded = control::decode_answer(frame);
  if (!decoded)
    throw Failure(fmt::format("{} is not the socket of a canopyd of this version: {}", path_,
                              decoded.error().reason));
  if (decoded->id == 0) throw_if_failure(decoded->answer);  // the connection's
  const auto found = handlers_.find(decoded->id);
  if (found == handlers_.end()) return;
  if (decoded->more || is_event(decoded->answer))
    return found->second(std::move(decoded->answer), decoded->more);
  const Handler handler = std::move(found->second);
  handlers_.erase(found);
  handler(std::move(decoded->answer), false);
}

}  // namespace canopy::tools
