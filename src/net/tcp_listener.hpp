// Listens on every address of a HOST:PORT.
//
// A restart on the same port works at once. Throws ListenError with what is
// wrong and what to do. One thread, the one that runs the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/peer.hpp"
#include "net/accept_errors.hpp"
#include "net/accept_loop.hpp"
#include "net/listen_error.hpp"

namespace canopy::net {

class TcpListener {
 public:
  using Accepted = std::function<void(boost::asio::ip::tcp::socket)>;

  // Port 0 lets the system choose one. A name is resolved here and now, which
  // may take a moment: this is for start-up. `option`: where the address was given,
  // for messages.
  TcpListener(boost::asio::io_context& io, const Endpoint& where, const Accepted& accepted,
              std::string_view option = "--listen");

  // The host as given, and the port in use.
  const Endpoint& endpoint() const noexcept { return endpoint_; }
  std::uint64_t accept_errors() const noexcept { return accept_errors_.count(); }

 private:
  using Tcp = boost::asio::ip::tcp;

  Tcp::acceptor open(boost::asio::io_context& io, Tcp::endpoint address,
                     boost::system::error_code& error) const;

  Endpoint endpoint_;
  AcceptErrors accept_errors_;
  std::list<AcceptLoop<Tcp>> loops_;
};

}  // namespace canopy::net
