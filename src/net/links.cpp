#include "net/links.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "base/option_value.hpp"
#include "net/clock.hpp"
#include "net/log.hpp"
#include "wire/codec.hpp"

namespace canopy::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr Duration sweep_interval_max = std::chrono::seconds(5);
constexpr Duration idle_before_eviction = std::chrono::seconds(1);

Disconnect reason_of(StreamEnd::Kind kind) {
  switch (kind) {
    case StreamEnd::Kind::closed: return Disconnect::closed;
    case StreamEnd::Kind::malformed: return Disconnect::malformed;
    case StreamEnd::Kind::truncated:
    case StreamEnd::Kind::failed: return Disconnect::broken;
  }
  return Disconnect::broken;
}

}  // namespace

std::string_view to_string(Disconnect reason) noexcept {
  switch (reason) {
    case Disconnect::closed: return "closed by the other side";
    case Disconnect::idle: return "idle";
    case Disconnect::broken: return "broken";
    case Disconnect::stalled: return "the other side reads nothing";
    case Disconnect::malformed: return "malformed frame";
    case Disconnect::refused: return "refused by the other side";
    case Disconnect::restarted: return "the other side has started anew";
  }
  return "unknown";
}

Links::Links(asio::io_context& io, PeerTable& peers, LinkEvents& events, wire::Hello self,
             const LinkOptions& options, std::uint64_t seed)
    : io_(io),
      peers_(peers),
      events_(events),
      self_(std::move(self)),
      options_(options),
      random_(seed),
      book_(peers_, options_.outbox, counters_.dropped_full),
      dialer_(io, options_.dial),
      sweep_timer_(io),
      shutdown_timer_(io) {}

Links::~Links() {
  for (const auto& [number, link] : links_) link->abandon();
}

Endpoint Links::listen(const Endpoint& where) {
  listener_ = std::make_unique<TcpListener>(
      io_, where, [this](asio::ip::tcp::socket socket) { accepted(std::move(socket)); });
  return listener_->endpoint();
}

void Links::set_self(wire::Hello self) {
  CANOPY_ASSERT(self.peer.id == self_.peer.id);
  self_ = std::move(self);
}

// --- sending ---

void Links::send(PeerRef to, wire::Message message) {
  const auto traffic = wire::traffic_class(message);
  PeerEntry* entry = shutting_down_ ? nullptr : book_.find(to);
  if (!entry || !entry->link) {
    const PeerDescriptor& peer = peers_[to];
    const PeerEntry* other = book_.linked(peer.id);
    const bool stale = other && other->incarnation > peer.incarnation;
    const bool full = !entry && book_.size() >= options_.peers_max;
    if (shutting_down_ || stale || full || peer.id == self_.peer.id) {
      ++counters_.dropped_unreachable.of(traffic);
      const char* why = stale ? "the peer has started anew" : "too many peers at once";
      if (stale || full)
        asio::post(io_, guarded([this, to, why] { events_.unreachable(to, why); }));
      return;
    }
    if (!entry) entry = &book_.get(to);
  }
  entry->outbox.push(std::move(message));
  if (entry->link)
    entry->link->wake();
  else
    dial_if_due(*entry);
}

void Links::link_gather(Link& link, WriteBatch& batch) {
  PeerEntry* entry = link.use.entry;
  if (!entry || entry->link.get() != &link) return;
  // What is sent on a link that is about to give way could come too late.
  if (entry->greeting && own_dial_survives(self_.peer.id, entry->id)) return;
  Outbox& outbox = entry->outbox;
  while (!batch.full()) {
    const auto message = shutting_down_ ? outbox.pop_control() : outbox.pop();
    if (!message) break;
    auto frame = wire::encode(*message, peers_, link.use.send_groups, options_.frame_bytes_max);
    if (frame)
      batch.add(*frame);
    else if (++counters_.not_encodable, log_.allow())
      log::error("a {} for {} exceeds a limit of the protocol and is dropped",
                 wire::type_name(*message), peers_[link.use.peer].name);
  }
  if (!batch.empty()) link.use.last_used = mono_now();
  if (shutting_down_ && !batch.full()) link.leave();
}

// --- receiving ---

void Links::link_frame(Link& link, const wire::Frame& frame) {
  if (shutting_down_) return;
  link.use.last_used = mono_now();
  auto message = wire::decode(frame, peers_, link.use.receive_groups);
  if (!message) {
    ++pool_->counters.malformed;
    return link.fail({StreamEnd::Kind::malformed, message.error().reason});
  }
  if (*message)
    events_.received(link.use.peer, std::move(**message));
  else
    ++counters_.unknown;
}

// --- the end of a link ---

void Links::link_lost(Link& link, const StreamEnd& end) {
  const bool stranger = link.state() != Link::State::established;
  if (stranger && link.side() == Link::Side::accepted) ++counters_.handshakes_failed;
  if (end.kind != StreamEnd::Kind::closed && log_.allow())
    log::warn("link with {}: {}", format_endpoint(link.remote()), end.reason);
  PeerEntry* entry = link.use.entry;
  if (stranger) {
    if (PeerEntry* old = std::exchange(link.use.challenged, nullptr)) old->challenge.reset();
    if (link.side() == Link::Side::dialled)
      greeting_failed(link, make_error_code(errc::protocol), end.reason);
    return;
  }
  if (!entry || entry->link.get() != &link) return;
  if (end.kind != StreamEnd::Kind::closed) ++counters_.lost;
  lose_link(*entry, link.use.given_up ? Disconnect::stalled : reason_of(end.kind));
}

void Links::lose_link(PeerEntry& entry, Disconnect reason) {
  const auto link = std::exchange(entry.link, nullptr);
  --counters_.links;
  if (entry.challenge) return challenge_won(entry);
  if (const auto other = another_link(entry, *link)) {
    entry.link = other;
    ++counters_.links;
    return other->wake();
  }
  // Crossing dials: the other side has closed the one that gives way, and the
  // answer on the other is under way.
  if (entry.greeting && reason == Disconnect::closed) return;
  if (mono_now() - link->use.established_at >= options_.stable_after)
    entry.failures = 0;
  else if (reason != Disconnect::idle)
    ++entry.failures;
  if (entry.failures > 0) retry_later(entry);
  if (std::exchange(entry.announced, false)) events_.disconnected(entry.peer(), reason);
  if (entry.outbox.empty())
    erase_if_unused(entry);
  else
    dial_if_due(entry);
}

std::shared_ptr<Link> Links::another_link(const PeerEntry& entry, const Link& lost) const {
  for (const auto& [number, link] : links_) {
    if (link.get() != &lost && link->use.entry == &entry &&
        link->state() == Link::State::established)
      return link;
  }
  return nullptr;
}

void Links::link_gone(Link& link) {
  end_handshake(link);
  if (const auto successor = link.use.successor.lock()) successor->resume_reading();
  links_.erase(link.number());
  if (shutting_down_ && links_.empty()) end_shutdown();
}

void Links::erase_if_unused(PeerEntry& entry) {
  if (entry.link || entry.dial || entry.greeting || entry.challenge || entry.timer) return;
  if (!entry.outbox.empty()) return;
  for (const auto& [number, link] : links_) {
    if (link->use.entry == &entry) link->use.entry = nullptr;
  }
  book_.erase(entry);
}

// --- upkeep ---

// Room for one more, if need be by closing the link unused for longest.
bool Links::make_room_for_link() {
  if (counters_.links < options_.links_max) return true;
  PeerEntry* oldest = nullptr;
  book_.for_each([&](PeerEntry& entry) {
    if (!entry.link || !entry.outbox.empty()) return;
    if (oldest && oldest->link->use.last_used <= entry.link->use.last_used) return;
    if (!events_.wanted(entry.peer())) oldest = &entry;
  });
  if (!oldest || mono_now() - oldest->link->use.last_used < idle_before_eviction) return false;
  close_idle(*oldest);
  return true;
}

void Links::close_idle(PeerEntry& entry) {
  const auto link = entry.link;
  ++counters_.idle_closed;
  link->leave();
  lose_link(entry, Disconnect::idle);
}

void Links::sweep_later() {
  if (std::exchange(sweep_armed_, true)) return;
  const Duration shortest = std::min(options_.idle_time_max, options_.stall_time_max);
  sweep_timer_.expires_after(std::min(shortest / 2, sweep_interval_max));
  sweep_timer_.async_wait(guarded([this](error_code error) {
    if (!error) sweep();
  }));
}

void Links::sweep() {
  sweep_armed_ = false;
  if (const auto suppressed = log_.take_suppressed())
    log::warn("{} more lines about links were left out", suppressed);
  const MonoTime now = mono_now();
  std::vector<PeerEntry*> idle;
  std::vector<std::shared_ptr<Link>> stalled;
  book_.for_each([&](PeerEntry& entry) {
    if (!entry.link) return;
    const Link& link = *entry.link;
    if (link.stalled_since() != never && now - link.stalled_since() >= options_.stall_time_max)
      stalled.push_back(entry.link);
    else if (now - link.use.last_used >= options_.idle_time_max && entry.outbox.empty() &&
             !entry.challenge && !events_.wanted(entry.peer()))
      idle.push_back(&entry);
  });
  for (PeerEntry* entry : idle) close_idle(*entry);
  for (const auto& link : stalled) {
    ++counters_.stalled;
    link->use.given_up = true;
    link->fail({StreamEnd::Kind::failed, "the peer reads nothing"});
  }
  if (counters_.links > 0) sweep_later();
}

bool Links::has_link(PeerRef peer) {
  const PeerEntry* entry = book_.find(peer);
  return entry && entry->link;
}

std::size_t Links::queued_bytes(PeerRef peer) {
  const PeerEntry* entry = book_.find(peer);
  return entry ? entry->outbox.bytes() : 0;
}

void Links::collect_refs(std::vector<PeerRef>& refs) const {
  book_.for_each([&](const PeerEntry& entry) {
    refs.insert(refs.end(), entry.refs.begin(), entry.refs.end());
    if (entry.challenge) refs.push_back(entry.challenge->peer);
  });
  for (const auto& [number, link] : links_) {
    if (link->use.peer) refs.push_back(link->use.peer);
  }
}

LinkCounters Links::counters() const {
  LinkCounters counters = counters_;
  counters.stream = pool_->counters;
  counters.dial_attempts = dialer_.attempts_total();
  if (listener_) counters.accept_errors = listener_->accept_errors();
  counters.peers = book_.size();
  book_.for_each([&](const PeerEntry& entry) {
    counters.queued_messages += entry.outbox.messages();
    counters.queued_bytes += entry.outbox.bytes();
  });
  return counters;
}

// --- shutdown ---

void Links::shutdown(std::function<void()> done) {
  if (std::exchange(shutting_down_, true)) return;
  shutdown_done_ = std::move(done);
  asio::post(io_, guarded([this] { begin_shutdown(); }));
}

void Links::begin_shutdown() {
  listener_.reset();
  std::vector<PeerEntry*> entries;
  book_.for_each([&](PeerEntry& entry) { entries.push_back(&entry); });
  for (PeerEntry* entry : entries) {
    if (entry->dial) dialer_.cancel(std::exchange(entry->dial, nullptr));
    entry->timer.reset();
    entry->challenge.reset();
    if (entry->link)
      entry->outbox.drop_bulk(counters_.dropped_unreachable);
    else
      entry->outbox.drop_all(counters_.dropped_unreachable);
  }
  const auto links = links_;
  for (const auto& [number, link] : links) {
    const PeerEntry* entry = link->use.entry;
    const bool established = link->state() == Link::State::established;
    if (established && entry && entry->link == link)
      link->wake();
    else if (established)
      link->leave();
    else if (link->state() != Link::State::leaving)
      link->fail({StreamEnd::Kind::closed, "shutting down"});
  }
  if (links_.empty()) return end_shutdown();
  shutdown_timer_.expires_after(options_.drain_time_max);
  shutdown_timer_.async_wait(guarded([this](error_code error) {
    if (!error) end_shutdown();
  }));
}

void Links::end_shutdown() {
  shutdown_timer_.cancel();
  for (const auto& [number, link] : std::exchange(links_, {})) link->abandon();
  book_.for_each([](PeerEntry& entry) { entry.link.reset(); });
  counters_.links = 0;
  if (const auto done = std::exchange(shutdown_done_, nullptr)) done();
}

}  // namespace canopy::net
