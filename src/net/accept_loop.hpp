// Accepts connections one after the other and hands each to a callback.
//
// A process out of descriptors or memory must not spin: after such an error the
// loop pauses. Stops when destroyed. One thread, the executor's.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

namespace canopy::net {

template <class Protocol>
class AcceptLoop {
 public:
  using Acceptor = typename Protocol::acceptor;
  using Socket = typename Protocol::socket;
  using Accepted = std::function<void(Socket)>;

  using Failed = std::function<void(const boost::system::error_code&)>;

  // An acceptor that listens already. What the callbacks use must outlive the loop.
  AcceptLoop(Acceptor acceptor, Accepted accepted, Failed failed)
      : state_(
            std::make_shared<State>(std::move(acceptor), std::move(accepted), std::move(failed))) {
    state_->acceptor.non_blocking(true);
    accept(state_);
  }
  AcceptLoop(AcceptLoop&&) noexcept = default;
  AcceptLoop& operator=(AcceptLoop&&) = delete;

  ~AcceptLoop() {
    if (!state_) return;
    boost::system::error_code ignored;
    state_->stopped = true;
    state_->acceptor.close(ignored);
    state_->pause.cancel();
  }

 private:
  static constexpr auto pause_after_error = std::chrono::milliseconds(100);

  struct State {
    State(Acceptor a, Accepted f, Failed e)
        : acceptor(std::move(a)),
          pause(acceptor.get_executor()),
          accepted(std::move(f)),
          failed(std::move(e)) {}
    Acceptor acceptor;
    boost::asio::steady_timer pause;
    Accepted accepted;
    Failed failed;
    bool stopped = false;
  };

  static void accept(const std::shared_ptr<State>& state) {
    state->acceptor.async_accept([state](boost::system::error_code error, Socket socket) {
      if (state->stopped) return;
      if (!error) {
        state->accepted(std::move(socket));
        if (!state->stopped) accept(state);
      } else if (error == boost::asio::error::connection_aborted) {
        accept(state);  // the caller has given up
      } else {
        state->failed(error);
        wait(state);
      }
    });
  }

  static void wait(const std::shared_ptr<State>& state) {
    state->pause.expires_after(pause_after_error);
    state->pause.async_wait([state](boost::system::error_code) {
      if (!state->stopped) accept(state);
    });
  }

  std::shared_ptr<State> state_;
};

}  // namespace canopy::net
