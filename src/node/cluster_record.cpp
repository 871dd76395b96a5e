#include "node/cluster_record.hpp"

#include <algorithm>
#include <utility>

#include "net/log.hpp"

namespace canopy::node {

ClusterRecord::ClusterRecord(std::string name, TimerQueue& timers, Keep keep)
    : name_(std::move(name)), timers_(timers), keep_(std::move(keep)) {}

void ClusterRecord::store(const Uuid& cluster) {
  retry_ = TimerQueue::none;
  keep_(cluster, [this, cluster](boost::system::error_code error) { tried(cluster, error); });
}

void ClusterRecord::tried(const Uuid& cluster, boost::system::error_code error) {
  if (!error) {
    if (failures_ > 0) log::info("{}: the cluster's UUID is on disk now", name_);
    return;
  }
  if (failures_++ == 0)
    log::error("{}: cannot keep the cluster's UUID on disk: {}: trying again until it is there",
               name_, error.message());
  retry_ = timers_.after(pause_, [this, cluster] { store(cluster); });
  pause_ = std::min(2 * pause_, pause_max);
}

}  // namespace canopy::node
