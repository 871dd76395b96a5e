#include "node/arrival.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "net/clock.hpp"
#include "net/log.hpp"

namespace canopy::node {
namespace {

// Refusals that no waiting changes.
bool is_final(boost::system::error_code error) {
  return error == errc::wrong_cluster || error == errc::version;
}

// The seed turned out to be this very process.
bool is_self(boost::system::error_code error) { return error == errc::denied; }

// Somebody is there and says why it cannot be now.
bool is_refusal(boost::system::error_code error) {
  return error.category() == error_category() && error != errc::protocol;
}

double in_seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

Arrival::Arrival(const FoundingFacts& facts, std::string name,
                 const std::vector<std::string>& seeds, const Config& config, TimerQueue& timers,
                 Random random, ArrivalHost& host)
    : facts_(facts),
      knew_cluster_(facts.is_member),
      name_(std::move(name)),
      config_(config),
      timers_(timers),
      host_(host),
      random_(random),
      seeds_(seeds, config.seeds, random_.fork()) {}

Arrival::~Arrival() { stop(); }

void Arrival::remember(const std::vector<std::string>& addresses) {
  seeds_.remember(addresses);
  facts_.knows_peers = !addresses.empty();
}

void Arrival::start() {
  running_ = true;
  if (first() != FoundingStep::ask_seeds) return begin_alone(first());
  patience_timer_ = timers_.after(config_.patience, [this] { patience_over(); });
  dial_due();
}

void Arrival::stop() {
  running_ = false;
  timers_.cancel(dial_timer_);
  timers_.cancel(patience_timer_);
}

void Arrival::begin_alone(FoundingStep step) {
  timers_.cancel(patience_timer_);
  if (step == FoundingStep::found) {
    host_.found_cluster();
  } else {
    host_.resume_alone();
  }
}

void Arrival::dial_due() {
  timers_.cancel(dial_timer_);
  dial_timer_ = TimerQueue::none;
  for (const std::string& seed : seeds_.due(net::mono_now())) host_.dial_seed(seed);
  if (seeds_.next() != never) dial_timer_ = timers_.at(seeds_.next(), [this] { dial_due(); });
}

void Arrival::seed_answered(const std::string& seed, PeerRef peer) {
  if (!running_) return;
  seeds_.connected(seed);
  if (settled()) {
    add_contact({seed, peer});
    return host_.join_by(peer);
  }
  log::info("{}: {} answers", name_, described(seed));
  use({seed, peer});
  dial_due();
}

std::string Arrival::described(const std::string& seed) const {
  return (seeds_.is_remembered(seed) ? "known peer " : "seed ") + seed;
}

// Who founds has nobody to look for; who was a member before may be alone only
// because it was told of no seed.
bool Arrival::looks_for_others() const { return running_ && (knew_cluster_ || !seeds_.empty()); }

void Arrival::member_met(PeerRef peer) {
  if (!looks_for_others() || (active_ && !host_.alone())) return;
  const bool known = std::any_of(contacts_.begin(), contacts_.end(),
                                 [peer](const Contact& contact) { return contact.peer == peer; });
  if (!known) use({"", peer});
}

// A peer may be several seeds, each of which is to be dialled again when it is lost.
void Arrival::add_contact(const Contact& contact) {
  std::erase_if(contacts_, [&](const Contact& known) {
    return known.peer == contact.peer && (known.seed.empty() || known.seed == contact.seed);
  });
  contacts_.push_back(contact);
}

void Arrival::use(const Contact& contact) {
  add_contact(contact);
  if (!active_ || host_.alone()) host_.join_by(contact.peer);
}

void Arrival::seed_failed(const std::string& seed, boost::system::error_code error,
                          std::string_view text) {
  if (!running_) return;
  if (is_self(error)) return seed_is_self(seed);
  if (is_final(error) && !active_) return seed_refused(seed, error, text);
  const Duration pause = seeds_.failed(seed, net::mono_now());
  // Of those that are only remembered, nobody says that they are to be there.
  if (settled() || (active_ && seeds_.is_remembered(seed))) return;
  log::warn("{}: {} {} ({}); trying again in {:.1f} s", name_, described(seed),
            is_refusal(error) ? "refuses" : "does not answer", text, in_seconds(pause));
  if (!active_) dial_due();
}

void Arrival::seed_refused(const std::string& seed, boost::system::error_code error,
                           std::string_view text) {
  const Duration pause = seeds_.refused(seed, net::mono_now());
  if (!knew_cluster_ || (contacts_.empty() && seeds_.all_refuse()))
    return host_.give_up(error, fmt::format("{} refuses: {}", described(seed), text));
  log::warn("{}: {} refuses ({}) and is passed over; trying it again in {:.1f} s", name_,
            described(seed), text, in_seconds(pause));
  dial_due();
}

void Arrival::seed_is_self(const std::string& seed) {
  seeds_.is_self(seed);
  log::info("{}: {} is this node itself and is not used", name_, described(seed));
  if (seeds_.only_self() && !facts_.is_member && !facts_.may_found)
    log::warn(
        "{}: no seed but this node itself is given, so that nobody can be joined: give another "
        "with --join, or --found to found a cluster",
        name_);
  if (!active_) dial_due();
}

void Arrival::peer_lost(PeerRef peer) {
  for (auto contact = contacts_.begin(); contact != contacts_.end();) {
    if (contact->peer != peer) {
      ++contact;
      continue;
    }
    seeds_.failed(contact->seed, net::mono_now());
    contact = contacts_.erase(contact);
  }
  if (running_ && !active_) dial_due();
}

void Arrival::activated() {
  active_ = true;
  timers_.cancel(patience_timer_);
  timers_.cancel(dial_timer_);
  next_seed_ = net::mono_now() + random_.jittered(config_.seed_pause, 0.5);
  if (looks_for_others())
    patience_timer_ = timers_.after(config_.lonely_pause, [this] { look_around(); });
}

void Arrival::patience_over() {
  const FoundingStep step = step_without_seeds(facts_);
  const bool smallest =
      std::all_of(contacts_.begin(), contacts_.end(),
                  [&](const Contact& contact) { return host_.smaller_id_than(contact.peer); });
  const bool unheard = contacts_.empty() && seeds_.all_tried();
  const bool all_wait = !contacts_.empty() && smallest && step == FoundingStep::resume;
  if (step != FoundingStep::ask_seeds && (unheard || all_wait)) {
    log::warn("{}: no {} {}: going ahead alone", name_,
              facts_.has_seeds ? "seed" : "peer that it knows", all_wait ? "is active" : "answers");
    return begin_alone(step);
  }
  patience_timer_ = timers_.after(config_.patience, [this] { patience_over(); });
}

void Arrival::look_around() {
  if (host_.alone()) {
    for (const Contact& contact : contacts_) host_.join_by(contact.peer);
    dial_due();
  } else if (next_seed_ <= net::mono_now()) {
    next_seed_ = net::mono_now() + random_.jittered(config_.seed_pause, 0.1);
    if (random_.chance(config_.seed_tries / host_.ring_size())) try_seed();
  }
  patience_timer_ = timers_.after(config_.lonely_pause, [this] { look_around(); });
}

void Arrival::try_seed() {
  if (const auto seed = seeds_.one_again()) host_.dial_seed(*seed);
}

void Arrival::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const Contact& contact : contacts_) in_use.push_back(contact.peer);
}

}  // namespace canopy::node
