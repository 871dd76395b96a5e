#include "sim/fuzz_access.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

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
constexpr double muted_share = 0.6;
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
  for (const std::uint32_t group : closed_) {
    if (random_.chance(muted_share)) muted_.insert(group);
  }
}

Id FuzzAccess::id_of(std::uint32_t group) const {
  return scribe::group_id(name_of_(group), simulation_.overlay_config().pastry.id_bits);
}

scribe::TokenKey FuzzAccess::key_of(NodeIndex node) const {
  return node % 3 == 0 ? token_ : nullptr;
}

// Without a token, and never listed.
bool FuzzAccess::is_mute(std::uint32_t group, NodeIndex node) const {
  return muted_.contains(group) && node % 5 == 4 && key_of(node) == nullptr;
}

bool FuzzAccess::is_mute(const Id& group, const Id& publisher) const {
  for (const std::uint32_t muted : muted_) {
    if (id_of(muted) != group) continue;
    for (NodeIndex node = 0; node < simulation_.size(); ++node) {
      if (simulation_.id(node) == publisher) return is_mute(muted, node);
    }
  }
  return false;
}

wire::Grant FuzzAccess::some_nodes() {
  wire::Grant grant{false, {}, {}};
  // Both rights of a list have to fit it.
  const std::size_t most = wire::grants_max / 2 - 1;
  for (NodeIndex node = 0; node < simulation_.size() && grant.peers.size() < most; ++node) {
    if (random_.chance(listed_share)) grant.peers.push_back(simulation_.id(node));
  }
  if (random_.chance(0.5)) grant.keys.push_back(token_->public_key());
  return grant;
}

wire::AccessRef FuzzAccess::some_list(std::uint32_t group) {
  wire::AccessList list;
  if (!random_.chance(0.1)) list.join = some_nodes();
  if (muted_.contains(group)) {
    list.publish = some_nodes();
    std::erase_if(list.publish.peers, [&](const Id& peer) { return is_mute(id_of(group), peer); });
  }
  return std::make_shared<const wire::AccessList>(std::move(list));
}

void FuzzAccess::create(NodeIndex founder) {
  for (const std::uint32_t group : closed_) {
    const auto mode = group < ordered_ ? wire::GroupMode::ordered : wire::GroupMode::best_effort;
    simulation_.peer(founder).scribe().create(
        name_of_(group), mode, some_list(group), nullptr,
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
  if (active.empty() || closed_.empty()) return;
  const NodeIndex by = active[random_.below(active.size())];
  const std::uint32_t group =
      *std::next(closed_.begin(), static_cast<std::ptrdiff_t>(random_.below(closed_.size())));
  const wire::AccessRef wished = some_list(group);
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
  const Id id = id_of(group);
  const auto view = simulation_.peer(ring.closest(id)).scribe().view(id);
  return view ? view->access : nullptr;
}

bool FuzzAccess::may_publish(const RingOrder& ring, std::uint32_t group, NodeIndex node) const {
  return grants(list_at_root(ring, group), wire::Right::publish, node);
}

bool FuzzAccess::grants(const wire::AccessRef& list, wire::Right right, NodeIndex node) const {
  const wire::Grant& grant = scribe::grant_of(list, right);
  const scribe::TokenKey key = key_of(node);
  return scribe::grants(grant, simulation_.id(node)) ||
         (key && scribe::grants(grant, key->public_key()));
}

bool FuzzAccess::is_member(NodeIndex node, std::uint32_t group) const {
  const auto view = simulation_.peer(node).scribe().view(id_of(group));
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
      if (is_member(node, group) && !grants(list, wire::Right::join, node)) {
        findings.push_back(fmt::format("{} is a member of {} without the right", node, group));
      }
    }
    for (const auto judge_one :
         {&FuzzAccess::judge_joins, &FuzzAccess::judge_publishing, &FuzzAccess::judge_anycasts}) {
      for (std::string& finding : (this->*judge_one)(ring, group, list)) {
        findings.push_back(std::move(finding));
      }
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
    const bool allowed = grants(list, wire::Right::join, one->node);
    const boost::system::error_code due = allowed ? boost::system::error_code{} : errc::denied;
    if (one->error != due) {
      findings.push_back(fmt::format("{}, which {} join {}, is told: {}", one->node,
                                     allowed ? "may" : "may not", group, one->error.message()));
    }
    if (!one->error) {
      simulation_.peer(one->node).scribe().leave(id_of(group));
    }
  }
  return findings;
}

// By everybody, each in turn.
Findings FuzzAccess::judge_publishing(const RingOrder& ring, std::uint32_t group,
                                      const wire::AccessRef& list) {
  Findings findings;
  const auto members = static_cast<std::size_t>(std::ranges::count_if(
      ring.members(), [&](const auto& member) { return is_member(member.node, group); }));
  for (const auto& [id, node] : ring.members()) {
    const auto told = std::make_shared<std::optional<scribe::PublishOutcome>>();
    simulation_.peer(node).scribe().publish(
        name_of_(group), wire::AckMode::root, Buffer::copy_of("by right"),
        [told](const scribe::PublishOutcome& outcome) { *told = outcome; }, {.key = key_of(node)});
    simulation_.run_for(2s);
    for (int second = 0; second < 20 && !*told; ++second) simulation_.run_for(1s);
    const bool allowed = grants(list, wire::Right::publish, node);
    const boost::system::error_code due = allowed ? boost::system::error_code{} : errc::denied;
    const auto error = *told ? (*told)->error : errc::timed_out;
    const std::size_t came = *told ? deliveries_[(*told)->id] : 0;
    if (error != due || came != (allowed ? members : 0)) {
      findings.push_back(fmt::format(
          "what {}, which {} publish to {}, has published came to {} of {} members, and it is "
          "told: {}",
          node, allowed ? "may" : "may not", group, came, members, error.message()));
    }
  }
  return findings;
}

Findings FuzzAccess::judge_anycasts(const RingOrder& ring, std::uint32_t group,
                                    const wire::AccessRef& list) {
  Findings findings;
  for (const auto& [id, node] : ring.members()) {
    const auto told = std::make_shared<boost::system::error_code>(errc::busy);
    simulation_.peer(node).scribe().anycast(
        name_of_(group), Buffer::copy_of(anycast_text),
        [told](const scribe::AnycastOutcome& outcome) { *told = outcome.error; },
        {.key = key_of(node)});
    for (int second = 0; second < 20 && *told == errc::busy; ++second) simulation_.run_for(1s);
    const bool allowed = grants(list, wire::Right::publish, node);
    if ((*told == errc::denied) == allowed) {
      findings.push_back(fmt::format("the anycast of {}, which {} publish to {}, ended with: {}",
                                     node, allowed ? "may" : "may not", group, told->message()));
    }
  }
  return findings;
}

}  // namespace canopy::sim
