#include "net/dialer.hpp"

#include <algorithm>
#include <utility>

#include "net/dial.hpp"

namespace canopy::net {

Dialer::Dialer(boost::asio::io_context& io, const DialOptions& options)
    : io_(io), options_(options), resolver_(io) {}

Dialer::~Dialer() {
  for (const auto& dial : std::exchange(dials_, {})) dial->cancel();
}

std::shared_ptr<Dial> Dialer::start(std::vector<Endpoint> addresses, bool retry, Done done) {
  auto dial = std::make_shared<Dial>(*this, retry, std::move(done));
  dials_.push_back(dial);
  dial->start(addresses);
  return dial;
}

void Dialer::cancel(const std::shared_ptr<Dial>& dial) {
  dial->cancel();
  forget(dial.get());
}

void Dialer::forget(const Dial* dial) {
  std::erase_if(dials_, [dial](const auto& held) { return held.get() == dial; });
}

void Dialer::ask(const std::shared_ptr<Dial>& dial, Urgency urgency) {
  (urgency == Urgency::first ? first_waiting_ : later_waiting_).push_back(dial);
  serve();
}

void Dialer::release() {
  --attempts_;
  serve();
}

void Dialer::serve() {
  while (serve_from(first_waiting_, options_.attempts_max)) {
  }
  while (serve_from(later_waiting_, std::max<std::size_t>(options_.attempts_max / 2, 1))) {
  }
}

bool Dialer::serve_from(std::deque<std::weak_ptr<Dial>>& waiting, std::size_t attempts_max) {
  if (waiting.empty() || attempts_ >= attempts_max) return false;
  const auto dial = waiting.front().lock();
  waiting.pop_front();
  if (dial && dial->granted()) {
    ++attempts_;
    ++attempts_total_;
  }
  return true;
}

}  // namespace canopy::net
