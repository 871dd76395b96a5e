#include "pastry/takeovers.hpp"

namespace canopy::pastry {

namespace {

constexpr std::size_t waiting_max = 64;

}  // namespace

void Takeovers::add(const Id& owner, MonoTime until, bool knows_self, MonoTime kept_until) {
  const auto before = std::ranges::find(waiting_, owner, &Wait::owner);
  if (before != waiting_.end()) knows_self &= before->knows_self;
  remove(owner);
  if (waiting_.size() == waiting_max) {
    waiting_.erase(std::ranges::min_element(waiting_, {}, &Wait::until));
  }
  waiting_.push_back({owner, until, knows_self, kept_until});
}

void Takeovers::remove(const Id& owner) {
  std::erase_if(waiting_, [&](const Wait& wait) { return wait.owner == owner; });
  if (waiting_.empty()) waiting_.shrink_to_fit();
}

void Takeovers::dispute(const Id& owner, PeerRef neighbor, MonoTime until) {
  const auto wait = std::ranges::find(waiting_, owner, &Wait::owner);
  if (wait == waiting_.end()) return;
  wait->disputed_by = neighbor;
  wait->disputed_until = until;
  wait->kept_until = std::max(wait->kept_until, until);
  wait->over = false;
}

bool Takeovers::agree(PeerRef neighbor) {
  return agree(neighbor, [](const Id&) { return false; });
}

const Takeovers::Wait* Takeovers::find(const Id& key, const Id& self, const Id& next,
                                       MonoTime now) const noexcept {
  const auto found = std::ranges::find_if(waiting_, [&](const Wait& wait) {
    return now < wait.until() && closer_to(key, wait.owner, wait.knows_self ? self : next);
  });
  return found == waiting_.end() ? nullptr : &*found;
}

bool Takeovers::wait_for(const Id& key, const Id& self, const Id& next,
                         MonoTime now) const noexcept {
  return find(key, self, next, now) != nullptr;
}

PeerRef Takeovers::disputing(const Id& key, const Id& self, const Id& next,
                             MonoTime now) const noexcept {
  const Wait* wait = find(key, self, next, now);
  return wait && now < wait->disputed_until ? wait->disputed_by : PeerRef{};
}

MonoTime Takeovers::deadline() const noexcept {
  MonoTime earliest = never;
  for (const Wait& wait : waiting_) {
    if (!wait.over) earliest = std::min(earliest, wait.until());
  }
  return earliest;
}

bool Takeovers::expire(MonoTime now) {
  bool any = false;
  for (Wait& wait : waiting_) {
    if (wait.over || wait.until() > now) continue;
    wait.over = any = true;
  }
  std::erase_if(waiting_, [now](const Wait& wait) { return wait.over && wait.kept_until <= now; });
  if (waiting_.empty()) waiting_.shrink_to_fit();
  return any;
}

}  // namespace canopy::pastry
