// Anycast: a message to one willing member, near the sender.
//
// The search starts at the first tree node on the way to the root and goes
// through the tree depth-first, nearest child first (anycast_search.hpp), until a
// member takes the message. Nearest first means just that: as long as the nearest
// member is willing, it gets everything.
//
// A search may get lost with a peer. The origin then begins another one, under the
// same id, until it has an answer or time is up; long searches tell it that they
// are still under way. A member knows what it has taken, and answers again. So two
// members get a message only if the one that took it first, or its answer, is lost.
//
// How many one peer may send, the first node that its search comes to decides: most
// never see the root.
//
// A part of a Scribe node; shares its Core. Takes no memory before it is used. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <canopy/error.hpp>

#include "base/quota.hpp"
#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

class Replier;

class Anycasts {
 public:
  Anycasts(Core& core, Replier& replier) : core_(core), replier_(replier) {}

  // The message's id; zero if it cannot be sent, which `done` is told.
  wire::MessageId start(const wire::GroupName& name, Buffer body, const AnycastTerms& terms,
                        AnycastCompletion done);

  // --- For whoever makes its own messages ---
  struct Search {
    wire::Anycast message;
    MonoTime deadline{};
    Patience patience = Patience::none;
    AnycastCompletion done;
  };
  // What forbids to send this now; errc{} if nothing does.
  errc refusal(const wire::GroupName& name, const Buffer& body) const;
  void begin(Search search);
  // Nobody is told any more how it ends.
  void forget(std::uint64_t sequence);

  // --- Messages ---
  // The search has come to this node: the first of the tree on the way, the root,
  // or one that another node sent it to.
  void visit(wire::Anycast message);
  // It came while this process was stopped, and is given up by now.
  bool is_late(const wire::Anycast& message) const;
  // The root knows of no such group.
  void refuse_unknown(const wire::Anycast& message);
  void on_reply(const wire::AnycastReply& reply);

  void shut_down();
  void tick();
  MonoTime next_deadline() const { return state_ ? state_->timers.next() : never; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Pending {
    Search search;
    unsigned searches = 0;
    unsigned looks = 0;     // of these, that have found nobody
    Duration pause{};       // until the next search, if nothing is heard
    Duration look_pause{};  // the same, once one has found nobody
    bool too_fast = false;  // the latest answer: it is to wait
  };
  struct State {
    explicit State(const Config& config);
    std::map<std::uint64_t, Pending> pending;  // by sequence
    Quota room;
    DeadlineSet<std::uint64_t> timers;
    DuplicateWindow taken;  // by this node's member
  };

  State& ensure();
  void launch(Pending& pending);
  bool looks_again(const Pending& pending, bool busy) const;
  bool back_off(Pending& pending, const wire::AnycastReply& reply);
  bool may_enter(const wire::Anycast& message);
  void look_again(Pending& pending);
  void schedule(const Pending& pending, Duration pause);
  void finish(std::uint64_t sequence, boost::system::error_code error, PeerRef member);
  bool offer(const wire::Anycast& message);
  void tell_progress(const wire::Anycast& message);
  void reply(const wire::Anycast& message, boost::system::error_code error, PeerRef member);
  void answer(PeerRef origin, const wire::AnycastReply& reply);
  wire::Peers nearest_first(const Group& group) const;

  Core& core_;
  Replier& replier_;
  std::unique_ptr<State> state_;
};

}  // namespace canopy::scribe
