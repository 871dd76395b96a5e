// The operations of the public interface, on the overlay's thread.
#include <algorithm>
#include <chrono>
#include <utility>

#include <canopy/error.hpp>

#include "base/text.hpp"
#include "node/access_text.hpp"
#include "node/open_request.hpp"
#include "node/overlay.hpp"
#include "node/overlay_refusal.hpp"
#include "node/values.hpp"
#include "wire/content.hpp"

namespace canopy::node {

using namespace std::chrono_literals;

namespace {

wire::AckMode to_wire(Ack ack) {
  switch (ack) {
    case Ack::none: return wire::AckMode::none;
    case Ack::root: break;
    case Ack::members: return wire::AckMode::members;
  }
  return wire::AckMode::root;
}

// Longer than anybody waits, and can be added to any time. 0 stays 0.
Duration bounded(std::chrono::milliseconds time) {
  return std::clamp<std::chrono::milliseconds>(time, 0ms, 24h);
}

}  // namespace

wire::GroupName Overlay::full_name(const GroupName& group) const {
  return to_wire(group, options_.cluster);
}

void Overlay::start(std::shared_ptr<Operation<>> done) {
  if (done->claimed()) return;
  if (state_ != NodeState::created)
    return done->fail(state_ == NodeState::joining || state_ == NodeState::active
                          ? errc::busy
                          : errc::shutting_down);
  state_ = NodeState::joining;
  start_done_ = std::move(done);
  arrival_.start();
  after_input();
}

void Overlay::stop(std::shared_ptr<Operation<>> done) {
  if (done->claimed()) return;
  if (state_ == NodeState::stopped) return done->complete({});
  stop_done_.push_back(std::move(done));
  if (state_ == NodeState::departing) return;
  const bool member = state_ == NodeState::active;
  state_ = NodeState::departing;
  if (start_done_) start_done_->fail(errc::shutting_down);
  start_done_.reset();
  arrival_.stop();
  stop_timer_ =
      timers_.after(options_.departure_time_max, [this] { departure_over(errc::timed_out); });
  peers_kept_.stop();
  if (member) {
    peers_kept_.look_now();
    peer_.depart();
    after_input();
  } else {
    flushing_ = true;
    links_.shutdown([this] { departure_over({}); });
  }
}

void Overlay::wait(std::shared_ptr<Operation<>> done) {
  if (state_ == NodeState::stopped) return done->complete(ended_by_);
  std::erase_if(wait_done_, [](const auto& other) { return other->claimed(); });
  wait_done_.push_back(std::move(done));
}

void Overlay::create(const GroupName& group, GroupMode mode,
                     const std::shared_ptr<Operation<>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  peer_.scribe().create(name, static_cast<wire::GroupMode>(mode),
                        [done](boost::system::error_code error) { done->complete(error); });
  after_input();
}

void Overlay::join(const GroupName& group, const JoinOptions& options,
                   std::shared_ptr<Operation<Subscription>> done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  memberships_.join(name, options, std::move(done));
  after_input();
}

void Overlay::publish(const GroupName& group, const Payload& payload, const PublishOptions& options,
                      const std::shared_ptr<Operation<PublishResult>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return break_chain(options.chain);
  auto body = wire::encode_content(options.headers, payload.view(), options_.payload_bytes_max);
  if (!body) {
    break_chain(options.chain);
    return done->fail(body.error());
  }
  const auto finish = [this, done, ack = options.ack](const scribe::PublishOutcome& outcome) {
    done->complete(outcome.error, result_of(outcome, ack));
  };
  peer_.scribe().publish(name, to_wire(options.ack), std::move(*body), finish,
                         {.within = bounded(options.members_time),
                          .key = token_key(options.token),
                          .chain = options.chain});
  after_input();
}

void Overlay::break_chain(std::uint64_t chain) { peer_.scribe().break_chain(chain); }

PublishResult Overlay::result_of(const scribe::PublishOutcome& outcome, Ack ack) const {
  PublishResult result;
  result.id = to_message_id(outcome.id);
  if (outcome.root) result.root = to_peer_info(peers_[outcome.root]);
  result.epoch = outcome.epoch;
  result.position = outcome.sequence;
  result.retry_after = std::chrono::duration_cast<std::chrono::milliseconds>(outcome.retry_after);
  if (ack != Ack::members || outcome.error) return result;
  result.members_reached = outcome.reach.members;
  result.complete = outcome.reach.complete;
  for (const PeerInfo& peer : infos(outcome.reach.unreachable))
    result.unreachable.push_back({peer});
  result.unreachable_more = outcome.reach.more;
  return result;
}

void Overlay::anycast(const GroupName& group, const Payload& payload, const AnycastOptions& options,
                      const std::shared_ptr<Operation<AnycastResult>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  auto body = wire::encode_content(options.headers, payload.view(), options_.payload_bytes_max);
  if (!body) return done->fail(body.error());
  const auto finish = [this, done](const scribe::AnycastOutcome& outcome) {
    AnycastResult result;
    result.id = to_message_id(outcome.id);
    if (outcome.member) result.member = to_peer_info(peers_[outcome.member]);
    done->complete(outcome.error, std::move(result));
  };
  peer_.scribe().anycast(
      name, std::move(*body), finish,
      {bounded(options.within),
       options.wait_for_member ? scribe::Patience::until_deadline : scribe::Patience::none,
       token_key(options.token)});
  after_input();
}

wire::MessageId Overlay::request(const GroupName& group, const Payload& payload,
                                 const RequestOptions& options,
                                 const std::shared_ptr<Operation<RequestResult>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return {};
  auto body = wire::encode_content(options.headers, payload.view(), options_.payload_bytes_max);
  if (!body) {
    done->fail(body.error());
    return {};
  }
  scribe::RequestTerms terms;
  terms.to_all = options.to == Audience::all;
  terms.within = bounded(options.within);
  if (!options.wait_for_member) terms.patience = scribe::Patience::none;
  terms.replies = options.replies;
  terms.replies_max = options.replies_max;
  terms.bytes_max = options.replies_bytes_max;
  terms.key = token_key(options.token);
  const wire::MessageId id = peer_.scribe().request(
      name, std::move(*body), terms, [this, done](const scribe::RequestOutcome& outcome) {
        done->complete(outcome.error, result_of(outcome));
      });
  after_input();
  return id;
}

RequestResult Overlay::result_of(const scribe::RequestOutcome& outcome) const {
  RequestResult result;
  result.id = to_message_id(outcome.id);
  result.members = outcome.members;
  result.complete = outcome.complete;
  result.declined = outcome.declined;
  result.dropped = outcome.dropped;
  for (const scribe::GivenReply& given : outcome.replies) {
    auto content = wire::decode_content(given.body, options_.payload_bytes_max);
    if (!content) {
      ++result.dropped;
      continue;
    }
    result.replies.push_back({to_peer_info(peers_[given.from]), given.status,
                              std::move(content->headers), to_payload(content->payload)});
  }
  return result;
}

void Overlay::cancel_request(const wire::MessageId& id) {
  if (id == wire::MessageId{}) return;
  peer_.scribe().cancel_request(id);
  after_input();
}

void Overlay::reply(const std::shared_ptr<detail::OpenRequest>& request, const Payload& payload,
                    const ReplyOptions& options, const std::shared_ptr<Operation<>>& done) {
  if (refuse(done, nullptr)) return;
  auto body = wire::encode_content(options.headers, payload.view(), options_.payload_bytes_max);
  if (!body) return done->fail(body.error());
  if (!request || !request->claim()) return done->fail(errc::not_awaited);
  peer_.scribe().reply(request->id(), options.status, std::move(*body),
                       [this, request, done](boost::system::error_code error) {
                         if (error == errc::queue_full) {
                           request->release();
                         } else {
                           request->keep();
                           memberships_.request_settled(request->id());
                         }
                         done->complete(error);
                       });
  after_input();
}

void Overlay::ring(std::shared_ptr<Operation<Ring>> done) {
  if (refuse(done, nullptr)) return;
  inspector_.ring(std::move(done));
  after_input();
}

void Overlay::route(const Key& key, std::shared_ptr<Operation<Route>> done) {
  if (refuse(done, nullptr)) return;
  inspector_.route(to_id(key), std::move(done));
  after_input();
}

void Overlay::tree(const GroupName& group, const std::string& secret,
                   const std::shared_ptr<Operation<Tree>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  inspector_.tree(name, token_key(secret), done);
  after_input();
}

void Overlay::member_count(const GroupName& group, const std::string& secret,
                           const std::shared_ptr<Operation<MemberCount>>& done) {
  const wire::GroupName name = full_name(group);
  if (refuse(done, &name)) return;
  peer_.scribe().members(
      name,
      [done](boost::system::error_code error, const scribe::MemberCount& count) {
        done->complete(error, {count.members, count.complete});
      },
      token_key(secret));
  after_input();
}

void Overlay::groups(const std::shared_ptr<Operation<std::vector<GroupInfo>>>& done) {
  if (refuse(done, nullptr)) return;
  std::vector<GroupInfo> all;
  for (const Id& id : peer_.scribe().groups())
    if (auto view = peer_.scribe().view(id)) all.push_back(info_of(*view));
  done->complete({}, std::move(all));
}

GroupInfo Overlay::info_of(const scribe::GroupView& view) const {
  GroupInfo info;
  info.name = to_group_name(view.name);
  info.id = to_key(view.group);
  info.member = view.member;
  info.root = view.root;
  info.attached = view.attached;
  info.mode = view.ordered ? GroupMode::ordered : GroupMode::best_effort;
  if (view.parent) info.parent = to_peer_info(peers_[view.parent]);
  info.root_path = infos(view.root_path);
  info.children = infos(view.children);
  info.subscriptions = memberships_.subscriptions_of(view.group);
  return info;
}

std::vector<PeerInfo> Overlay::infos(std::span<const PeerRef> peers) const {
  std::vector<PeerInfo> all;
  all.reserve(peers.size());
  for (PeerRef peer : peers) all.push_back(to_peer_info(peers_[peer]));
  return all;
}

void Overlay::status(const std::shared_ptr<Operation<NodeStatus>>& done) {
  if (done->claimed()) return;
  const pastry::Pastry& pastry = peer_.pastry();
  NodeStatus status;
  status.self = to_peer_info(self());
  status.state = state_;
  status.cluster = options_.cluster;
  const Uuid& cluster = links_.self().cluster;
  if (!cluster.is_nil()) status.cluster_uuid = cluster.to_string();
  status.founded = founded_;
  status.digit_bits = options_.digit_bits;
  status.leaf_set_size = options_.leaf_set_size;
  status.uptime =
      std::chrono::duration_cast<std::chrono::milliseconds>(net::mono_now() - started_at_);
  for (const pastry::Leaf& leaf : pastry.leaf_set().all())
    status.leaves.push_back(to_peer_info(peers_[leaf.peer]));
  status.table_entries = pastry.routing_table().size();
  status.neighbors = pastry.neighborhood_set().size();
  status.groups = peer_.scribe().groups().size();
  status.subscriptions = memberships_.subscriptions();
  const net::LinkCounters links = links_.counters();
  status.links = links.links;
  status.counters = counters(links);
  done->complete({}, std::move(status));
}

}  // namespace canopy::node
