#include "net/resolver.hpp"

#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

namespace canopy::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

// Outlives the resolver in those threads that are still at it.
struct Resolver::Way {
  std::mutex mutex;
  asio::io_context* io = nullptr;  // null once the resolver has gone
  Resolver* resolver = nullptr;    // of the loop's thread
};

Resolver::Resolver(asio::io_context& io, LookUp look_up)
    : look_up_(look_up), way_(std::make_shared<Way>()) {
  way_->io = &io;
  way_->resolver = this;
}

Resolver::~Resolver() {
  const std::lock_guard lock(way_->mutex);
  way_->io = nullptr;
  way_->resolver = nullptr;
}

Resolver::Addresses Resolver::ask_system(const Endpoint& name) {
  asio::io_context context;
  Tcp::resolver resolver(context);
  error_code error;
  const auto results =
      resolver.resolve(name.host, std::to_string(name.port), Tcp::resolver::numeric_service, error);
  if (error) return error;
  return std::vector<Tcp::endpoint>(results.begin(), results.end());
}

Resolver::Number Resolver::resolve(const Endpoint& name, Done done) {
  done_.emplace(++last_, std::move(done));
  waiting_.push_back({last_, name});
  start_waiting();
  return last_;
}

void Resolver::cancel(Number lookup) {
  if (done_.erase(lookup) == 0) return;
  std::erase_if(waiting_, [lookup](const Waiting& other) { return other.number == lookup; });
}

void Resolver::start_waiting() {
  while (threads_ < threads_max && !waiting_.empty()) {
    ++threads_;
    start(waiting_.front());
    waiting_.pop_front();
  }
}

void Resolver::start(const Waiting& lookup) {
  const auto tell = [way = way_, number = lookup.number](Addresses addresses) {
    const std::lock_guard lock(way->mutex);
    if (!way->io) return;
    asio::post(*way->io, [way, number, addresses = std::move(addresses)] {
      if (way->resolver) way->resolver->ended(number, addresses);
    });
  };
  try {
    std::thread([tell, look_up = look_up_, name = lookup.name] { tell(look_up(name)); }).detach();
  } catch (const std::system_error&) {
    tell(error_code(asio::error::no_memory));
  }
}

void Resolver::ended(Number lookup, const Addresses& addresses) {
  --threads_;
  start_waiting();
  const auto found = done_.find(lookup);
  if (found == done_.end()) return;  // cancelled
  const Done done = std::move(found->second);
  done_.erase(found);
  done(lookup, addresses);
}

}  // namespace canopy::net
