#include "net/tcp_listener.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <fmt/format.h>

#include "base/option_value.hpp"

namespace canopy::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

namespace {

std::vector<Tcp::endpoint> addresses_of(asio::io_context& io, const Endpoint& where,
                                        std::string_view option) {
  error_code error;
  const auto numeric = asio::ip::make_address(where.host, error);
  if (!error) return {{numeric, where.port}};
  Tcp::resolver resolver(io);
  const auto results =
      resolver.resolve(where.host, std::to_string(where.port),
                       Tcp::resolver::passive | Tcp::resolver::numeric_service, error);
  if (error)
    throw ListenError(
        fmt::format("{} {}: the name cannot be resolved ({}): give an address of this machine",
                    option, format_endpoint(where), error.message()));
  return {results.begin(), results.end()};
}

std::string text_of(const Endpoint& where, std::string_view option, const error_code& error) {
  const std::string text = format_endpoint(where);
  if (error == asio::error::address_in_use)
    return fmt::format("{} is in use by another process: choose another {} or stop it", text,
                       option);
  if (error == boost::system::errc::address_not_available)
    return fmt::format("{} is no address of this machine: choose another {}", text, option);
  if (error == asio::error::access_denied)
    return fmt::format("{}: ports below 1024 need privileges: choose another {}", text, option);
  return fmt::format("cannot listen on {}: {}", text, error.message());
}

}  // namespace

TcpListener::TcpListener(asio::io_context& io, const Endpoint& where, const Accepted& accepted,
                         std::string_view option)
    : endpoint_(where) {
  error_code first_error;
  for (Tcp::endpoint address : addresses_of(io, where, option)) {
    address.port(endpoint_.port);  // the first one chooses for all
    error_code error;
    Tcp::acceptor acceptor = open(io, address, error);
    if (error == asio::error::address_in_use) throw ListenError(text_of(endpoint_, option, error));
    if (error) {
      // A name may stand for addresses of a family that this machine lacks.
      if (!first_error) first_error = error;
      continue;
    }
    endpoint_.port = acceptor.local_endpoint().port();
    loops_.emplace_back(std::move(acceptor), accepted, [this](const error_code& failure) {
      accept_errors_.add(failure, format_endpoint(endpoint_));
    });
  }
  if (loops_.empty()) throw ListenError(text_of(endpoint_, option, first_error));
}

Tcp::acceptor TcpListener::open(asio::io_context& io, Tcp::endpoint address,
                                error_code& error) const {
  Tcp::acceptor acceptor(io);
  acceptor.open(address.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  // "::" alone means every address, IPv4 too; the address of a name does not.
  if (!error && address.address().is_v6())
    acceptor.set_option(asio::ip::v6_only(!address.address().is_unspecified()), error);
  if (!error) acceptor.bind(address, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  return acceptor;
}

}  // namespace canopy::net
