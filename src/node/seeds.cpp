#include "node/seeds.hpp"

#include <algorithm>
#include <utility>

namespace canopy::node {

Seeds::Seeds(const std::vector<std::string>& addresses, const Config& config, Random random)
    : config_(config), random_(random) {
  for (const std::string& address : addresses) add(address, false);
}

void Seeds::remember(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) add(address, true);
}

void Seeds::add(const std::string& address, bool remembered) {
  if (find(address)) return;
  Seed seed;
  seed.address = address;
  seed.remembered = remembered;
  seeds_.push_back(std::move(seed));
}

bool Seeds::is_remembered(std::string_view address) const noexcept {
  const Seed* seed = find(address);
  return seed && seed->remembered;
}

std::vector<std::string> Seeds::due(MonoTime now) {
  auto dialling =
      static_cast<std::size_t>(std::count_if(seeds_.begin(), seeds_.end(), [](const Seed& seed) {
        return seed.state == State::dialling;
      }));
  std::vector<std::string> addresses;
  for (Seed& seed : seeds_) {
    if (dialling == config_.dials_max) break;
    if (seed.state != State::waiting || seed.next > now) continue;
    seed.state = State::dialling;
    ++dialling;
    addresses.push_back(seed.address);
  }
  return addresses;
}

std::optional<std::string> Seeds::one_again() {
  std::vector<Seed*> choice;
  for (const bool remembered : {false, true}) {
    for (Seed& seed : seeds_) {
      const bool free = seed.state == State::waiting || seed.state == State::connected;
      if (free && seed.remembered == remembered) choice.push_back(&seed);
    }
    if (!choice.empty()) break;
  }
  if (choice.empty()) return std::nullopt;
  Seed& chosen = *choice[random_.below(choice.size())];
  chosen.state = State::dialling;
  return chosen.address;
}

MonoTime Seeds::next() const noexcept {
  MonoTime next = never;
  for (const Seed& seed : seeds_)
    if (seed.state == State::waiting) next = std::min(next, seed.next);
  return next;
}

Duration Seeds::failed(std::string_view address, MonoTime now) {
  Seed* seed = find(address);
  if (!seed || seed->state == State::self) return Duration::zero();
  Duration pause = config_.pause_min;
  for (unsigned n = 0; n < seed->failures && pause < config_.pause_max; ++n) pause *= 2;
  pause = random_.jittered(std::min(pause, config_.pause_max), 0.25);
  ++seed->failures;
  seed->state = State::waiting;
  seed->tried = true;
  seed->refuses = false;
  seed->next = now + pause;
  return pause;
}

Duration Seeds::refused(std::string_view address, MonoTime now) {
  const Duration pause = failed(address, now);
  Seed* seed = find(address);
  if (seed && seed->state == State::waiting) seed->refuses = true;
  return pause;
}

void Seeds::connected(std::string_view address) {
  Seed* seed = find(address);
  if (!seed) return;
  seed->state = State::connected;
  seed->tried = true;
  seed->refuses = false;
  seed->failures = 0;
}

void Seeds::is_self(std::string_view address) {
  Seed* seed = find(address);
  if (!seed) return;
  seed->state = State::self;
  seed->tried = true;
}

bool Seeds::only_self() const noexcept {
  return std::all_of(seeds_.begin(), seeds_.end(),
                     [](const Seed& seed) { return seed.state == State::self; });
}

bool Seeds::all_tried() const noexcept {
  return std::all_of(seeds_.begin(), seeds_.end(), [](const Seed& seed) { return seed.tried; });
}

bool Seeds::all_refuse() const noexcept {
  bool one_refuses = false;
  for (const Seed& seed : seeds_) {
    if (seed.state == State::self) continue;
    const bool no_help =
        seed.remembered ? seed.tried && seed.state != State::connected : seed.refuses;
    if (!no_help) return false;
    one_refuses = one_refuses || !seed.remembered;
  }
  return one_refuses;
}

const Seeds::Seed* Seeds::find(std::string_view address) const {
  auto found = std::find_if(seeds_.begin(), seeds_.end(),
                            [&](const Seed& seed) { return seed.address == address; });
  return found == seeds_.end() ? nullptr : &*found;
}

Seeds::Seed* Seeds::find(std::string_view address) {
  return const_cast<Seed*>(std::as_const(*this).find(address));
}

}  // namespace canopy::node
