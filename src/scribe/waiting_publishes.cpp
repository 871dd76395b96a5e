#include "scribe/waiting_publishes.hpp"

#include <utility>

#include "scribe/time_left.hpp"

namespace canopy::scribe {

bool WaitingPublishes::add_early(const wire::Publish& publish, MonoTime now, MonoTime expired) {
  std::erase_if(early_, [&](const auto& entry) {
    if (entry.second.since >= expired) return false;
    room_.give_back(entry.second.publish.body.size());
    return true;
  });
  const wire::MessageId before{publish.id.publisher, publish.id.incarnation, publish.after};
  if (early_.contains(before)) return true;  // sent again
  if (!room_.has_room_for(publish.body.size())) return false;
  room_.take(publish.body.size());
  early_.emplace(before, Waiting{publish, now});
  return true;
}

bool WaitingPublishes::has_early(const wire::Publish& publish) const {
  const auto found = early_.find({publish.id.publisher, publish.id.incarnation, publish.after});
  return found != early_.end() && found->second.publish.id == publish.id;
}

std::optional<wire::Publish> WaitingPublishes::take_after(const wire::MessageId& id, MonoTime now) {
  const auto found = early_.find(id);
  if (found == early_.end()) return std::nullopt;
  wire::Publish publish = release(found->second, now);
  early_.erase(found);
  return publish;
}

bool WaitingPublishes::add(const wire::Publish& publish, MonoTime now) {
  if (!room_.has_room_for(publish.body.size())) return false;
  room_.take(publish.body.size());
  all_.push_back({publish, now});
  return true;
}

std::vector<wire::Publish> WaitingPublishes::take_all(MonoTime now) {
  std::vector<wire::Publish> all;
  for (Waiting& waiting : all_) all.push_back(release(waiting, now));
  all_.clear();
  return all;
}

wire::Publish WaitingPublishes::release(Waiting& waiting, MonoTime now) {
  room_.give_back(waiting.publish.body.size());
  wire::Publish& publish = waiting.publish;
  publish.reply_within_ms = left_after(publish.reply_within_ms, now - waiting.since);
  return std::move(publish);
}

void WaitingPublishes::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [before, early] : early_) in_use.push_back(early.publish.origin);
  for (const Waiting& waiting : all_) in_use.push_back(waiting.publish.origin);
}

}  // namespace canopy::scribe
