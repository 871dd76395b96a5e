#include "net/dial.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/option_value.hpp"

namespace canopy::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::size_t failures_bytes_max = 512;

std::string text_of(const asio::ip::tcp::endpoint& address) {
  return format_endpoint({address.address().to_string(), address.port()});
}

}  // namespace

Dial::Dial(Dialer& dialer, bool retry, Dialer::Done done)
    : dialer_(&dialer),
      retry_(retry),
      done_(std::move(done)),
      options_(dialer.options_),
      deadline_(dialer.io_),
      stagger_(dialer.io_) {}

void Dial::start(const std::vector<Endpoint>& addresses) {
  out_of_time_after(options_.time_max);
  for (const Endpoint& endpoint : addresses) {
    error_code not_numeric;
    const auto address = asio::ip::make_address(endpoint.host, not_numeric);
    if (not_numeric)
      resolve(endpoint);
    else
      add({address, endpoint.port});
  }
  // Not at once, because it may fail at once.
  asio::post(dialer_->io_, [self = shared_from_this()] { self->advance(); });
}

void Dial::out_of_time_after(Duration time) {
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->out_of_time();
  });
}

void Dial::resolve(const Endpoint& endpoint) {
  const auto lookup = dialer_->resolver_.resolve(
      endpoint,
      [self = shared_from_this()](Resolver::Number number, const Resolver::Addresses& addresses) {
        self->resolved(number, addresses);
      });
  resolving_.emplace(lookup, format_endpoint(endpoint));
}

void Dial::resolved(Resolver::Number lookup, const Resolver::Addresses& addresses) {
  const auto name = resolving_.extract(lookup);
  if (addresses)
    add_in_turn(*addresses);
  else
    note(name.mapped(),
         fmt::format("the name cannot be resolved ({})", addresses.error().message()));
  advance();
}

void Dial::add(const Tcp::endpoint& address) {
  if (seen_.size() >= options_.addresses_max) return;
  if (std::find(seen_.begin(), seen_.end(), address) != seen_.end()) return;
  seen_.push_back(address);
  untried_.push_back(address);
}

// The families in turn, so that one that leads nowhere costs one stagger only.
void Dial::add_in_turn(const std::vector<Tcp::endpoint>& addresses) {
  std::deque<Tcp::endpoint> preferred;
  std::deque<Tcp::endpoint> other;
  for (const Tcp::endpoint& address : addresses) {
    const bool same = preferred.empty() || preferred.front().protocol() == address.protocol();
    (same ? preferred : other).push_back(address);
  }
  while (!preferred.empty()) {
    add(preferred.front());
    preferred.pop_front();
    if (!other.empty()) preferred.swap(other);
  }
}

void Dial::advance() {
  if (!dialer_ || asked_) return;
  if (untried_.empty()) {
    if (connecting_.empty() && resolving_.empty()) finish(asio::error::host_unreachable, nullptr);
    return;
  }
  if (staggering_ && !connecting_.empty()) return;
  asked_ = true;
  dialer_->ask(shared_from_this(),
               tried_ || retry_ ? Dialer::Urgency::later : Dialer::Urgency::first);
}

bool Dial::granted() {
  asked_ = false;
  if (!dialer_) return false;
  if (!tried_) out_of_time_after(options_.time_max);  // the wait for a socket does not count
  tried_ = true;
  auto attempt = std::make_shared<Attempt>(Attempt{untried_.front(), Tcp::socket(dialer_->io_)});
  untried_.pop_front();
  connecting_.push_back(attempt);
  attempt->socket.async_connect(
      attempt->address,
      [self = shared_from_this(), attempt](error_code error) { self->connected(attempt, error); });
  wait_stagger();
  return true;
}

void Dial::wait_stagger() {
  staggering_ = true;
  stagger_.expires_after(options_.stagger);
  stagger_.async_wait([self = shared_from_this()](error_code error) {
    if (error) return;
    self->staggering_ = false;
    self->advance();
  });
}

void Dial::connected(const std::shared_ptr<Attempt>& attempt, const error_code& error) {
  if (!dialer_) return;
  if (!error) return finish({}, attempt);
  note(text_of(attempt->address), error.message());
  std::erase(connecting_, attempt);
  dialer_->release();
  staggering_ = false;
  advance();
}

void Dial::out_of_time() {
  if (!dialer_) return;
  if (!tried_ && asked_) return out_of_time_after(options_.time_max);
  for (const auto& attempt : connecting_) note(text_of(attempt->address), "no answer");
  for (const auto& [lookup, name] : resolving_) note(name, "the name is not resolved in time");
  finish(asio::error::timed_out, nullptr);
}

void Dial::note(const std::string& address, const std::string& why) {
  if (failures_.size() >= failures_bytes_max) return;
  if (!failures_.empty()) failures_ += "; ";
  failures_ += fmt::format("{}: {}", address, why);
}

void Dial::finish(const error_code& error, const std::shared_ptr<Attempt>& winner) {
  Tcp::socket socket = winner ? std::move(winner->socket) : Tcp::socket(dialer_->io_);
  Dialer& dialer = *dialer_;
  const auto self = shared_from_this();
  stop();
  dialer.forget(this);
  if (error && failures_.empty()) failures_ = "there is no address to dial";
  const auto done = std::exchange(done_, nullptr);
  done({error, std::move(failures_), std::move(socket)});
}

void Dial::cancel() {
  if (!dialer_) return;
  done_ = nullptr;
  stop();
}

void Dial::stop() {
  Dialer& dialer = *std::exchange(dialer_, nullptr);
  deadline_.cancel();
  stagger_.cancel();
  for (const auto& [lookup, name] : std::exchange(resolving_, {})) dialer.resolver_.cancel(lookup);
  for (const auto& attempt : std::exchange(connecting_, {})) {
    error_code ignored;
    attempt->socket.close(ignored);
    dialer.release();
  }
}

}  // namespace canopy::net
