#include "node/group_record.hpp"

#include <algorithm>
#include <utility>

#include "net/log.hpp"

namespace canopy::node {

GroupRecord::GroupRecord(std::string name, TimerQueue& timers, Keep keep, Written written)
    : name_(std::move(name)),
      timers_(timers),
      keep_(std::move(keep)),
      written_(std::move(written)) {}

void GroupRecord::keep(const wire::GroupState& state) { change(state.group, state); }

void GroupRecord::forget(const Id& id) { change(id, std::nullopt); }

void GroupRecord::change(const Id& id, std::optional<wire::GroupState> state) {
  waiting_[id] = std::move(state);
  if (under_way_.empty()) write();
}

void GroupRecord::write() {
  retry_ = TimerQueue::none;
  while (!waiting_.empty() && under_way_.size() < batch_max) {
    auto first = waiting_.extract(waiting_.begin());
    under_way_.push_back({first.key(), std::move(first.mapped())});
  }
  if (!under_way_.empty())
    keep_(under_way_, [this](boost::system::error_code error) { tried(error); });
}

void GroupRecord::tried(boost::system::error_code error) {
  if (error) {
    ++failures_;
    if (!std::exchange(failing_, true))
      log::error("{}: cannot keep groups on disk: {}: trying again until they are there", name_,
                 error.message());
    retry_ = timers_.after(pause_, [this] { write(); });
    pause_ = std::min(2 * pause_, pause_max);
    return;
  }
  if (std::exchange(failing_, false)) log::info("{}: groups are on disk again", name_);
  pause_ = pause_min;
  for (const GroupFiles::Change& change : std::exchange(under_way_, {}))
    if (change.state) written_(*change.state);
  // What has come within these calls may be under way by now.
  if (under_way_.empty()) write();
}

}  // namespace canopy::node
