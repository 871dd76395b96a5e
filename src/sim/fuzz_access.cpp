#include "sim/fuzz_access.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "scribe/access.hpp"
#include "scribe/group_name.hpp"

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

constexpr double schedules_share = 0.5;  // that have closed groups
constexpr double closed_share = 0.4;
constexpr double listed_share = 0.5;
constexpr unsigned changes = 8;
constexpr Duration join_patience = 45s;

}  // namespace

FuzzAccess::FuzzAccess(std::uint64_t seed, std::uint32_t groups, std::uint32_t ordered,
                       NameOf name_of, Simulation& simulation)
    : random_(seed ^ seed << 32 ^ 5),
      name_of_(std::move(name_of)),
      simulation_(simulation),
      ordered_(ordered),
      token_(std::make_shared<const SigningKey>(sha256("a token"))) {
  if (!random_.chance(schedules_share)) return;
  for (std::uint32_t group = 0; group < groups; ++group) {
    if (random_.chance(closed_share)) closed_.insert(group);
  }
}

scribe::TokenKey FuzzAccess::key_of(NodeIndex node) const {
  return node % 3 == 0 ? token_ : nullptr;
}

wire::AccessRef FuzzAccess::some_list() {
  wire::AccessList list;
  list.join.everybody = random_.chance(0.1);
  if (!list.join.everybody) {
    for (NodeIndex node = 0; node < simulation_.size(); ++node) {
      if (random_.chance(listed_share)) list.join.peers.push_back(simulation_.id(node));
    }
    if (random_.chance(0.5)) list.join.keys.push_back(token_->public_key());
  }
  return std::make_shared<const wire::AccessList>(std::move(list));
}

void FuzzAccess::create(NodeIndex founder) {
  for (const std::uint32_t group : closed_) {
    const auto mode = group < ordered_ ? wire::GroupMode::ordered : wire::GroupMode::best_effort;
    simulation_.peer(founder).scribe().create(
        name_of_(group), mode, some_list(), nullptr,
        [](boost::system::error_code, const scribe::CreateOutcome&) {});
  }
}

std::vector<MonoTime> FuzzAccess::times(MonoTime from, MonoTime until) {
  std::vector<MonoTime> times;
  if (closed_.empty()) return times;
  const auto length = static_cast<std::uint64_t>((until - from).count());
  for (unsigned i = 0; i < changes; ++i) {
    times.push_back(from + Duration(static_cast<std::int64_t>(random_.below(length))));
  }
  return times;
}

void FuzzAccess::change(const std::vector<NodeIndex>& active) {
  if (active.empty()) return;
  const NodeIndex by = active[random_.below(active.size())];
  const std::uint32_t group =
      *std::next(closed_.begin(), static_cast<std::ptrdiff_t>(random_.below(closed_.size())));
  const wire::AccessRef wished = some_list();
  scribe::Scribe& scribe = simulation_.peer(by).scribe();
  scribe.look(name_of_(group), [this, by, group, wished](boost::system::error_code error,
                                                         const wire::GroupState& state) {
    if (error || !simulation_.active(by)) return;
    simulation_.peer(by).scribe().set_access(
        name_of_(group), scribe::mark_of(state.access), wished, nullptr,
        [](boost::system::error_code, const wire::GroupState&) {});
  });
}

wire::AccessRef FuzzAccess::list_at_root(const RingOrder& ring, std::uint32_t group) const {
  const Id id = scribe::group_id(name_of_(group), simulation_.overlay_config().pastry.id_bits);
  const auto view = simulation_.peer(ring.closest(id)).scribe().view(id);
  return view ? view->access : nullptr;
}

bool FuzzAccess::may_join(const wire::AccessRef& list, NodeIndex node) const {
  const wire::Grant& grant = scribe::grant_of(list, wire::Right::join);
  const scribe::TokenKey key = key_of(node);
  return scribe::grants(grant, simulation_.id(node)) ||
         (key && scribe::grants(grant, key->public_key()));
}

bool FuzzAccess::is_member(NodeIndex node, std::uint32_t group) const {
  const Id id = scribe::group_id(name_of_(group), simulation_.overlay_config().pastry.id_bits);
  const auto view = simulation_.peer(node).scribe().view(id);
  return view && view->member;
}

Findings FuzzAccess::judge(const RingOrder& ring, bool may_be_gone) {
  Findings findings;
  for (const std::uint32_t group : closed_) {
    const wire::AccessRef list = list_at_root(ring, group);
    if (!list && may_be_gone) continue;
    if (!list) {
      findings.push_back(fmt::format("the access list of {} is lost", group));
      continue;
    }
    for (const auto& [id, node] : ring.members()) {
      if (is_member(node, group) && !may_join(list, node)) {
        findings.push_back(fmt::format("{} is a member of {} without the right", node, group));
      }
    }
    for (std::string& finding : judge_joins(ring, group, list)) {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

// A few who are no members, of either kind.
Findings FuzzAccess::judge_joins(const RingOrder& ring, std::uint32_t group,
                                 const wire::AccessRef& list) {
  constexpr std::size_t tried_max = 6;
  struct Try {
    NodeIndex node = 0;
    boost::system::error_code error = errc::busy;
  };
  std::vector<std::unique_ptr<Try>> tries;
  for (const auto& [id, node] : ring.members()) {
    if (tries.size() == tried_max || is_member(node, group)) continue;
    Try& one = *tries.emplace_back(std::make_unique<Try>(Try{node}));
    simulation_.peer(node).scribe().join(
        name_of_(group), [&one](boost::system::error_code error) { one.error = error; },
        key_of(node));
  }
  const auto answered = [&] {
    return std::ranges::all_of(tries, [](const auto& one) { return one->error != errc::busy; });
  };
  for (const MonoTime until = simulation_.now() + join_patience;
       !answered() && simulation_.now() < until;) {
    simulation_.run_for(1s);
  }
  Findings findings;
  for (const auto& one : tries) {
    const bool allowed = may_join(list, one->node);
    const boost::system::error_code due = allowed ? boost::system::error_code{} : errc::denied;
    if (one->error != due) {
      findings.push_back(fmt::format("{}, which {} join {}, is told: {}", one->node,
                                     allowed ? "may" : "may not", group, one->error.message()));
    }
    if (!one->error) {
      simulation_.peer(one->node).scribe().leave(
          scribe::group_id(name_of_(group), simulation_.overlay_config().pastry.id_bits));
    }
  }
  return findings;
}

}  // namespace canopy::sim
