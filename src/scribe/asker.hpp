// Requests of this node to members of groups, and the replies to them.
//
// To one member: an anycast that wants a reply. Who has taken it says from time to
// time that it still has it. If it falls silent, fails or declines, the same
// request goes to another member, which the first one then does not know: a
// request may be worked on twice, but is answered once.
//
// To all: a tracked multicast that wants replies. It is complete when enough
// replies have come, or when all that were counted to have the request have said
// their last; else at its deadline.
//
// A cancelled request is cancelled at the members that are known to have it, which
// a request to all does not know: there each one learns it by its reply, or when
// it asks next.
//
// A part of a Scribe node; shares its Core. Takes no memory before it is used. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <canopy/error.hpp>

#include "base/quota.hpp"
#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

class Anycasts;
class Dissemination;
class Replier;

class Asker {
 public:
  Asker(Core& core, Anycasts& anycasts, Dissemination& dissemination, Replier& replier)
      : core_(core), anycasts_(anycasts), dissemination_(dissemination), replier_(replier) {}

  // The request's id; zero if it cannot be sent, which `done` is told.
  wire::MessageId start(const wire::GroupName& name, Buffer body, const RequestTerms& terms,
                        RequestCompletion done);
  // Nobody waits any more; `done` is not called.
  void cancel(const wire::MessageId& id);

  void on(PeerRef from, const wire::Reply& reply);
  void on(PeerRef from, const wire::RequestCheck& check);

  void peer_failed(PeerRef peer);
  // The transport cannot reach the peer: looked into if it has a request.
  void unreachable(PeerRef peer);
  void shut_down();
  void tick();
  MonoTime next_deadline() const { return state_ ? state_->timers.next() : never; }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  // Of one peer, to a request to all.
  struct Progress {
    std::set<std::uint32_t> had;  // numbers of its replies
    std::uint32_t last = 0;       // of its last one, once known
    bool finished() const noexcept { return last != 0 && had.size() >= last; }
  };
  struct Asked {
    RequestTerms terms;
    RequestCompletion done;
    RequestOutcome outcome;  // so far
    MonoTime deadline{};
    std::size_t bytes = 0;  // of replies
    std::map<PeerRef, Progress> progress;

    // To one; but the body is kept of all.
    wire::Anycast message;           // as it is sent again; its passed_over grow
    PeerRef taker;                   // who has it; empty while one is searched for
    MonoTime taker_lost_at = never;  // unless it is heard of
    wire::Peers takers;              // all who may have it
    bool lost = false;               // one of them has been

    // To all.
    bool all_counted = false;
    std::size_t finished = 0;  // peers
    std::size_t good = 0;      // replies of which none says that it failed
  };
  using Requests = std::map<std::uint64_t, Asked>;  // by sequence
  struct State {
    explicit State(const Config& config);
    Requests asked;
    Quota room;
    DeadlineSet<std::uint64_t> timers;
  };

  State& ensure();
  Asked* find(const wire::MessageId& id);
  wire::MessageId refuse(errc error, RequestCompletion done);
  void ask_one(const wire::GroupName& name, Asked& asked);
  void search(Asked& asked);
  void searched(std::uint64_t sequence, const AnycastOutcome& outcome);
  static bool has_given_up(const Asked& asked, PeerRef member);
  void has_taken(std::uint64_t sequence, Asked& asked, PeerRef member);
  void move_on(std::uint64_t sequence, Asked& asked);
  void ask_all(const wire::GroupName& name, Asked& asked, Buffer body);
  void published(std::uint64_t sequence, const PublishOutcome& outcome);
  bool take(Asked& asked, PeerRef from, const wire::Reply& reply);
  bool enough(const Asked& asked) const;
  void judge(std::uint64_t sequence);
  void schedule(std::uint64_t sequence, const Asked& asked);
  void finish(std::uint64_t sequence, boost::system::error_code error);
  void time_out(std::uint64_t sequence, const Asked& asked);
  void forget(std::uint64_t sequence, PeerRef replied);
  Duration taker_patience() const;
  template <class Message>
  void tell(PeerRef replier, const Message& message);

  Core& core_;
  Anycasts& anycasts_;
  Dissemination& dissemination_;
  Replier& replier_;
  std::unique_ptr<State> state_;
};

}  // namespace canopy::scribe
