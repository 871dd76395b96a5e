// How links come about: dials, retries, seeds, accepted connections.
#include <algorithm>
#include <netinet/tcp.h>

#include <boost/asio/detail/socket_option.hpp>
#include <boost/asio/post.hpp>

#include <canopy/error.hpp>

#include "base/option_value.hpp"
#include "net/clock.hpp"
#include "net/links.hpp"
#include "net/log.hpp"

namespace canopy::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

namespace {

// How long failures are remembered of a peer that nobody sends to any more.
constexpr int forget_after_backoffs = 3;

template <int Name>
using TcpOption = asio::detail::socket_option::integer<IPPROTO_TCP, Name>;

// Small messages leave at once. The rest is a backstop: dead peers are found
// by the protocol above, long before.
void configure(Tcp::socket& socket) {
  error_code ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  socket.set_option(TcpOption<TCP_KEEPIDLE>(30), ignored);   // seconds
  socket.set_option(TcpOption<TCP_KEEPINTVL>(10), ignored);  // seconds
  socket.set_option(TcpOption<TCP_KEEPCNT>(3), ignored);
  socket.set_option(TcpOption<TCP_USER_TIMEOUT>(60'000), ignored);  // milliseconds
}

Endpoint remote_of(const Tcp::socket& socket) {
  error_code error;
  const Tcp::endpoint remote = socket.remote_endpoint(error);
  if (error) return {"unknown", 0};
  asio::ip::address address = remote.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return {address.to_string(), remote.port()};
}

}  // namespace

std::shared_ptr<Link> Links::make_link(Link::Side side, Tcp::socket socket) {
  configure(socket);
  const Endpoint remote = remote_of(socket);
  auto link = std::make_shared<Link>(next_number_++, side, std::move(socket), remote, pool_,
                                     options_, static_cast<LinkHost&>(*this));
  links_.emplace(link->number(), link);
  return link;
}

// --- dialling ---

void Links::dial_if_due(PeerEntry& entry) {
  if (shutting_down_ || entry.link || entry.dial || entry.greeting) return;
  if (mono_now() < entry.retry_at) return;  // the timer will
  entry.timer.reset();
  ++counters_.dials;
  entry.dial = dialer_.start(
      addresses_of(entry), entry.failures > 0,
      guarded([this, &entry](DialResult result) { dialled(entry, std::move(result)); }));
}

std::vector<Endpoint> Links::addresses_of(const PeerEntry& entry) const {
  std::vector<Endpoint> addresses;
  for (const PeerRef peer : entry.refs) {
    for (const Endpoint& address : peers_[peer].addresses) {
      if (std::find(addresses.begin(), addresses.end(), address) == addresses.end())
        addresses.push_back(address);
    }
  }
  return addresses;
}

void Links::dialled(PeerEntry& entry, DialResult result) {
  entry.dial.reset();
  if (result.error) return dial_failed(entry, result.text);
  if (!make_room_for_link()) return dial_failed(entry, "too many links");
  greet(std::move(result), &entry, nullptr);
}

void Links::dial_failed(PeerEntry& entry, const std::string& text) {
  ++counters_.dials_failed;
  ++entry.failures;
  log::debug("peer {} cannot be reached: {}", peers_[entry.peer()].name, text);
  if (shutting_down_) return;
  if (entry.failures >= options_.failures_max) entry.outbox.drop_all(counters_.dropped_unreachable);
  retry_later(entry);
  const std::vector<PeerRef> refs = entry.refs;
  if (std::exchange(entry.announced, false)) events_.disconnected(entry.peer(), Disconnect::closed);
  for (const PeerRef peer : refs) events_.unreachable(peer, text);
}

void Links::retry_later(PeerEntry& entry) {
  Duration pause = options_.backoff_min;
  for (unsigned i = 1; i < entry.failures && pause < options_.backoff_max; ++i) pause *= 2;
  pause = random_.jittered(std::min(pause, options_.backoff_max), 0.5);
  entry.retry_at = mono_now() + pause;
  wait_to_retry(entry, pause);
}

void Links::wait_to_retry(PeerEntry& entry, Duration pause) {
  entry.timer = std::make_shared<asio::steady_timer>(io_, pause);
  const std::weak_ptr<asio::steady_timer> current = entry.timer;
  entry.timer->async_wait(guarded([this, &entry, current](error_code error) {
    if (!error && !current.expired()) retry(entry);
  }));
}

void Links::retry(PeerEntry& entry) {
  entry.timer.reset();
  if (!entry.outbox.empty()) return dial_if_due(entry);
  const Duration remembered = options_.backoff_max * forget_after_backoffs;
  if (mono_now() - entry.retry_at >= remembered)
    erase_if_unused(entry);
  else
    wait_to_retry(entry, remembered);
}

void Links::greet(DialResult result, PeerEntry* wanted, SeedDone seed_done) {
  const auto link = make_link(Link::Side::dialled, std::move(result.socket));
  link->use.entry = wanted;
  link->use.seed_done = std::move(seed_done);
  if (wanted) wanted->greeting = link;
  link->start(&self_);
}

void Links::greeting_failed(Link& link, const error_code& error, const std::string& text) {
  const std::string full = fmt::format("{}: {}", format_endpoint(link.remote()), text);
  if (const SeedDone done = std::exchange(link.use.seed_done, nullptr)) {
    --seeds_dialling_;
    ++counters_.dials_failed;
    done(error, {}, full);
  }
  PeerEntry* entry = link.use.entry;
  if (!entry || entry->greeting.get() != &link) return;
  link.use.entry = nullptr;
  entry->greeting.reset();
  // The peer's own dial may have come through, and waited for this one.
  if (entry->link)
    entry->link->wake();
  else
    dial_failed(*entry, full);
}

void Links::dial_seed(const Endpoint& seed, SeedDone done) {
  if (shutting_down_ || seeds_dialling_ >= options_.seeds_max) {
    const errc error = shutting_down_ ? errc::shutting_down : errc::limit;
    asio::post(io_, guarded([error, done = std::move(done)] {
                 const error_code code = error;
                 done(code, {}, code.message());
               }));
    return;
  }
  ++seeds_dialling_;
  ++counters_.dials;
  dialer_.start({seed}, false, guarded([this, done = std::move(done)](DialResult result) {
                  if (!result.error) return greet(std::move(result), nullptr, done);
                  --seeds_dialling_;
                  ++counters_.dials_failed;
                  done(result.error, {}, result.text);
                }));
}

// --- accepting ---

void Links::accepted(Tcp::socket socket) {
  ++counters_.accepted;
  const std::string host = remote_of(socket).host;
  const auto from_there = handshakes_by_host_.find(host);
  if (shutting_down_ || counters_.handshakes >= options_.handshakes_max ||
      (from_there != handshakes_by_host_.end() &&
       from_there->second >= options_.handshakes_per_address_max)) {
    ++counters_.accepts_refused;
    return;
  }
  ++handshakes_by_host_[host];
  ++counters_.handshakes;
  const auto link = make_link(Link::Side::accepted, std::move(socket));
  link->use.handshake_counted = true;
  link->start(nullptr);
}

void Links::end_handshake(Link& link) {
  if (!std::exchange(link.use.handshake_counted, false)) return;
  --counters_.handshakes;
  const auto from_there = handshakes_by_host_.find(link.remote().host);
  if (--from_there->second == 0) handshakes_by_host_.erase(from_there);
}

}  // namespace canopy::net
