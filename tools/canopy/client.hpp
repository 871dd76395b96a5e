// A connection to a daemon's control socket, for a program that does one thing
// at a time: requests are started, and run() turns the event loop until
// something has happened. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <canopy/error.hpp>

#include "canopy/failure.hpp"
#include "net/frame_channel.hpp"
#include "wire/control_codec.hpp"

namespace canopy::tools {

class Client {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  using Handler = std::function<void(wire::control::Answer answer, bool more)>;

  // Connects. Throws Failure that says how to get a daemon.
  explicit Client(const std::string& path);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  boost::asio::io_context& io() noexcept { return io_; }

  // Starts a request; the handler gets each of its answers. It may throw, which
  // comes out of run(). The request's id.
  std::uint64_t start(wire::control::Request request, Handler handler);

  // Handles events until done() says true; false when the deadline comes first.
  // Throws Failure when the daemon hangs up.
  bool run(const std::function<bool()>& done, Deadline deadline);

  // The last answer's alternative T, with all its parts put together by
  // append(whole, part). Throws Failure for what the daemon refuses.
  template <class T>
  T ask(wire::control::Request request, Deadline deadline,
        const std::function<void(T& whole, T part)>& append);
  template <class T>
  T ask(wire::control::Request request, Deadline deadline) {
    return ask<T>(std::move(request), deadline, [](T& whole, T part) { whole = std::move(part); });
  }

  // Whether the daemon has hung up; run() does not throw for it any more.
  void expect_hangup() noexcept { hangup_expected_ = true; }
  bool hung_up() const noexcept { return hung_up_; }

 private:
  void on_frame(const wire::Frame& frame);
  void flush();

  boost::asio::io_context io_;
  std::string path_;
  std::shared_ptr<net::FrameChannel> channel_;
  std::map<std::uint64_t, Handler> handlers_;
  std::deque<wire::EncodedFrame> outbox_;
  std::uint64_t next_id_ = 1;
  bool hung_up_ = false;
  bool hangup_expected_ = false;
  std::string hangup_reason_;
};

// Throws Failure if the answer is one.
void throw_if_failure(const wire::control::Answer& answer);

template <class T>
T Client::ask(wire::control::Request request, Deadline deadline,
              const std::function<void(T& whole, T part)>& append) {
  std::optional<T> whole;
  std::optional<Failure> failure;  // not thrown from within: the channel would read no more
  bool done = false;
  const std::uint64_t id = start(std::move(request), [&](wire::control::Answer answer, bool more) {
    done = !more;
    if (T* part = std::get_if<T>(&answer)) {
      if (whole)
        append(*whole, std::move(*part));
      else
        whole = std::move(*part);
    } else if (const auto* refusal = std::get_if<wire::control::Failure>(&answer)) {
      failure.emplace(refusal->text, refusal->error);
    }
  });
  const bool in_time = run([&] { return done; }, deadline);
  handlers_.erase(id);
  if (!in_time)
    throw Failure("no answer in time: try a longer --timeout",
                  static_cast<unsigned>(errc::timed_out));
  if (failure) throw Failure(*failure);
  if (!whole) throw Failure("the daemon gave another answer than expected: is it of this version?");
  return std::move(*whole);
}

}  // namespace canopy::tools
