// One dial of a Dialer: the addresses of one peer, tried until one connects.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "net/dialer.hpp"

namespace canopy::net {

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  Dial(Dialer& dialer, bool retry, Dialer::Done done);

  void start(const std::vector<Endpoint>& addresses);

  // No callback follows. The dialer does it before it goes.
  void cancel();

  // A socket may connect now. False: there is no use for it any more.
  bool granted();

 private:
  using Tcp = boost::asio::ip::tcp;

  struct Attempt {
    Tcp::endpoint address;
    Tcp::socket socket;
  };

  void resolve(const Endpoint& endpoint);
  void add(const Tcp::endpoint& address);
  void resolved(Resolver::Number lookup, const Resolver::Addresses& addresses);
  void add_in_turn(const std::vector<Tcp::endpoint>& addresses);
  void advance();
  void wait_stagger();
  void connected(const std::shared_ptr<Attempt>& attempt, const boost::system::error_code& error);
  void out_of_time_after(Duration time);
  void out_of_time();
  void note(const std::string& address, const std::string& why);
  void finish(const boost::system::error_code& error, const std::shared_ptr<Attempt>& winner);
  void stop();

  Dialer* dialer_;  // null once done or cancelled
  bool retry_;
  Dialer::Done done_;
  DialOptions options_;
  boost::asio::steady_timer deadline_;
  boost::asio::steady_timer stagger_;
  std::deque<Tcp::endpoint> untried_;
  std::vector<Tcp::endpoint> seen_;
  std::vector<std::shared_ptr<Attempt>> connecting_;
  std::map<Resolver::Number, std::string> resolving_;  // names
  bool asked_ = false;                                 // for a socket
  bool staggering_ = false;                            // waits before the next address
  bool tried_ = false;                                 // the first attempt was made
  std::string failures_;
};

}  // namespace canopy::net
