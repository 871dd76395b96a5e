#include "sim/order_checker.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace canopy::sim {

namespace {

constexpr std::size_t findings_max = 10;

std::string text_of(const OrderChecker::Member& member, const Id& group,
                    const wire::Position& position, const char* what) {
  return fmt::format("node {} of group {}: {} {:x}/{}", member.first, group.to_hex().substr(0, 8),
                     what, position.epoch, position.sequence);
}

}  // namespace

void OrderChecker::find(const Member& member, const Id& group, const wire::Position& position,
                        const char* what) {
  if (findings_.size() < findings_max) findings_.push_back(text_of(member, group, position, what));
}

void OrderChecker::seen(const wire::Multicast& multicast) {
  place(multicast.group, multicast.id, {multicast.epoch, multicast.sequence});
}

void OrderChecker::published(const Id& group, const scribe::PublishOutcome& outcome) {
  if (!outcome.error) place(group, outcome.id, {outcome.epoch, outcome.sequence});
}

void OrderChecker::place(const Id& group, const wire::MessageId& id,
                         const wire::Position& position) {
  if (position.epoch == 0) return;
  const std::size_t before = places_.size();
  const auto [place, fresh] = places_.try_emplace({group, position}, id);
  if (fresh) places_of_[id].push_back({position, before});
  if (!fresh && place->second != id) find({}, group, position, "two messages have the position");
}

OrderChecker::Progress& OrderChecker::progress_of(const Member& member, const Id& group) {
  const auto [entry, fresh] = progress_.try_emplace({member, group});
  if (fresh) entry->second.begun = places_.size();
  return entry->second;
}

void OrderChecker::delivered(const Member& member, const wire::Multicast& multicast) {
  if (multicast.epoch == 0) return;
  ++deliveries_;
  seen(multicast);
  const wire::Position position{multicast.epoch, multicast.sequence};
  Progress& progress = progress_of(member, multicast.group);
  advance(progress, member, multicast.group, {position.epoch, position.sequence - 1});
  if (progress.last && position <= *progress.last) {
    find(member, multicast.group, position, "got, after a later one,");
  }
  progress.last = position;
  if (!progress.received.insert(multicast.id).second) {
    find(member, multicast.group, position, "got a message for the second time at");
  }
  std::uint64_t& latest = progress.latest_of[{multicast.id.publisher, multicast.id.incarnation}];
  if (multicast.id.sequence < latest) {
    find(member, multicast.group, position, "got a publisher's messages out of order at");
  }
  latest = std::max(latest, multicast.id.sequence);
}

void OrderChecker::gap(const Member& member, const Id& group, const scribe::Missed& missed) {
  ++gaps_;
  const wire::Position first{missed.epoch, missed.first};
  Progress& progress = progress_of(member, group);
  advance(progress, member, group, {missed.epoch, missed.first - 1});
  if (progress.last && first <= *progress.last) {
    find(member, group, first, "was told to miss what it has had,");
  }
  progress.open_ended = missed.last == 0;
  progress.last = {missed.epoch, missed.last == 0 ? missed.first - 1 : missed.last};
}

// Everything from where the member is up to here is passed over.
void OrderChecker::advance(Progress& progress, const Member& member, const Id& group,
                           const wire::Position& to) {
  if (progress.last && !progress.open_ended && to > *progress.last) {
    passed_over_.push_back({member, group, *progress.last, to, progress.begun});
    progress.last = to;
  }
  progress.open_ended = false;
}

void OrderChecker::left(const Member& member, const Id& group) {
  const auto found = progress_.find({member, group});
  if (found == progress_.end()) return;
  had_before_[found->first].merge(found->second.received);
  progress_.erase(found);
}

void OrderChecker::forgets(const Member& member) {
  for (auto& [key, progress] : progress_) {
    if (key.first != member) continue;
    had_before_[key].merge(progress.received);
    progress.received.clear();
    progress.latest_of.clear();
  }
}

bool OrderChecker::had(const PassedOver& passed, const wire::MessageId& id) const {
  const std::pair<Member, Id> key{passed.member, passed.group};
  const auto now = progress_.find(key);
  if (now != progress_.end() && now->second.received.contains(id)) return true;
  const auto before = had_before_.find(key);
  return before != had_before_.end() && before->second.contains(id);
}

// Its node had it there: what came before a membership is no part of it.
bool OrderChecker::elsewhere_before(const PassedOver& passed, const Place& place,
                                    const wire::MessageId& id) const {
  return std::ranges::any_of(places_of_.at(id), [&](const Given& given) {
    return given.places < passed.begun && given.position != place.second;
  });
}

Findings OrderChecker::judge() const {
  Findings findings = findings_;
  for (const PassedOver& passed : passed_over_) {
    const auto end = places_.upper_bound({passed.group, passed.to});
    for (auto place = places_.upper_bound({passed.group, passed.after}); place != end; ++place) {
      if (elsewhere_before(passed, place->first, place->second)) continue;
      if (had(passed, place->second) || findings.size() >= findings_max) continue;
      findings.push_back(text_of(passed.member, passed.group, place->first.second,
                                 "was neither given nor told to miss"));
    }
  }
  return findings;
}

}  // namespace canopy::sim
