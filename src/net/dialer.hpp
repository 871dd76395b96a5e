// Connects to the first of a peer's addresses that answers.
//
// After "Happy Eyeballs" (RFC 8305): addresses are tried in their order, the
// families of a resolved name in turn; the next one starts when one fails or
// has not answered for a while, and the first to connect wins. Connecting
// sockets are bounded over all dials. Where they are scarce, a peer's first
// attempt goes before second addresses and before peers that failed lately,
// which together get at most half of them: so peers that advertise dead
// addresses cannot keep others waiting. Names are resolved anew every time.
//
// One thread, the one that runs the io_context.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include "base/peer.hpp"
#include "net/options.hpp"
#include "net/resolver.hpp"

namespace canopy::net {

class Dial;

struct DialResult {
  boost::system::error_code error;
  std::string text;  // of an error: each address with what was wrong
  boost::asio::ip::tcp::socket socket;
};

class Dialer {
 public:
  using Done = std::function<void(DialResult)>;

  Dialer(boost::asio::io_context& io, const DialOptions& options);
  ~Dialer();  // cancels all
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  // Calls `done` once, never inside this call, unless cancelled before.
  // `retry`: the peer failed lately.
  std::shared_ptr<Dial> start(std::vector<Endpoint> addresses, bool retry, Done done);
  void cancel(const std::shared_ptr<Dial>& dial);

  std::size_t attempts() const noexcept { return attempts_; }
  std::uint64_t attempts_total() const noexcept { return attempts_total_; }

 private:
  friend class Dial;

  enum class Urgency { first, later };

  // Grants a socket by calling Dial::granted(), now or when one is free.
  void ask(const std::shared_ptr<Dial>& dial, Urgency urgency);
  void release();
  void serve();
  bool serve_from(std::deque<std::weak_ptr<Dial>>& waiting, std::size_t attempts_max);
  void forget(const Dial* dial);

  boost::asio::io_context& io_;
  DialOptions options_;
  Resolver resolver_;
  std::vector<std::shared_ptr<Dial>> dials_;
  std::deque<std::weak_ptr<Dial>> first_waiting_;
  std::deque<std::weak_ptr<Dial>> later_waiting_;
  std::size_t attempts_ = 0;
  std::uint64_t attempts_total_ = 0;
};

}  // namespace canopy::net
