// Looks up the addresses of host names, and holds nobody up.
//
// The system's lookup blocks for as long as a name server is silent, and
// nothing ends it early. So each runs on a thread of its own, a few at a time,
// for which nobody waits: neither another name nor the end of the process.
// (Asio's resolver has one thread for all names, and joins it at the end.)
//
// One thread, the one that runs the io_context. Destroying it cancels all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/result.hpp>

#include "base/peer.hpp"

namespace canopy::net {

class Resolver {
 public:
  using Addresses = boost::system::result<std::vector<boost::asio::ip::tcp::endpoint>>;
  using Number = std::uint64_t;  // of a lookup
  using Done = std::function<void(Number, const Addresses&)>;
  // Blocks; called on any thread.
  using LookUp = Addresses (*)(const Endpoint& name);

  static constexpr std::size_t threads_max = 8;

  explicit Resolver(boost::asio::io_context& io, LookUp look_up = ask_system);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Calls `done` once, never inside this call, unless cancelled before.
  Number resolve(const Endpoint& name, Done done);

  // Nothing happens if it is over.
  void cancel(Number lookup);

 private:
  struct Waiting {
    Number number = 0;
    Endpoint name;
  };
  struct Way;

  static Addresses ask_system(const Endpoint& name);
  void start_waiting();
  void start(const Waiting& lookup);
  void ended(Number lookup, const Addresses& addresses);

  const LookUp look_up_;
  const std::shared_ptr<Way> way_;  // back from the threads
  std::map<Number, Done> done_;
  std::deque<Waiting> waiting_;  // for a thread
  std::size_t threads_ = 0;      // whose lookups are not over, cancelled or not
  Number last_ = 0;
};

}  // namespace canopy::net
