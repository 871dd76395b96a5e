// One fuzz run: carries the acts of its plan out (fuzz_run.cpp) and judges what
// comes of them (fuzz_judgement.cpp). Used by these source files only; run_fuzz()
// of fuzz_run.hpp makes one and runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "sim/eviction_checker.hpp"
#include "sim/fuzz_access.hpp"
#include "sim/fuzz_lookups.hpp"
#include "sim/fuzz_plan.hpp"
#include "sim/fuzz_requests.hpp"
#include "sim/fuzz_run.hpp"
#include "sim/order_checker.hpp"
#include "sim/presence_checker.hpp"
#include "sim/track_checker.hpp"

namespace canopy::sim {

class FuzzRunner final : public Observer {
 public:
  explicit FuzzRunner(const FuzzOptions& options);

  FuzzOutcome run();

  void sent(NodeIndex from, NodeIndex to, const wire::Message& message) override;
  void said(NodeIndex from, NodeIndex to, const wire::Message& message) override;
  void activated(NodeIndex node) override;
  void gap(NodeIndex node, const Id& group, const scribe::Missed& missed) override;
  void multicast(NodeIndex node, const wire::Multicast& message) override;
  void detached(NodeIndex node, const Id& group, boost::system::error_code reason) override;
  void presence(NodeIndex node, const Id& group, const scribe::Presence& presence) override;
  std::size_t asked(NodeIndex node, const wire::Multicast& message) override {
    return requests_->asked(node, membership_of(node, message.group), message);
  }
  bool anycast(NodeIndex node, const wire::Anycast& message) override;

 private:
  using Received = std::pair<NodeIndex, std::uint64_t>;  // node, its incarnation

  void add_nodes();
  wire::GroupName group_name(std::uint32_t group) const;
  Id group_id(std::uint32_t group) const;
  void carry_out(const Act& act);
  void stop(const Act& act);
  NodeIndex aim(const Act& act) const;
  void note_strike(ActKind kind, NodeIndex node);
  RingOrder running() const;
  std::vector<NodeIndex> struck_by(const Act& act) const;
  void come_back(const Act& act);
  void start(const Act& act);
  std::vector<NodeIndex> active_but(NodeIndex node) const;
  void enter(NodeIndex node, NodeIndex wished_contact);
  void hang(NodeIndex node, Duration span);
  void use_group(const Act& act);
  void join_group(NodeIndex node, std::uint32_t group);
  void look_at_members();
  void look_at_ring();
  bool ring_is_whole() const;
  void stream(const Act& act);
  void publish(NodeIndex node, std::uint32_t group);
  void publish_tracked(NodeIndex node, std::uint32_t group, const std::string& text,
                       std::function<void(const scribe::PublishOutcome&)> told);
  void ask_and_judge(const RingOrder& ring, std::uint32_t group, std::size_t members);
  FuzzRequests::Host request_host();
  bool has_two_roots(const Id& group) const;
  void create_groups();
  void look_up();
  bool strikes_replicas(const Act& act) const;
  bool replicas_may_go() const;
  bool lists_may_go() const;
  std::optional<NodeIndex> some_publisher(const RingOrder& ring, std::uint32_t group,
                                          Random& random) const;
  Received process(NodeIndex node) const;
  void fault_links(const Act& act);
  void refresh_link_faults();
  void cut_link(const Act& act);
  void cut(const Act& act, Cut cut);
  void at(MonoTime time, std::function<void()> what);
  void run_until(MonoTime time);
  void end_faults();
  void settle();
  Findings judge();
  Findings judge_loads();
  std::vector<Id> telling_keys(const RingOrder& ring) const;
  void judge_activation(NodeIndex node);
  void judge_right(const Id& group, const Id& publisher);
  void note_order(NodeIndex node, const wire::Multicast& message);
  std::uint64_t membership_of(NodeIndex node, const Id& group) const;
  std::size_t members_of(const RingOrder& ring, std::uint32_t group) const;
  Findings judge_members(const RingOrder& ring) const;
  void publish_and_judge();
  void judge_last(const std::map<std::uint32_t, wire::MessageId>& published);
  void find(std::string finding);
  std::string hex(NodeIndex node) const;

  FuzzPlan plan_;
  std::unique_ptr<Topology> topology_;
  std::unique_ptr<Simulation> simulation_;
  Random random_;
  std::vector<bool> started_;
  std::vector<std::map<std::uint32_t, std::uint64_t>> memberships_;  // by node; by group, numbered
  std::uint64_t memberships_begun_ = 0;
  std::set<std::pair<NodeIndex, std::uint32_t>> unordered_;  // nodes, and groups of theirs
  std::map<NodeIndex, std::vector<NodeIndex>> stopped_by_;   // acts at that node
  std::set<ActKind> kinds_struck_;                           // of all schedules
  std::multimap<MonoTime, std::function<void()>> later_;
  std::vector<std::pair<MonoTime, LinkFaults>> link_faults_;  // in force until then
  // By node and its membership.
  std::map<wire::MessageId, std::map<std::pair<NodeIndex, std::uint64_t>, unsigned>> received_;
  OrderChecker order_;
  TrackChecker track_;
  PresenceChecker presence_;
  Random track_random_;  // of its own: the rest of the run stays as it is
  std::unique_ptr<FuzzAccess> access_;
  std::unique_ptr<FuzzRequests> requests_;
  std::unique_ptr<FuzzLookups> lookups_;
  std::unique_ptr<EvictionChecker> evictions_;
  MonoTime forgetful_until_{};
  bool replicas_may_go_ = false;
  MonoTime lossy_until_{};
  MonoTime parted_until_{};
  bool members_known_ = true;
  Findings findings_;
};

}  // namespace canopy::sim
