// The part of Roots that asks the others what they know of a group, before this
// node becomes its root.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/assert.hpp"
#include "base/rare.hpp"
#include "scribe/group_name.hpp"
#include "scribe/ordering.hpp"
#include "scribe/roots.hpp"
#include "scribe/tracking.hpp"
#include "scribe/tree.hpp"

namespace canopy::scribe {

void Roots::start_search(const Id& id) {
  Search& search = searches_[id];
  if (search.nonce != 0) return;  // under way
  search.nonce = ++last_search_nonce_;
  if (core_.config.maintenance) {
    search.unanswered = core_.pastry.closest(id, core_.config.root_replicas);
    std::erase(search.unanswered, core_.self);
  }
  if (search.unanswered.empty()) return finish_search(id);
  search.deadline = core_.now() + core_.config.root_search_timeout;
  core_.wake_at(search.deadline);
  for (const PeerRef peer : search.unanswered) {
    core_.send(peer, wire::RootStateRequest{search.nonce, id});
  }
}

Roots::Search Roots::take_search(const Id& id) {
  const auto entry = searches_.find(id);
  CANOPY_ASSERT(entry != searches_.end());
  Search search = std::move(entry->second);
  searches_.erase(entry);
  give_back_room(search);
  return search;
}

void Roots::give_back_room(const Search& search) {
  for (const wire::RoutedBody& body : search.held) held_.give_back(wire::size_estimate(body));
}

void Roots::finish_search(const Id& id) {
  const Search search = take_search(id);
  Group* group = core_.find(id);
  const bool wanted = group && (group->member || !group->children.empty());
  if (!group || !group->serves_as_root()) {
    RootRecord* record =
        search.best ? registry_.merge(*search.best, core_.now()) : registry_.find(id);
    if (record) {
      record->offered = true;
      note_change(id);
      serve(id, *record, Start::takeover);
    } else if (wanted && core_.config.creators && !group->list()) {
      ++core_.counters.changes_denied;
      tree_.fail(id, wire::JoinRefusal::no_such_group);
    } else if (wanted) {
      wire::GroupState state;
      state.group = id;
      state.name = *group->name();
      // Positions that others have got to tell that it is ordered; so does a list.
      if (group->order) state.mode = wire::GroupMode::ordered;
      state.access = group->list();
      state.life = group->life();
      state.created = state.access || state.life != 0;
      found(std::move(state));
    }
  }
  if (RootRecord* record = registry_.find(id); record && record->doubted) {
    end_doubt(id, *record, search);
  }
  group = core_.find(id);
  if (group && group->standing() == Standing::searching) {
    rare<"roots: a search ends that nobody wants">();
    group->step_down();  // nobody wants it any more, or there was no room
    tree_.prune(id);
  }
  for (const wire::RoutedBody& body : search.held) {
    group = core_.find(id);
    replay_(body, group && group->serves_as_root());
  }
}

// There is another root, which hands the group over to this closer node: its order
// is taken up where that ends.
void Roots::abdicate(const Id& id, RootRecord& record) {
  rare<"roots: one in doubt finds another">();
  record.own = record.doubted = false;
  Group* group = core_.find(id);
  ordering_.resign(*group);
  group->become_searching();
}

// If others have had another root meanwhile, what that has numbered comes before
// what this one will.
void Roots::end_doubt(const Id& id, RootRecord& record, const Search& search) {
  record.doubted = false;
  if (!record.own || !search.best || !supersedes(*search.best, record.state)) return;
  if (!keep(*search.best) || !record.own) return;
  rare<"roots: one in doubt had a stand-in meanwhile">();
  tracking_.root_lost(*core_.find(id), {});  // whom the other had below it, nobody knows here
  renew_epoch(id);
}

// Another peer is the root, and closer: this node's view of the ring is behind.
void Roots::redirect_search(const Id& id, PeerRef root) {
  rare<"roots: a search finds a closer root">();
  const Search search = take_search(id);
  for (const wire::RoutedBody& body : search.held) core_.pastry.route_via(root, id, body);
  Group* group = core_.find(id);
  if (!group || group->standing() != Standing::searching) return;
  group->step_down();
  if (group->needed()) {
    tree_.look_for_parent(id, core_.config.join_retry_interval);
  } else {
    tree_.prune(id);
  }
}

bool Roots::valid(const wire::GroupState& state) const {
  return names(state.name, state.group, core_.pastry.config().id_bits);
}

void Roots::on_state_request(PeerRef from, const wire::RootStateRequest& request) {
  const Group* group = core_.find(request.group);
  RootRecord* record = registry_.find(request.group);
  wire::RootStateReply reply;
  reply.nonce = request.nonce;
  reply.group = request.group;
  reply.root = record && group && group->serves_as_root() && !core_.departing;
  if (record) reply.states.push_back(RootRegistry::told(*record, core_.now()));
  const Duration bereft = std::max(bereft_until_ - core_.now(), Duration::zero());
  reply.bereft_for_ms =
      static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(bereft).count());
  core_.send(from, reply);

  const PeerTable& peers = core_.env.peers();
  if (reply.root && group->standing() == Standing::root && !core_.departing &&
      closer_to(request.group, peers.id(from), peers.id(core_.self))) {
    begin_handover(request.group, *record, from);
  }
}

void Roots::on_state_reply(PeerRef from, const wire::RootStateReply& reply) {
  const auto entry = searches_.find(reply.group);
  if (entry == searches_.end() || entry->second.nonce != reply.nonce) return;
  Search& search = entry->second;
  if (std::erase(search.unanswered, from) == 0) return;
  const Duration bereft =
      std::min<Duration>(std::chrono::milliseconds(reply.bereft_for_ms), core_.config.child_expiry);
  others_bereft_until_ = std::max(others_bereft_until_, core_.now() + bereft);
  for (const wire::GroupState& state : reply.states) {
    if (state.group != reply.group || !valid(state)) {
      ++core_.counters.malformed;
      continue;
    }
    search.best = search.best ? merged(*search.best, state) : state;
  }
  const PeerTable& peers = core_.env.peers();
  if (reply.root && closer_to(reply.group, peers.id(from), peers.id(core_.self))) {
    return redirect_search(reply.group, from);
  }
  RootRecord* record = registry_.find(reply.group);
  if (reply.root && record && record->doubted) return abdicate(reply.group, *record);
  if (search.unanswered.empty() || (reply.root && search.best)) finish_search(reply.group);
  const Group* group = core_.find(reply.group);
  if (reply.root && group && group->serves_as_root()) tree_.adopt_old_root(reply.group, from);
}

}  // namespace canopy::scribe
