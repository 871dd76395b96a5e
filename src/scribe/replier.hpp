// Requests of others that this node's members are to reply to.
//
// Whoever has a request asks the asker from time to time whether it still waits:
// by that it learns of a cancellation that has passed it by, and the asker that
// its request is in good hands. Replies are sent again until they are
// acknowledged. A request is over here when everybody has replied, when its time
// is up, when the asker waits no longer, or when it is gone.
//
// A part of a Scribe node; shares its Core. Takes no memory before it is used. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/quota.hpp"
#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

class Asker;

class Replier {
 public:
  Replier(Core& core, Asker& asker) : core_(core), asker_(asker) {}

  bool has_room() const;
  // This node's member has taken it.
  void open(const wire::Anycast& request);
  // This node's members have got it, and so many will reply.
  void open(const wire::Multicast& request, std::size_t replies);

  // One of the replies. Done when the asker has it; not_awaited, too_large,
  // queue_full (nothing has happened), timed_out, unreachable, shutting_down.
  void reply(const wire::MessageId& id, std::uint32_t status, Buffer body, Completion done);
  // In place of one.
  void decline(const wire::MessageId& id);

  void on(PeerRef from, const wire::ReplyAck& ack);
  void on(PeerRef from, const wire::RequestCancel& cancel);

  void peer_failed(PeerRef peer);
  void shut_down();
  void tick();
  MonoTime next_deadline() const { return state_ ? state_->timers.next() : never; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Unacked {
    wire::Reply message;
    Completion done;  // empty: nobody waits
  };
  struct Open {
    PeerRef asker;
    MonoTime deadline{};
    std::size_t outstanding = 0;  // replies that are still to come from here
    std::uint32_t replies = 0;    // that were sent
    std::map<std::uint32_t, Unacked> unacked;
    bool shared = false;      // with all members
    Duration pause{};         // until it asks again
    unsigned unanswered = 0;  // times that it has asked since it heard of the asker
  };
  using Requests = std::map<wire::MessageId, Open>;
  struct State {
    explicit State(const Config& config);
    Requests open;
    Quota room;  // for unacknowledged replies
    DeadlineSet<wire::MessageId> timers;
  };

  State& ensure();
  Open* find(const wire::MessageId& id);
  void add(const wire::MessageId& id, PeerRef asker, std::uint32_t within_ms, std::size_t replies,
           bool shared);
  void send(Open& open, wire::Reply reply, Completion done);
  void ask_again(const wire::MessageId& id, Open& open);
  void schedule(const wire::MessageId& id, const Open& open);
  void acknowledged(Open& open, std::uint32_t number);
  void close(const wire::MessageId& id, boost::system::error_code reason);
  template <class Message>
  void tell(PeerRef asker, const Message& message);

  Core& core_;
  Asker& asker_;
  std::unique_ptr<State> state_;
};

}  // namespace canopy::scribe
