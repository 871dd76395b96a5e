// How links are agreed on: who is refused, and which of two links stays.

#include <canopy/error.hpp>

#include "base/option_value.hpp"
#include "net/clock.hpp"
#include "net/links.hpp"
#include "net/log.hpp"

namespace canopy::net {

using boost::system::error_code;
using wire::HelloReject;
using wire::RejectCode;

namespace {

errc errc_of(RejectCode code) {
  switch (code) {
    case RejectCode::wrong_cluster:
    case RejectCode::parameters: return errc::wrong_cluster;
    case RejectCode::version: return errc::version;
    case RejectCode::not_member: return errc::not_active;
    case RejectCode::busy: return errc::limit;
    case RejectCode::shutting_down: return errc::shutting_down;
    case RejectCode::malformed: return errc::protocol;
    case RejectCode::wrong_peer: return errc::unreachable;
    case RejectCode::duplicate_name: return errc::name_conflict;
    case RejectCode::self: return errc::denied;
  }
  return errc::denied;
}

std::string place_of(const PeerDescriptor& peer, const Endpoint& remote) {
  return format_endpoint(peer.addresses.empty() ? remote : peer.addresses.front());
}

HelloReject name_in_use(const PeerDescriptor& holder, const Endpoint& remote) {
  return {RejectCode::duplicate_name, fmt::format("the name {} is in use by {}: choose another",
                                                  holder.name, place_of(holder, remote))};
}

}  // namespace

void Links::link_hello(Link& link, wire::Hello hello) {
  if (const auto reject = refusal_of(link, hello)) return refuse(link, *reject);
  if (hello.peer.id == self_.peer.id) return refuse_namesake(link, hello.peer);
  const PeerRef peer = peers_.intern(hello.peer);
  PeerEntry* rival = book_.linked(hello.peer.id);
  if (rival)
    settle(link, hello, peer, *rival);
  else if (link.side() == Link::Side::accepted && !make_room_for_link())
    refuse(link, {RejectCode::busy, "this peer has as many links as it may have"});
  else
    take(link, hello, peer);
}

std::optional<HelloReject> Links::refusal_of(const Link& link, const wire::Hello& hello) const {
  if (shutting_down_) return HelloReject{RejectCode::shutting_down, "this peer is leaving"};
  auto reject = wire::check_compatible(self_, hello);
  if (reject && reject->code != RejectCode::duplicate_name) return reject;
  const PeerEntry* wanted = link.use.entry;
  if (wanted && wanted->id != hello.peer.id)
    return HelloReject{
        RejectCode::wrong_peer,
        fmt::format("wanted {} there, but found {}", peers_[wanted->peer()].name, hello.peer.name)};
  return std::nullopt;
}

// Of two processes with one name the one that started later has to go.
void Links::refuse_namesake(Link& link, const PeerDescriptor& other) {
  if (self_.peer.incarnation < other.incarnation)
    return refuse_quietly(link, name_in_use(self_.peer, link.remote()));
  const HelloReject reject = name_in_use(other, link.remote());
  events_.rejected({link.remote(), reject.code, reject.text});
  refuse_quietly(link, {RejectCode::shutting_down,
                        fmt::format("this process was started with your name {} and has to go",
                                    self_.peer.name)});
}

void Links::refuse(Link& link, const HelloReject& reject) {
  if (link.side() == Link::Side::dialled && reject.code != RejectCode::self)
    events_.rejected({link.remote(), reject.code, reject.text});
  refuse_quietly(link, reject);
}

void Links::refuse_quietly(Link& link, const HelloReject& reject) {
  ++counters_.rejects_sent;
  end_handshake(link);
  link.refuse(reject);
  if (log_.allow())
    log::warn("link with {} refused: {}", format_endpoint(link.remote()), reject.text);
  if (link.side() == Link::Side::dialled) greeting_failed(link, errc_of(reject.code), reject.text);
}

void Links::link_rejected(Link& link, const HelloReject& reject) {
  ++counters_.rejects_received;
  end_handshake(link);
  if (log_.allow())
    log::warn("{} refuses the link: {}", format_endpoint(link.remote()), reject.text);
  if (PeerEntry* old = std::exchange(link.use.challenged, nullptr)) old->challenge.reset();
  PeerEntry* entry = link.use.entry;
  const bool current = entry && entry->link.get() == &link;
  if (reject.code != RejectCode::self && link.side() == Link::Side::dialled)
    events_.rejected({link.remote(), reject.code, reject.text});
  if (current)
    lose_link(*entry, Disconnect::refused);
  else
    greeting_failed(link, errc_of(reject.code), reject.text);
}

// --- two links of one peer ---

void Links::settle(Link& link, const wire::Hello& hello, PeerRef peer, PeerEntry& rival) {
  const Link& old_link = *rival.link;
  const LinkFacts before{&peers_[old_link.use.peer], old_link.side() == Link::Side::dialled};
  const LinkFacts now{&hello.peer, link.side() == Link::Side::dialled};
  const Verdict verdict = judge(self_.peer.id, before, mono_now() - old_link.use.established_at,
                                now, options_.handshake_time_max * 2);
  switch (verdict) {
    case Verdict::replace_dead: return take(link, hello, peer);
    case Verdict::replace:
    case Verdict::keep:
    case Verdict::keep_both: return take_beside(link, peer, rival, verdict);
    case Verdict::ask_old: return challenge(rival, link, hello, peer);
    case Verdict::refuse_stale:
      return refuse(link, {RejectCode::duplicate_name, "this peer has started anew since"});
  }
}

// The link becomes the one to send by.
void Links::take(Link& link, const wire::Hello& hello, PeerRef peer) {
  PeerEntry& entry = book_.get(peer);
  PeerEntry* wanted = establish(link, entry, peer);
  entry.link = links_.at(link.number());
  ++counters_.links;
  retire_others(entry, wanted);
  if (!std::exchange(entry.announced, true)) events_.connected(peer, hello);
  report_seed(link);
  link.wake();
  sweep_later();
}

// The peer keeps a link; this one takes its place, or makes way.
void Links::take_beside(Link& link, PeerRef peer, PeerEntry& entry, Verdict verdict) {
  ++counters_.duplicates;
  PeerEntry* wanted = establish(link, entry, peer);
  const auto old_link = entry.link;
  if (verdict == Verdict::keep)
    link.leave();
  else
    entry.link = links_.at(link.number());
  if (verdict == Verdict::replace) {
    // What the other side wrote before it changed over comes first.
    link.pause_reading();
    old_link->use.successor = entry.link;
    old_link->leave();
  }
  retire_others(entry, wanted);
  report_seed(link);
  entry.link->wake();
}

// Agrees. Returns the peer that was dialled, which another may have answered for.
PeerEntry* Links::establish(Link& link, PeerEntry& entry, PeerRef peer) {
  PeerEntry* wanted = std::exchange(link.use.entry, &entry);
  if (wanted && wanted->greeting.get() == &link) wanted->greeting.reset();
  if (entry.dial) dialer_.cancel(std::exchange(entry.dial, nullptr));
  entry.timer.reset();
  entry.retry_at = {};
  link.use.peer = peer;
  link.use.established_at = link.use.last_used = mono_now();
  end_handshake(link);
  link.establish(link.side() == Link::Side::accepted ? &self_ : nullptr);
  ++counters_.established;
  return wanted == &entry ? nullptr : wanted;
}

void Links::report_seed(Link& link) {
  const SeedDone done = std::exchange(link.use.seed_done, nullptr);
  if (!done) return;
  --seeds_dialling_;
  done({}, link.use.peer, {});
}

void Links::retire_others(const PeerEntry& entry, const PeerEntry* wanted) {
  for (PeerEntry* other : book_.others(entry)) {
    if (other->incarnation < entry.incarnation)
      retire(*other);
    else if (other == wanted)
      dial_failed(*other, "an earlier start of the peer answers there");
  }
}

// The process is known to be dead.
void Links::retire(PeerEntry& entry) {
  entry.outbox.drop_all(counters_.dropped_unreachable);
  entry.timer.reset();
  if (entry.dial) dialer_.cancel(std::exchange(entry.dial, nullptr));
  if (const auto greeting = std::exchange(entry.greeting, nullptr)) drop(*greeting);
  if (entry.challenge)
    end_challenge(entry, {RejectCode::busy, "the peer of this name has just started anew"});
  const auto links = links_;
  for (const auto& [number, link] : links) {
    if (link->use.entry == &entry) drop(*link);
  }
  if (std::exchange(entry.link, nullptr)) {
    --counters_.links;
    ++counters_.replaced;
  }
  const std::vector<PeerRef> refs = entry.refs;
  const bool announced = std::exchange(entry.announced, false);
  if (announced) events_.disconnected(refs.front(), Disconnect::restarted);
  for (const PeerRef peer : refs) {
    if (!announced) events_.unreachable(peer, "the peer has started anew");
  }
  book_.erase(entry);
}

void Links::drop(Link& link) {
  end_handshake(link);
  if (const auto successor = link.use.successor.lock()) successor->resume_reading();
  const auto held = links_.extract(link.number());
  link.abandon();
}

// --- two processes with one name ---

// The one that is linked stays if it still answers.
void Links::challenge(PeerEntry& entry, Link& link, const wire::Hello& hello, PeerRef peer) {
  if (entry.challenge)
    return refuse(link, {RejectCode::busy, "another process claims the same name just now"});
  entry.challenge = std::make_shared<Challenge>(
      Challenge{links_.at(link.number()), hello, peer,
                boost::asio::steady_timer(io_, options_.alive_check_time_max)});
  link.use.challenged = &entry;
  const std::weak_ptr<Challenge> current = entry.challenge;
  entry.challenge->deadline.async_wait(guarded([this, &entry, current](error_code error) {
    if (!error && !current.expired()) challenge_won(entry);
  }));
  entry.link->ask_alive();
}

void Links::link_alive(Link& link) {
  PeerEntry* entry = link.use.entry;
  if (entry && entry->challenge && entry->link.get() == &link)
    end_challenge(*entry, name_in_use(peers_[link.use.peer], link.remote()));
}

void Links::end_challenge(PeerEntry& entry, const HelloReject& reject) {
  const auto challenge = std::exchange(entry.challenge, nullptr);
  challenge->link->use.challenged = nullptr;
  refuse(*challenge->link, reject);
}

void Links::challenge_won(PeerEntry& entry) {
  const auto challenge = std::exchange(entry.challenge, nullptr);
  challenge->link->use.challenged = nullptr;
  if (const auto old_link = std::exchange(entry.link, nullptr)) {
    --counters_.links;
    drop(*old_link);
  }
  if (std::exchange(entry.announced, false))
    events_.disconnected(entry.peer(), Disconnect::restarted);
  take(*challenge->link, challenge->hello, challenge->peer);
  ++counters_.replaced;
}

}  // namespace canopy::net
