#include "pastry/takeovers.hpp"

namespace canopy::pastry {

namespace {

constexpr std::size_t waiting_max = 64;

}  // namespace

void Takeovers::add(const Id& owner, MonoTime until, bool knows_self) {
  const auto before = std::ranges::find(waiting_, owner, &Wait::owner);
  if (before != waiting_.end()) knows_self &= before->knows_self;
  remove(owner);
  if (waiting_.size() == waiting_max) {
    waiting_.erase(std::ranges::min_element(waiting_, {}, &Wait::until));
  }
  waiting_.push_back({owner, until, knows_self});
}

void Takeovers::remove(const Id& owner) {
  std::erase_if(waiting_, [&](const Wait& wait) { return wait.owner == owner; });
  if (waiting_.empty()) waiting_.shrink_to_fit();
}

bool Takeovers::wait_for(const Id& key, const Id& self, const Id& next,
                         MonoTime now) const noexcept {
  return std::ranges::any_of(waiting_, [&](const Wait& wait) {
    return now < wait.until && closer_to(key, wait.owner, wait.knows_self ? self : next);
  });
}

MonoTime Takeovers::deadline() const noexcept {
  MonoTime earliest = never;
  for (const Wait& wait : waiting_) earliest = std::min(earliest, wait.until);
  return earliest;
}

bool Takeovers::expire(MonoTime now) {
  const bool any =
      std::erase_if(waiting_, [now](const Wait& wait) { return wait.until <= now; }) != 0;
  if (any && waiting_.empty()) waiting_.shrink_to_fit();
  return any;
}

}  // namespace canopy::pastry
