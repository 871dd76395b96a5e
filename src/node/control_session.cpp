#include "node/control_session.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <canopy/error.hpp>

#include "base/mix.hpp"
#include "node/access_text.hpp"
#include "node/control_values.hpp"
#include "node/values.hpp"
#include "scribe/group_name.hpp"

namespace canopy::node {

namespace asio = boost::asio;
namespace control = wire::control;
using boost::system::error_code;

namespace {

// Few, so that what is taken from a subscription but not yet written stays small.
constexpr std::size_t events_per_batch = 16;

GroupName to_public(const wire::GroupName& group) { return {group.name, group.creator}; }

Ack to_public(wire::AckMode ack) {
  switch (ack) {
    case wire::AckMode::none: return Ack::none;
    case wire::AckMode::root: return Ack::root;
    case wire::AckMode::members: return Ack::members;
  }
  return Ack::root;
}

AccessList to_public(const control::AccessRights& rights) {
  return {to_grant(rights.publish), to_grant(rights.join), to_grant(rights.manage)};
}

control::Failure publish_failure(const error_code& error, const PublishResult& result) {
  control::Failure failure = to_answer(error);
  if (result.retry_after > std::chrono::milliseconds(0)) {
    failure.text =
        fmt::format("the group's root takes no more of this peer for now: try again in {} ms",
                    result.retry_after.count());
  }
  return failure;
}

control::Failure create_failure(const error_code& error, const CreateResult& result) {
  control::Failure failure = to_answer(error);
  if (error == errc::denied)
    failure.text =
        "access denied: the group's root lets others create groups (its --group-creators): give a "
        "token that may, by --token-file or CANOPY_TOKEN";
  if (error == errc::version)
    failure.text =
        "the group's root is of an earlier version, without access lists: anyone may "
        "join and publish to the group, which is there now";
  if (error == errc::mode_conflict)
    failure.text += fmt::format(": it is {0}, for which `--mode {0}` asks", to_string(result.mode));
  return failure;
}

}  // namespace

ControlSession::ControlSession(std::shared_ptr<ControlHost> host,
                               std::shared_ptr<net::FrameChannel> channel, std::uint64_t number)
    : host_(std::move(host)),
      channel_(std::move(channel)),
      number_(number),
      room_(std::make_shared<QueueRoom>(host_->limits.client_bytes_max)) {}

void ControlSession::start(std::function<void(std::string_view)> ended) {
  ended_ = std::move(ended);
  net::ChannelHandlers handlers;
  handlers.frame = [self = shared_from_this()](const wire::Frame& frame) { self->on_frame(frame); };
  handlers.writable = [self = shared_from_this()] { self->on_writable(); };
  handlers.closed = [self = shared_from_this()](std::string_view reason) {
    self->on_closed(reason);
  };
  channel_->start(std::move(handlers));
}

void ControlSession::finish() {
  if (!open_) return;
  ended_ = nullptr;
  give_up();
  channel_->finish();
}

void ControlSession::on_closed(std::string_view reason) {
  if (!open_) return;
  give_up();
  channel_->close();
  if (const auto ended = std::exchange(ended_, nullptr)) ended(reason);
}

// Handlers of cancelled operations find their request gone and do nothing.
void ControlSession::give_up() {
  open_ = false;
  outbox_.clear();
  joins_ = 0;
  for (auto& [id, operation] : std::exchange(operations_, {}))
    operation.cancel->emit(asio::cancellation_type::total);
}

void ControlSession::on_frame(const wire::Frame& frame) {
  ++host_->counters.requests;
  auto decoded = control::decode_request(frame);
  if (!decoded) {
    ++host_->counters.malformed;
    return on_closed(decoded.error().reason);
  }
  const bool cancels = std::holds_alternative<control::Cancel>(decoded->request);
  if (!cancels && operations_.contains(decoded->id)) {
    ++host_->counters.malformed;
    return on_closed(fmt::format("a second request with the id {}", decoded->id));
  }
  std::visit([&](const auto& request) { handle(decoded->id, request); }, decoded->request);
  update_reading();
}

// --- Requests ---

template <class Handler>
auto ControlSession::bound(RequestId id, Handler handler) {
  const auto& signal = operations_.at(id).cancel;
  auto call = [weak = weak_from_this(), id, signal, handler = std::move(handler)](
                  error_code error, auto... results) mutable {
    const auto self = weak.lock();
    if (!self) return;
    // Another request may have the same id by now: not the same signal.
    const auto found = self->operations_.find(id);
    if (found == self->operations_.end() || found->second.cancel != signal) return;
    handler(*self, error, std::move(results)...);
  };
  return asio::bind_cancellation_slot(
      signal->slot(), asio::bind_executor(host_->io.get_executor(), std::move(call)));
}

template <class Answer>
auto ControlSession::ends(RequestId id, Answer answer) {
  add(id);
  return bound(id, [id, answer = std::move(answer)](ControlSession& self, error_code error,
                                                    auto... results) {
    self.end(id);
    if (error)
      self.fail(id, error);
    else
      answer(self, std::move(results)...);
    self.update_reading();
  });
}

void ControlSession::handle(RequestId id, std::monostate) {
  send(id, control::Failure{static_cast<std::uint16_t>(errc::unsupported),
                            "canopyd " CANOPY_VERSION
                            " does not know this request: use the canopy of its version"});
}

void ControlSession::handle(RequestId id, const control::GetVersion&) {
  send(id, control::Version{CANOPY_VERSION, static_cast<std::uint32_t>(::getpid())});
}

void ControlSession::handle(RequestId id, const control::GetStatus&) {
  host_->node.async_status(ends(id, [id](ControlSession& self, const NodeStatus& status) {
    control::Status answer = to_answer(status);
    const ControlCounters counters = self.host_->all_counters();
    answer.counters.push_back({"control.clients", counters.clients});
    answer.counters.push_back({"control.refused", counters.refused});
    answer.counters.push_back({"control.accept_errors", counters.accept_errors});
    answer.counters.push_back({"control.requests", counters.requests});
    answer.counters.push_back({"control.malformed", counters.malformed});
    if (self.host_->queues && self.host_->queues->is_open())
      for (const Counter& counter : self.host_->queues->gateway().counters())
        answer.counters.push_back({counter.name, counter.value});
    self.send(id, std::move(answer));
  }));
}

void ControlSession::handle(RequestId id, const control::GetRing&) {
  host_->node.async_ring(ends(
      id, [id](ControlSession& self, const Ring& ring) { self.send_all(id, to_answers(ring)); }));
}

void ControlSession::handle(RequestId id, const control::GetGroups&) {
  host_->node.async_groups(
      ends(id, [id](ControlSession& self, const std::vector<GroupInfo>& groups) {
        self.send_all(id, to_answers(groups));
      }));
}

void ControlSession::handle(RequestId id, const control::GetRoute& request) {
  host_->node.async_route(to_key(request.key),
                          ends(id, [id](ControlSession& self, const Route& route) {
                            self.send(id, to_answer(route, self.host_->node.self()));
                          }));
}

void ControlSession::handle(RequestId id, const control::GetTree& request) {
  host_->node.async_tree(to_public(request.group), request.token,
                         ends(id, [id](ControlSession& self, const Tree& tree) {
                           self.send_all(id, to_answers(tree));
                         }));
}

void ControlSession::handle(RequestId id, const control::GetMembers& request) {
  host_->node.async_member_count(
      to_public(request.group), request.token,
      ends(id, [id, group = request.group](ControlSession& self, const MemberCount& count) {
        self.send(id, control::MemberCount{group, count.members, count.complete});
      }));
}

void ControlSession::handle(RequestId id, const control::Create& request) {
  CreateOptions options;
  options.mode = static_cast<GroupMode>(request.mode);
  if (request.access) options.access = to_public(*request.access);
  options.token = request.token;
  add(id);
  host_->node.async_create(
      to_public(request.group), std::move(options),
      bound(id, [id](ControlSession& self, error_code error, const CreateResult& result) {
        self.end(id);
        if (error) {
          self.send(id, create_failure(error, result));
        } else {
          self.send(id, control::Done{result.existed, static_cast<wire::GroupMode>(result.mode)});
        }
        self.update_reading();
      }));
}

void ControlSession::handle(RequestId id, const control::GetAccess& request) {
  host_->node.async_access(to_public(request.group),
                           ends(id, [id](ControlSession& self, const GroupDefinition& group) {
                             self.send(id, to_answer(group));
                           }));
}

void ControlSession::handle(RequestId id, const control::SetAccess& request) {
  host_->node.async_set_access(to_public(request.group), request.version, to_public(request.access),
                               request.token,
                               ends(id, [id](ControlSession& self, const GroupDefinition& group) {
                                 self.send(id, to_answer(group));
                               }));
}

void ControlSession::handle(RequestId id, const control::DeleteGroup& request) {
  host_->node.async_delete_group(
      to_public(request.group), request.token,
      ends(id, [id](ControlSession& self) { self.send(id, control::Done{}); }));
}

void ControlSession::handle(RequestId id, const control::Publish& request) {
  PublishOptions options;
  options.ack = to_public(request.ack);
  options.headers = request.content.headers;
  options.members_time = request.members_time;
  options.token = request.token;
  // Clients choose their numbers each for itself.
  if (request.chain != 0) options.chain = mix64(mix64(number_) + request.chain);
  add(id);
  host_->node.async_publish(
      to_public(request.group), to_payload(request.content.payload), std::move(options),
      bound(id, [id](ControlSession& self, error_code error, const PublishResult& result) {
        self.end(id);
        if (error) {
          self.send(id, publish_failure(error, result));
        } else {
          self.send(id, to_answer(result));
        }
        self.update_reading();
      }));
}

void ControlSession::handle(RequestId id, const control::Anycast& request) {
  AnycastOptions options;
  options.headers = request.content.headers;
  options.within = request.within;
  options.wait_for_member = request.wait_for_member;
  options.token = request.token;
  host_->node.async_anycast(to_public(request.group), to_payload(request.content.payload),
                            std::move(options),
                            ends(id, [id](ControlSession& self, const AnycastResult& result) {
                              self.send(id, to_answer(result));
                            }));
}

// Replies are worth telling also where they are too few.
void ControlSession::handle(RequestId id, const control::Ask& request) {
  RequestOptions options;
  options.to = request.to_all ? Audience::all : Audience::one;
  options.headers = request.content.headers;
  options.within = request.within;
  options.replies = request.replies;
  options.token = request.token;
  add(id);
  host_->node.async_request(
      to_public(request.group), to_payload(request.content.payload), std::move(options),
      bound(id, [id](ControlSession& self, error_code error, const RequestResult& result) {
        self.end(id);
        self.send_all(id, to_answers(result, error));
        self.update_reading();
      }));
}

void ControlSession::handle(RequestId id, const control::Reply& request) {
  const auto join = operations_.find(request.join);
  auto asked = join == operations_.end()
                   ? std::map<MessageId, Message>::node_type()
                   : join->second.requests.extract(to_message_id(request.request));
  if (asked.empty()) return fail(id, errc::not_awaited);
  if (request.decline) {
    Node::decline(asked.mapped());
    return send(id, control::Done{});
  }
  ReplyOptions options{request.content.headers, request.status};
  add(id);
  host_->node.async_reply(
      asked.mapped(), to_payload(request.content.payload), std::move(options),
      bound(id, [id, join = request.join, membership = std::weak_ptr(join->second.cancel),
                 message = asked.mapped()](ControlSession& self, error_code error) {
        self.end(id);
        // Still owed: the client can try again, if it is the same membership.
        const auto found = self.operations_.find(join);
        if (error == errc::queue_full && found != self.operations_.end() &&
            found->second.cancel == membership.lock())
          self.keep_request(join, message);
        if (error)
          self.fail(id, error);
        else
          self.send(id, control::Done{});
        self.update_reading();
      }));
}

void ControlSession::handle(RequestId id, const control::Shutdown&) {
  send(id, control::Done{});
  asio::post(host_->io, [host = host_] { host->shutdown(); });
}

bool ControlSession::has_queues(RequestId id) {
  if (!host_->queues)
    send(id, control::Failure{static_cast<std::uint16_t>(errc::unsupported),
                              "this daemon has no queues: start canopyd with --gateway "
                              "127.0.0.1:9324, and with --data DIR to keep them"});
  else if (!host_->queues->is_open())
    fail(id, errc::shutting_down);
  return host_->queues && host_->queues->is_open();
}

void ControlSession::handle(RequestId id, const control::AddBridge& request) {
  if (!has_queues(id)) return;
  host_->queues->gateway().async_add_bridge(
      to_public(request.group), request.queue,
      ends(id, [id](ControlSession& self, const BridgeInfo& bridge) {
        self.send_all(id, to_answers(std::vector{bridge}));
      }));
}

void ControlSession::handle(RequestId id, const control::RemoveBridge& request) {
  if (!has_queues(id)) return;
  host_->queues->gateway().async_remove_bridge(
      to_public(request.group), request.queue,
      ends(id, [id](ControlSession& self) { self.send(id, control::Done{}); }));
}

void ControlSession::handle(RequestId id, const control::GetBridges&) {
  if (!has_queues(id)) return;
  host_->queues->gateway().async_bridges(
      ends(id, [id](ControlSession& self, const std::vector<BridgeInfo>& bridges) {
        self.send_all(id, to_answers(bridges));
      }));
}

// A call has no signal: it ends with its operation.
void ControlSession::handle(RequestId id, const control::QueueCall& request) {
  if (!has_queues(id)) return;
  add(id);
  auto under_way =
      host_->queues->call(request, [weak = weak_from_this(), id](const gateway::Answer& answer) {
        const auto self = weak.lock();
        self->end(id);
        self->send(id, answer);
        self->update_reading();
      });
  if (under_way) operations_.at(id).queue_request = std::move(under_way);
}

void ControlSession::close_queues() {
  std::vector<RequestId> ids;
  for (const auto& [id, operation] : operations_)
    if (operation.queue_request) ids.push_back(id);
  for (const RequestId id : ids) {
    end(id);
    fail(id, errc::shutting_down);
  }
  update_reading();
}

void ControlSession::handle(RequestId id, const control::Cancel&) {
  const auto found = operations_.find(id);
  if (found == operations_.end()) return;  // it has just ended by itself
  if (found->second.queue_request) {
    end(id);
    return fail(id, errc::cancelled);
  }
  if (!found->second.subscription) {
    found->second.cancel->emit(asio::cancellation_type::total);
    return;
  }
  end(id);
  send(id, control::Done{});
}

// --- Memberships ---

void ControlSession::handle(RequestId id, const control::Join& request) {
  if (joins_ >= host_->limits.joins_max) {
    send(id, control::Failure{static_cast<std::uint16_t>(errc::limit),
                              fmt::format("one connection may join {} groups: use several",
                                          host_->limits.joins_max)});
    return;
  }
  JoinOptions options;
  options.queue_messages_max = host_->limits.subscription_messages_max;
  options.queue_bytes_max = host_->limits.subscription_bytes_max;
  options.shared_room = room_;
  options.token = request.token;
  options.presence = request.presence;
  options.last = request.last;
  options.accept_anycast = request.accept_anycast;
  options.requests = request.requests;
  add(id).join = true;
  ++joins_;
  host_->node.async_join(
      to_public(request.group), options,
      bound(id, [id](ControlSession& self, error_code error, Subscription subscription) {
        if (!error) return self.joined(id, std::move(subscription));
        self.end(id);
        self.fail(id, error);
        self.update_reading();
      }));
}

void ControlSession::joined(RequestId id, Subscription subscription) {
  const GroupName group = subscription.group();
  const auto mode = static_cast<wire::GroupMode>(subscription.mode());
  operations_.at(id).subscription = std::move(subscription);
  const wire::GroupName name{group.name, group.creator};
  send(id, control::Joined{name, scribe::group_id(name, Id::bits), mode});
  receive(id);
}

void ControlSession::receive(RequestId id) {
  Operation& operation = operations_.at(id);
  if (operation.receiving || !outbox_.empty()) return;
  operation.receiving = true;
  operation.subscription.async_receive(
      events_per_batch,
      bound(id, [id](ControlSession& self, error_code error, const std::vector<Event>& events) {
        self.operations_.at(id).receiving = false;
        for (const Event& event : events) self.deliver(id, event);
        if (!self.operations_.contains(id)) return;  // detached
        if (!error) return self.receive(id);
        self.end(id);
        self.fail(id, error);
      }));
}

void ControlSession::deliver(RequestId id, const Event& event) {
  if (const auto* message = std::get_if<Message>(&event)) {
    if (message->request) keep_request(id, *message);
    send(id, to_answer(*message));
  } else if (const auto* ended = std::get_if<RequestEnded>(&event)) {
    operations_.at(id).requests.erase(ended->id);
    send(id, to_answer(*ended));
  } else if (const auto* gap = std::get_if<Gap>(&event)) {
    send(id, control::Gap{gap->epoch, gap->first, gap->last});
  } else if (const auto* lost = std::get_if<Lost>(&event)) {
    send(id, control::Lost{lost->count, lost->on_the_way});
  } else if (const auto* presence = std::get_if<Presence>(&event)) {
    send(id, to_answer(*presence));
  } else if (std::holds_alternative<NoLast>(event)) {
    send(id, control::NoLast{});
  } else if (const auto* detached = std::get_if<Detached>(&event)) {
    end(id);
    fail(id, detached->reason);
  }
}

// What is kept goes, and declines, with the membership.
void ControlSession::keep_request(RequestId id, const Message& message) {
  Message kept;
  kept.id = message.id;
  kept.request = message.request;
  operations_.at(id).requests.insert_or_assign(message.id, std::move(kept));
}

// --- Bookkeeping ---

ControlSession::Operation& ControlSession::add(RequestId id) { return operations_[id]; }

void ControlSession::end(RequestId id) {
  const auto found = operations_.find(id);
  if (found->second.join) --joins_;
  operations_.erase(found);
}

void ControlSession::fail(RequestId id, const error_code& error) { send(id, to_answer(error)); }

void ControlSession::send(RequestId id, control::Answer answer, bool more) {
  if (!open_) return;
  auto frame = control::encode(control::AnswerEnvelope{id, more, std::move(answer)});
  if (!frame) frame = control::encode(control::AnswerEnvelope{id, false, to_answer(frame.error())});
  if (!outbox_.empty() || !channel_->send(*frame)) outbox_.push_back(std::move(*frame));
}

void ControlSession::send_all(RequestId id, std::vector<control::Answer> answers) {
  for (std::size_t i = 0; i < answers.size(); ++i)
    send(id, std::move(answers[i]), i + 1 < answers.size());
}

void ControlSession::send(RequestId id, const gateway::Answer& answer) {
  const Buffer body = Buffer::copy_of(answer.body);
  std::vector<control::Answer> parts;
  std::size_t sent = 0;
  do {
    const std::size_t size = std::min(body.size() - sent, control::queue_part_bytes_max);
    parts.emplace_back(control::QueueAnswer{answer.status, body.slice(sent, size)});
    sent += size;
  } while (sent < body.size());
  send_all(id, std::move(parts));
}

void ControlSession::on_writable() {
  while (!outbox_.empty()) {
    if (!channel_->send(outbox_.front())) return;
    outbox_.pop_front();
  }
  for (auto& [id, operation] : operations_)
    if (operation.subscription) receive(id);
  update_reading();
}

void ControlSession::update_reading() {
  if (!open_) return;
  if (outbox_.empty() && requests() < host_->limits.requests_max)
    channel_->resume_reading();
  else
    channel_->pause_reading();
}

}  // namespace canopy::node
