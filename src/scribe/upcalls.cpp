#include "scribe/upcalls.hpp"

#include "scribe/events.hpp"

namespace canopy::scribe {

void Upcalls::run(Events& events) {
  if (running_) return;
  running_ = true;
  const auto told = std::exchange(waiting_, {});
  for (const auto& upcall : told) {
    if (const auto* message = std::get_if<wire::Multicast>(&upcall)) {
      events.multicast(*message);
    } else if (const auto* gap = std::get_if<Gap>(&upcall)) {
      events.gap(gap->group, gap->missed);
    } else if (const auto* lost = std::get_if<Lost>(&upcall)) {
      events.lost(lost->group, lost->count);
    } else {
      std::get<Call>(upcall)();
    }
  }
  running_ = false;
}

}  // namespace canopy::scribe
