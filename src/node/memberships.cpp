#include "node/memberships.hpp"

#include <algorithm>
#include <utility>

#include "node/access_text.hpp"
#include "node/values.hpp"
#include "wire/content.hpp"

namespace canopy::node {

Memberships::Memberships(scribe::Scribe& scribe, std::shared_ptr<Mailbox> mailbox,
                         boost::asio::any_io_executor executor, const Limits& limits)
    : scribe_(scribe),
      mailbox_(std::move(mailbox)),
      executor_(std::move(executor)),
      limits_(limits),
      requests_(mailbox_, [this](const wire::MessageId& id) {
        requests_.settled(id);
        scribe_.decline(id);
      }) {}

void Memberships::join(const wire::GroupName& name, const JoinOptions& options,
                       std::shared_ptr<Join> join) {
  const Id id = scribe::group_id(name, Id::bits);
  const bool full = subscriptions_ + waiting_ >= limits_.subscriptions_max ||
                    (groups_.size() >= limits_.groups_max && !groups_.contains(id));
  if (full) {
    ++refused_;
    return join->fail(errc::limit);
  }
  auto [position, fresh] = groups_.try_emplace(id);
  Group& group = position->second;
  if (fresh) {
    group.name = name;
  } else if (group.name != name) {
    return join->fail(errc::name_conflict);
  }
  if (group.joined) return subscribe(id, group, {options, std::move(join)});
  group.waiting.push_back({options, std::move(join)});
  ++waiting_;
  if (!fresh) return;
  group.token = options.token;
  start_join(id, group);
}

void Memberships::start_join(const Id& id, Group& group) {
  scribe_.join(
      group.name, [this, id](boost::system::error_code error) { joined(id, error); },
      token_key(group.token));
}

// Of those that wait, the first with one that was not shown yet.
bool Memberships::try_other_token(const Id& id, Group& group) {
  const auto shown = [&](const Waiting& waiting) { return waiting.options.token == group.token; };
  for (const Waiting& waiting : group.waiting) {
    if (shown(waiting)) waiting.join->fail(errc::denied);
  }
  waiting_ -= std::erase_if(group.waiting, shown);
  if (group.waiting.empty()) return false;
  group.token = group.waiting.front().options.token;
  start_join(id, group);
  return true;
}

void Memberships::joined(const Id& id, boost::system::error_code error) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;  // the node has stopped meanwhile
  if (error == errc::denied && try_other_token(id, position->second)) return;
  if (error) {
    end_group(position->second, error);
    groups_.erase(position);
    return;
  }
  Group& group = position->second;
  group.joined = true;
  waiting_ -= group.waiting.size();
  for (const Waiting& waiting : std::exchange(group.waiting, {})) subscribe(id, group, waiting);
  leave_if_unused(id);
}

void Memberships::subscribe(const Id& id, Group& group, const Waiting& waiting) {
  if (!waiting.join->claim()) return;  // cancelled
  auto subscription =
      std::make_shared<State>(executor_, to_group_name(group.name), waiting.options);
  if (scribe_.history(id)) subscription->set_mode(GroupMode::ordered);
  subscription->on_end([this, id, mailbox = mailbox_, weak = std::weak_ptr(subscription)] {
    mailbox->post_always([this, id, weak] { ended(id, weak.lock()); });
  });
  subscription->on_drained([this, id, mailbox = mailbox_, weak = std::weak_ptr(subscription)] {
    mailbox->post_always([this, id, weak] { drained(id, weak.lock()); });
  });
  Follower& follower = group.subscriptions.emplace_back(subscription);
  ++subscriptions_;
  if (waiting.options.last) begin_last(id, follower);
  if (waiting.options.presence) begin_presence(id, *subscription);
  waiting.join->finish({}, Subscription(std::move(subscription)));
}

// What others were told is the first that this one is; else it comes by itself.
void Memberships::begin_presence(const Id& id, State& subscription) {
  scribe_.watch(id, true);
  if (const auto now = scribe_.presence(id)) {
    subscription.push(Presence{now->members, now->complete, {}, {}, 0, 0});
  }
}

void Memberships::begin_last(const Id& id, Follower& follower) {
  follower.await_last();
  scribe_.last(id,
               [this, id, weak = std::weak_ptr(follower.handle())](
                   boost::system::error_code error, const std::optional<wire::Multicast>& found) {
                 last(id, weak.lock(), error, found);
               });
}

void Memberships::last(const Id& id, const std::shared_ptr<State>& subscription,
                       boost::system::error_code error,
                       const std::optional<wire::Multicast>& found) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;
  auto follower = find(position->second, subscription);
  if (follower == position->second.subscriptions.end()) return;
  if (error) return follower->no_last_known(scribe_.history(id), translation(position->second));
  std::optional<Message> message;
  if (found && to_message(position->second, *found, message.emplace())) {
    message->last = true;
  } else {
    message.reset();
  }
  follower->last(message, scribe_.history(id), translation(position->second));
}

void Memberships::presence(const Id& id, const Presence& presence) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;
  for (const Follower& follower : position->second.subscriptions)
    if (follower.subscription().wants_presence()) follower.subscription().push(presence);
}

void Memberships::ended(const Id& id, const std::shared_ptr<State>& subscription) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;
  auto found = find(position->second, subscription);
  if (found == position->second.subscriptions.end()) return;
  lost_before_ += subscription->lost();
  position->second.subscriptions.erase(found);
  --subscriptions_;
  const bool watched = std::ranges::any_of(
      position->second.subscriptions,
      [](const Follower& follower) { return follower.subscription().wants_presence(); });
  if (!watched) scribe_.watch(id, false);
  leave_if_unused(id);
}

void Memberships::drained(const Id& id, const std::shared_ptr<State>& subscription) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;
  auto found = find(position->second, subscription);
  if (found == position->second.subscriptions.end()) return;
  found->catch_up(scribe_.history(id), translation(position->second));
}

std::vector<Follower>::iterator Memberships::find(Group& group,
                                                  const std::shared_ptr<State>& subscription) {
  return std::ranges::find(group.subscriptions, subscription, &Follower::handle);
}

Follower::Translate Memberships::translation(const Group& group) {
  return [this, &group](const wire::Multicast& multicast, Message& message) {
    return to_message(group, multicast, message);
  };
}

void Memberships::leave_if_unused(const Id& id) {
  auto position = groups_.find(id);
  const Group& group = position->second;
  if (!group.joined || !group.subscriptions.empty()) return;
  groups_.erase(position);
  scribe_.leave(id);
}

std::size_t Memberships::multicast(const wire::Multicast& multicast) {
  auto position = groups_.find(multicast.group);
  if (position == groups_.end()) return 0;
  Group& group = position->second;
  Message message;
  if (!to_message(group, multicast, message)) return 0;
  const auto* history = multicast.epoch == 0 ? nullptr : scribe_.history(multicast.group);
  const auto translate = translation(group);
  const wire::Asking& asking = multicast.asking;
  const bool asks = asking.asker && asking.within_ms != 0;
  std::size_t repliers = 0;
  for (Follower& follower : group.subscriptions) {
    if (asks && follower.subscription().replies()) {
      // One that is behind gets it later, as an ordinary message: this one declines.
      Message request = message;
      request.request = requests_.issue(multicast.id, asking.within_ms, follower.handle());
      follower.multicast(multicast, request, history, translate);
      ++repliers;
    } else {
      follower.multicast(multicast, message, history, translate);
    }
  }
  return repliers;
}

void Memberships::gap(const Id& id, const scribe::Missed& missed) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;
  const auto* history = scribe_.history(id);
  const auto translate = translation(position->second);
  for (Follower& follower : position->second.subscriptions)
    follower.gap(missed, history, translate);
}

void Memberships::lost(const Id& id, std::uint64_t count) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;
  for (const Follower& follower : position->second.subscriptions)
    follower.subscription().push(Lost{count, true});
}

bool Memberships::anycast(const wire::Anycast& anycast) {
  auto position = groups_.find(anycast.group);
  if (position == groups_.end()) return false;
  Group& group = position->second;
  auto& all = group.subscriptions;
  Message message;
  if (all.empty() || !to_message(group, anycast.id, anycast.body, message)) return false;
  message.anycast = true;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (!give(all[(group.next_anycast + n) % all.size()], anycast, message)) continue;
    group.next_anycast += n + 1;
    return true;
  }
  return false;
}

bool Memberships::give(Follower& follower, const wire::Anycast& anycast, Message& message) {
  State& subscription = follower.subscription();
  if (!anycast.wants_reply) return subscription.accepts_anycast() && subscription.take(message);
  if (!subscription.takes_request()) return false;
  message.request = requests_.issue(anycast.id, anycast.within_ms, follower.handle());
  const auto request = message.request->handle;
  if (subscription.take(message)) return true;
  request->revoke();
  requests_.settled(anycast.id);
  return false;
}

void Memberships::request_over(const wire::MessageId& id, boost::system::error_code reason) {
  requests_.over(id, reason);
}

bool Memberships::to_message(const Group& group, const wire::Multicast& multicast,
                             Message& message) {
  if (!to_message(group, multicast.id, multicast.body, message)) return false;
  message.epoch = multicast.epoch;
  if (message.epoch != 0) message.position = multicast.sequence;
  return true;
}

bool Memberships::to_message(const Group& group, const wire::MessageId& id, const Buffer& body,
                             Message& message) {
  auto content = wire::decode_content(body, limits_.payload_bytes_max);
  if (!content) {
    ++malformed_;
    return false;
  }
  message.group = to_group_name(group.name);
  message.id = to_message_id(id);
  message.headers = std::move(content->headers);
  message.payload = to_payload(content->payload);
  return true;
}

void Memberships::detached(const Id& id, boost::system::error_code reason) {
  auto position = groups_.find(id);
  if (position == groups_.end()) return;
  end_group(position->second, reason);
  groups_.erase(position);
}

void Memberships::end(boost::system::error_code reason) {
  for (auto& [id, group] : groups_) end_group(group, reason);
  groups_.clear();
}

void Memberships::end_group(Group& group, boost::system::error_code reason) {
  waiting_ -= group.waiting.size();
  for (const Waiting& waiting : group.waiting) waiting.join->fail(reason);
  for (Follower& follower : group.subscriptions) {
    follower.detach(reason);
    lost_before_ += follower.subscription().lost();
  }
  subscriptions_ -= group.subscriptions.size();
}

std::size_t Memberships::subscriptions_of(const Id& group) const {
  auto position = groups_.find(group);
  return position == groups_.end() ? 0 : position->second.subscriptions.size();
}

std::uint64_t Memberships::lost() const noexcept {
  std::uint64_t lost = lost_before_;
  for (const auto& [id, group] : groups_)
    for (const Follower& follower : group.subscriptions) lost += follower.subscription().lost();
  return lost;
}

}  // namespace canopy::node
