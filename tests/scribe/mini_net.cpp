#include "scribe/mini_net.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "scribe/access.hpp"

namespace canopy::scribe::test {

// --- Box ---

Box::Box(MiniNet& owner, PeerRef self, const OverlayConfig& config, std::uint64_t seed)
    : net(owner), ref(self), random_(seed) {
  peer = std::make_unique<OverlayPeer>(config, self, *this, *this);
}

MonoTime Box::now() const { return net.now_; }
PeerTable& Box::peers() { return net.table_; }

void Box::send(PeerRef to, wire::Message message) {
  CANOPY_ASSERT(to);
  net.transmit(ref, to, std::move(message));
}

void Box::wake_at(MonoTime deadline) {
  if (deadline >= wake) return;
  wake = std::max(deadline, net.now_);
  net.push({wake, 0, {}, ref, false, nullptr});
}

void Box::multicast(const wire::Multicast& message) {
  delivered.push_back({message.group,
                       message.id,
                       std::string(message.body.view()),
                       net.now_,
                       {message.epoch, message.sequence}});
  if (!message.asking.asker) return;
  scribe().expect_replies(message, repliers);
  for (std::size_t i = 0; i < repliers; ++i) had.push_back(message.id);
}

void Box::lost(const Id&, std::uint64_t count) { told_lost += count; }

void Box::presence(const Id&, const Presence& presence) { presences.push_back(presence); }

void Box::gap(const Id&, const Missed& missed) { gaps.push_back(missed); }

bool Box::anycast(const wire::Anycast& message) {
  if (willing) anycasts.emplace_back(message.body.view());
  if (willing && message.wants_reply) had.push_back(message.id);
  return willing;
}

void Box::request_over(const wire::MessageId& id, boost::system::error_code reason) {
  over.emplace_back(id, reason);
}

void Box::detached(const Id&, boost::system::error_code reason) { detachments.push_back(reason); }

void Box::keep_state(const wire::GroupState& state) {
  if (!disk_works) return;
  disk[state.group] = state;
  scribe().written(state.group, state.epoch, state.version);
}

std::size_t Box::count(const std::string& text) const {
  return static_cast<std::size_t>(std::ranges::count(delivered, text, &Delivered::text));
}

// --- Building ---

MiniNet::MiniNet(std::uint64_t seed) : random_(seed) {
  // Small rings with forwarders.
  config.pastry.b = 2;
  config.pastry.leaf_set_size = 4;
}

MiniNet::~MiniNet() = default;

PeerRef MiniNet::make(const std::string& name, std::uint64_t incarnation) {
  PeerDescriptor descriptor;
  descriptor.id = Id::hash_of(name, config.pastry.id_bits);
  descriptor.incarnation = incarnation;
  descriptor.name = name;
  const PeerRef ref = table_.intern(std::move(descriptor));
  configs_.push_back(std::make_unique<OverlayConfig>(config));
  places_[ref] = {random_.unit(), random_.unit()};
  boxes_[ref] = std::make_unique<Box>(*this, ref, *configs_.back(), random_.next());
  return ref;
}

void MiniNet::build(std::size_t count) {
  std::vector<PeerRef> refs;
  for (std::size_t i = 0; i < count; ++i) refs.push_back(make("node-" + std::to_string(i), 1));
  for (const PeerRef ref : refs) boxes_[ref]->peer->pastry().found();
  for (const PeerRef a : refs) {
    for (const PeerRef b : refs) {
      if (a != b) boxes_[a]->peer->pastry().learn(b, 2 * delay(a, b));
    }
  }
  run_for(3s);
}

Box& MiniNet::begin_add(const std::string& name) {
  const std::vector<Box*> others = live();
  const PeerRef ref = make(name, static_cast<std::uint64_t>(now_.time_since_epoch().count()));
  Box& box = *boxes_[ref];
  box.peer->pastry().join({others[random_.below(others.size())]->ref});
  return box;
}

Box& MiniNet::add(const std::string& name) {
  Box& box = begin_add(name);
  const bool active = run_until([&] { return box.peer->pastry().active(); }, 60s);
  CANOPY_ASSERT(active);
  return box;
}

Box& MiniNet::restart(PeerRef ref) { return add(table_[ref].name); }

void MiniNet::kill(PeerRef ref) { boxes_.at(ref)->alive = false; }
void MiniNet::hang(PeerRef ref) { boxes_.at(ref)->hung = true; }

void MiniNet::tick(Box& box) {
  box.wake = never;
  box.peer->tick();
}

void MiniNet::wake_up(PeerRef ref, WakesTo first) {
  Box& box = *boxes_.at(ref);
  box.hung = false;
  if (first == WakesTo::timers) tick(box);
  while (!box.inbox.empty()) {
    auto [from, message] = std::move(box.inbox.front());
    box.inbox.pop_front();
    box.peer->receive(from, std::move(message));
  }
  if (first == WakesTo::inbox) tick(box);
}

std::vector<Box*> MiniNet::live() {
  std::vector<Box*> boxes;
  for (auto& [ref, box] : boxes_) {
    if (box->alive) boxes.push_back(box.get());
  }
  return boxes;
}

// --- Network ---

Duration MiniNet::delay(PeerRef a, PeerRef b) {
  const auto [ax, ay] = places_.at(a);
  const auto [bx, by] = places_.at(b);
  return Duration(200 + static_cast<std::int64_t>(3000 * std::hypot(ax - bx, ay - by)));
}

void MiniNet::push(Event event) {
  event.sequence = ++sequence_;
  events_.push(std::move(event));
}

void MiniNet::transmit(PeerRef from, PeerRef to, wire::Message message) {
  ++sent_[std::string(wire::type_name(message))];
  if (!boxes_.at(from)->alive) return;
  if (lost && lost(from, to, message)) return;
  MonoTime& busy_until = link_busy_until_[{from, to, wire::traffic_class(message)}];
  const Duration more = lag ? lag(from, to, message) : Duration::zero();
  busy_until = std::max(busy_until, now_ + delay(from, to) + more + Duration(random_.below(100)));
  push({busy_until, 0, from, to, false, std::make_shared<wire::Message>(std::move(message))});
}

void MiniNet::handle(Event& event) {
  Box& box = *boxes_.at(event.to);
  if (!event.from) {
    if (box.alive && !box.hung && box.wake <= now_) tick(box);
  } else if (event.refused) {
    if (box.alive && !box.hung) box.peer->unreachable(event.from);
  } else if (!box.alive) {
    push({now_ + delay(event.from, event.to), 0, event.to, event.from, true, nullptr});
  } else if (box.hung) {
    box.inbox.emplace_back(event.from, std::move(*event.message));
  } else {
    box.peer->receive(event.from, std::move(*event.message));
  }
}

void MiniNet::run_for(Duration span) {
  run_until([] { return false; }, span);
}

bool MiniNet::run_until(const std::function<bool()>& done, Duration limit) {
  const MonoTime deadline = now_ + limit;
  while (!done()) {
    if (events_.empty() || events_.top().at > deadline) {
      now_ = deadline;
      return done();
    }
    Event event = events_.top();
    events_.pop();
    now_ = std::max(now_, event.at);
    handle(event);
  }
  return true;
}

std::uint64_t MiniNet::sent(const std::string& type) const {
  const auto found = sent_.find(type);
  return found == sent_.end() ? 0 : found->second;
}

// --- Operations ---

boost::system::error_code MiniNet::join(PeerRef ref, const wire::GroupName& name,
                                        const TokenKey& key) {
  boost::system::error_code result = errc::timed_out;
  bool done = false;
  const auto told = [&](boost::system::error_code error) {
    result = error;
    done = true;
  };
  boxes_.at(ref)->scribe().join(name, told, key);
  CANOPY_ASSERT(!done);
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

boost::system::error_code MiniNet::create(PeerRef ref, const wire::GroupName& name,
                                          wire::GroupMode mode) {
  boost::system::error_code result;
  bool done = false;
  boxes_.at(ref)->scribe().create(name, mode, [&](boost::system::error_code error) {
    result = error;
    done = true;
  });
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

std::pair<boost::system::error_code, MemberCount> MiniNet::members(PeerRef ref,
                                                                   const wire::GroupName& name,
                                                                   const TokenKey& key) {
  std::optional<std::pair<boost::system::error_code, MemberCount>> result;
  boxes_.at(ref)->scribe().members(
      name,
      [&](boost::system::error_code error, MemberCount count) { result = std::pair(error, count); },
      key);
  run_until([&] { return result.has_value(); }, 60s);
  return result.value();
}

std::optional<wire::Multicast> MiniNet::last(PeerRef ref, const wire::GroupName& name) {
  std::optional<std::optional<wire::Multicast>> result;
  const Id id = group_id(name, boxes_.at(ref)->peer->pastry().config().id_bits);
  boxes_.at(ref)->scribe().last(
      id, [&](boost::system::error_code, const std::optional<wire::Multicast>& found) {
        result = found;
      });
  run_until([&] { return result.has_value(); }, 60s);
  return result.value();
}

PublishOutcome MiniNet::publish(PeerRef ref, const wire::GroupName& name, const std::string& text,
                                wire::AckMode ack, Duration within, const TokenKey& key) {
  PublishOutcome result;
  bool done = false;
  boxes_.at(ref)->scribe().publish(name, ack, Buffer::copy_of(text),
                                   [&](const PublishOutcome& outcome) {
                                     result = outcome;
                                     done = true;
                                   },
                                   {.within = within, .key = key});
  CANOPY_ASSERT(!done);
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

void MiniNet::shout(PeerRef ref, const wire::GroupName& name, const std::string& text,
                    wire::AckMode ack) {
  boxes_.at(ref)->scribe().publish(name, ack, Buffer::copy_of(text), [](const PublishOutcome&) {});
}

std::pair<boost::system::error_code, PeerRef> MiniNet::anycast(PeerRef ref,
                                                               const wire::GroupName& name,
                                                               const std::string& text,
                                                               const AnycastTerms& terms) {
  std::pair<boost::system::error_code, PeerRef> result;
  bool done = false;
  boxes_.at(ref)->scribe().anycast(
      name, Buffer::copy_of(text),
      [&](const AnycastOutcome& outcome) {
        result = {outcome.error, outcome.member};
        done = true;
      },
      terms);
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

std::pair<boost::system::error_code, CreateOutcome> MiniNet::create(PeerRef ref,
                                                                    const wire::GroupName& name,
                                                                    const wire::AccessList& access,
                                                                    wire::GroupMode mode,
                                                                    const TokenKey& key) {
  std::pair<boost::system::error_code, CreateOutcome> result;
  bool done = false;
  boxes_.at(ref)->scribe().create(
      name, mode, std::make_shared<const wire::AccessList>(access), key,
      [&](boost::system::error_code error, const CreateOutcome& outcome) {
        result = {error, outcome};
        done = true;
      });
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

std::pair<boost::system::error_code, wire::GroupState> MiniNet::look(PeerRef ref,
                                                                     const wire::GroupName& name) {
  std::pair<boost::system::error_code, wire::GroupState> result;
  bool done = false;
  boxes_.at(ref)->scribe().look(
      name, [&](boost::system::error_code error, const wire::GroupState& state) {
        result = {error, state};
        done = true;
      });
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

boost::system::error_code MiniNet::set_access(PeerRef ref, const wire::GroupName& name,
                                              const wire::AccessList& access, const TokenKey& key) {
  const std::uint64_t expected = mark_of(look(ref, name).second.access);
  boost::system::error_code result;
  bool done = false;
  boxes_.at(ref)->scribe().set_access(
      name, expected, std::make_shared<const wire::AccessList>(access), key,
      [&](boost::system::error_code error, const wire::GroupState&) {
        result = error;
        done = true;
      });
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

boost::system::error_code MiniNet::remove(PeerRef ref, const wire::GroupName& name,
                                          const TokenKey& key) {
  boost::system::error_code result;
  bool done = false;
  boxes_.at(ref)->scribe().remove(name, key,
                                  [&](boost::system::error_code error, const wire::GroupState&) {
                                    result = error;
                                    done = true;
                                  });
  run_until([&] { return done; }, 60s);
  CANOPY_ASSERT(done);
  return result;
}

// --- The tree ---

PeerRef MiniNet::closest_live(const Id& key) const {
  PeerRef best;
  for (const auto& [ref, box] : boxes_) {
    if (!box->alive || box->hung) continue;
    if (!best || closer_to(key, table_.id(ref), table_.id(best))) best = ref;
  }
  return best;
}

std::vector<PeerRef> MiniNet::roots(const Id& group) {
  std::vector<PeerRef> found;
  for (Box* box : live()) {
    const auto view = box->scribe().view(group);
    if (!box->hung && view && view->root) found.push_back(box->ref);
  }
  return found;
}

std::vector<PeerRef> MiniNet::forwarders(const Id& group) {
  std::vector<PeerRef> found;
  for (Box* box : live()) {
    const auto view = box->scribe().view(group);
    if (view && !view->root && !view->member && !view->children.empty()) found.push_back(box->ref);
  }
  return found;
}

std::vector<PeerRef> MiniNet::members(const Id& group) {
  std::vector<PeerRef> found;
  for (Box* box : live()) {
    const auto view = box->scribe().view(group);
    if (view && view->member) found.push_back(box->ref);
  }
  return found;
}

std::vector<std::string> MiniNet::faults(const Id& group) {
  std::vector<std::string> found;
  const auto complain = [&](PeerRef ref, const std::string& what) {
    found.push_back(table_[ref].name + " " + what);
  };
  std::map<PeerRef, GroupView> views;
  for (Box* box : live()) {
    if (auto view = box->scribe().view(group); view && !box->hung) views[box->ref] = *view;
  }
  if (views.empty()) return found;
  const std::vector<PeerRef> all_roots = roots(group);
  if (all_roots.size() != 1) found.push_back(std::to_string(all_roots.size()) + " roots");
  for (const PeerRef root : all_roots) {
    if (root != closest_live(group)) complain(root, "is root, and not the closest");
  }
  for (const auto& [ref, view] : views) {
    if (!view.attached) complain(ref, "is not attached");
    if (!view.root && !view.member && view.children.empty()) complain(ref, "is of no use");
    if (view.root && view.parent) complain(ref, "is a root with a parent");
    for (const PeerRef child : view.children) {
      if (!views.contains(child) || views.at(child).parent != ref) {
        complain(ref, "has a child that is none: " + table_[child].name);
      }
    }
    std::set<PeerRef> path;
    PeerRef at = ref;
    wire::Peers up;
    while (!views.at(at).root) {
      if (!path.insert(at).second) {
        complain(ref, "is in a cycle");
        break;
      }
      const PeerRef above = views.at(at).parent;
      if (!above || !views.contains(above)) {
        complain(ref, "has no way to the root");
        break;
      }
      if (std::ranges::find(views.at(above).children, at) == views.at(above).children.end()) {
        complain(at, "is unknown to its parent");
      }
      at = above;
      up.insert(up.begin(), above);
    }
    if (views.at(at).root && up != view.root_path) complain(ref, "has a stale root path");
  }
  return found;
}

}  // namespace canopy::scribe::test
