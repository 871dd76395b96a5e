// A client of a daemon's control socket for tests: sends requests, collects
// answers, and keeps what its memberships receive. Driven by an io_context that
// the test runs; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "net/local_socket.hpp"
#include "wire/control_codec.hpp"

namespace canopy::system_test {

namespace control = wire::control;

class Client {
 public:
  using OnAnswer = std::function<void(const control::AnswerEnvelope&)>;

  Client(boost::asio::io_context& io, std::string path) : io_(io), path_(std::move(path)) {}
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // False while nobody answers at the socket.
  bool connect();
  void close();
  bool connected() const noexcept { return channel_ != nullptr; }

  // Every part of the answer, and for a Join every event, is passed on.
  std::uint64_t send(control::Request request, OnAnswer on_answer);
  void forget(std::uint64_t id) { waiting_.erase(id); }

  // Gives a request up: ends a membership.
  void cancel(std::uint64_t id);

  // Sends and runs the io_context until the answer is whole. Throws if it is
  // another one than an A, or none comes in time.
  template <class A>
  std::vector<A> ask(control::Request request);

 private:
  std::vector<control::Answer> ask_any(control::Request request);

  boost::asio::io_context& io_;
  std::string path_;
  std::shared_ptr<net::FrameChannel> channel_;
  std::map<std::uint64_t, OnAnswer> waiting_;
  std::uint64_t last_id_ = 0;
};

[[noreturn]] void wrong_answer(const control::Answer& answer);

template <class A>
std::vector<A> Client::ask(control::Request request) {
  std::vector<A> parts;
  for (control::Answer& answer : ask_any(std::move(request))) {
    auto* part = std::get_if<A>(&answer);
    if (!part) wrong_answer(answer);
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace canopy::system_test
