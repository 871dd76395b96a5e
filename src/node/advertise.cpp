#include "node/advertise.hpp"

#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>

#include "base/option_value.hpp"

namespace canopy::node {
namespace {

namespace ip = boost::asio::ip;

// Addresses of the Internet that are nobody's (RFC 5737, RFC 3849).
constexpr const char* far_v4 = "192.0.2.1";
constexpr const char* far_v6 = "2001:db8::1";

// This end of the way to an address; connecting a UDP socket sends nothing.
std::optional<std::string> source_towards(const ip::address& target) {
  boost::system::error_code error;
  boost::asio::io_context context;
  ip::udp::socket socket(context);
  const ip::udp::endpoint remote(target, 9);
  socket.open(remote.protocol(), error);
  if (!error) socket.connect(remote, error);
  if (error) return std::nullopt;
  const ip::address source = socket.local_endpoint(error).address();
  if (error || source.is_unspecified()) return std::nullopt;
  return source.to_string();
}

std::optional<std::string> source_towards_seeds(const std::vector<std::string>& seeds, bool v6) {
  for (const std::string& seed : seeds) {
    const auto endpoint = parse_endpoint(seed);
    if (!endpoint) continue;
    boost::system::error_code error;
    const ip::address address = ip::make_address(endpoint->host, error);
    if (error || address.is_v6() != v6) continue;
    if (auto source = source_towards(address)) return source;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Endpoint> advertised(const std::vector<std::string>& given, const Endpoint& listening,
                                 const std::vector<std::string>& seeds) {
  std::vector<Endpoint> addresses;
  for (const std::string& text : given)
    if (auto endpoint = parse_endpoint(text)) addresses.push_back(*endpoint);
  if (!addresses.empty()) return addresses;
  boost::system::error_code error;
  const ip::address address = ip::make_address(listening.host, error);
  if (error || !address.is_unspecified()) return {listening};
  const auto add = [&](const std::vector<std::string>& towards, bool v6) {
    auto source = source_towards_seeds(towards, v6);
    if (!source) source = source_towards(ip::make_address(v6 ? far_v6 : far_v4));
    if (source) addresses.push_back({*source, listening.port});
  };
  add(seeds, false);
  if (address.is_v6()) add(seeds, true);  // a wildcard of IPv6 takes both
  if (addresses.empty())
    addresses.push_back({address.is_v6() ? "::1" : "127.0.0.1", listening.port});
  return addresses;
}

}  // namespace canopy::node
