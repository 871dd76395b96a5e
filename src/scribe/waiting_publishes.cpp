#include "scribe/waiting_publishes.hpp"

#include <utility>

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
  early_.emplace(before, Early{publish, now});
  return true;
}

bool WaitingPublishes::has_early(const wire::Publish& publish) const {
  const auto found = early_.find({publish.id.publisher, publish.id.incarnation, publish.after});
  return found != early_.end() && found->second.publish.id == publish.id;
}

std::optional<wire::Publish> WaitingPublishes::take_after(const wire::MessageId& id) {
  const auto found = early_.find(id);
  if (found == early_.end()) return std::nullopt;
  wire::Publish publish = std::move(found->second.publish);
  early_.erase(found);
  room_.give_back(publish.body.size());
  return publish;
}

bool WaitingPublishes::add(const wire::Publish& publish) {
  if (!room_.has_room_for(publish.body.size())) return false;
  room_.take(publish.body.size());
  all_.push_back(publish);
  return true;
}

std::vector<wire::Publish> WaitingPublishes::take_all() {
  for (const wire::Publish& publish : all_) room_.give_back(publish.body.size());
  return std::exchange(all_, {});
}

void WaitingPublishes::collect_peers(std::vector<PeerRef>& in_use) const {
  for (const auto& [before, early] : early_) in_use.push_back(early.publish.origin);
  for (const wire::Publish& publish : all_) in_use.push_back(publish.origin);
}

}  // namespace canopy::scribe
