// Puts the definitions of groups that this node keeps on disk, a batch at a time, the
// newest of each; while the disk refuses, again after growing pauses. Says so once,
// and once more when it works again.
//
// On the overlay's thread; the timers must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/time.hpp"
#include "node/group_files.hpp"
#include "node/timer_queue.hpp"

namespace canopy::node {

class GroupRecord {
 public:
  // Tries once, then calls `kept` on the overlay's thread.
  using Keep = std::function<void(std::vector<GroupFiles::Change> changes,
                                  std::function<void(boost::system::error_code)> kept)>;
  // The state is on disk.
  using Written = std::function<void(const wire::GroupState& state)>;

  // `name`: this node's, for the log.
  GroupRecord(std::string name, TimerQueue& timers, Keep keep, Written written);
  ~GroupRecord() { timers_.cancel(retry_); }
  GroupRecord(const GroupRecord&) = delete;
  GroupRecord& operator=(const GroupRecord&) = delete;

  void keep(const wire::GroupState& state);
  void forget(const Id& id);

  std::uint64_t failures() const noexcept { return failures_; }  // tries, since the start

 private:
  static constexpr std::size_t batch_max = 256;
  static constexpr Duration pause_min = std::chrono::seconds(1);
  static constexpr Duration pause_max = std::chrono::seconds(60);

  void change(const Id& id, std::optional<wire::GroupState> state);
  void write();
  void tried(boost::system::error_code error);

  const std::string name_;
  TimerQueue& timers_;
  const Keep keep_;
  const Written written_;
  std::map<Id, std::optional<wire::GroupState>> waiting_;
  std::vector<GroupFiles::Change> under_way_;
  TimerQueue::Entry retry_ = TimerQueue::none;
  Duration pause_ = pause_min;
  bool failing_ = false;
  std::uint64_t failures_ = 0;
};

}  // namespace canopy::node
