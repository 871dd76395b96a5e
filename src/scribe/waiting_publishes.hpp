// Publishes that a root keeps for a while, because they cannot have their place
// yet: one has overtaken an earlier one of its publisher, or the group is on its
// way to another root. Requests among them age meanwhile. Bounded; the publisher
// sends again what there was no room for. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/quota.hpp"
#include "base/time.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

class WaitingPublishes {
 public:
  WaitingPublishes(std::size_t count_max, std::size_t bytes_max) : room_(count_max, bytes_max) {}

  // By what it waits for. False if there is no room. Those of before `expired`
  // have waited in vain.
  bool add_early(const wire::Publish& publish, MonoTime now, MonoTime expired);
  bool has_early(const wire::Publish& publish) const;
  // The one that waits for this message.
  std::optional<wire::Publish> take_after(const wire::MessageId& id, MonoTime now);

  // In the order in which they came.
  bool add(const wire::Publish& publish, MonoTime now);
  std::vector<wire::Publish> take_all(MonoTime now);

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Waiting {
    wire::Publish publish;
    MonoTime since{};
  };
  wire::Publish release(Waiting& waiting, MonoTime now);

  std::map<wire::MessageId, Waiting> early_;
  std::vector<Waiting> all_;
  Quota room_;
};

}  // namespace canopy::scribe
