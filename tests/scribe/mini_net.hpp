// A small network of whole overlay peers in virtual time, for tests: links with
// delays that keep order, peers that die, hang and wake. Deterministic.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "scribe/overlay_peer.hpp"

namespace canopy::scribe::test {

using namespace std::chrono_literals;

class MiniNet;

// The group of most tests.
inline const wire::GroupName prices{"prices", "ann"};

// What a peer's user was told.
struct Delivered {
  Id group;
  wire::MessageId id;
  std::string text;
  MonoTime at{};
  wire::Position position = {};
};

class Box final : public wire::Env, public Events {
 public:
  Box(MiniNet& net, PeerRef ref, const OverlayConfig& config, std::uint64_t seed);

  // wire::Env
  MonoTime now() const override;
  Random& random() override { return random_; }
  PeerTable& peers() override;
  void send(PeerRef to, wire::Message message) override;
  std::size_t backlog(PeerRef to) override { return backlogs.contains(to) ? backlogs.at(to) : 0; }
  void wake_at(MonoTime deadline) override;

  // Events
  void multicast(const wire::Multicast& message) override;
  void gap(const Id& group, const Missed& missed) override;
  void lost(const Id& group, std::uint64_t count) override;
  void presence(const Id& group, const Presence& presence) override;
  bool anycast(const wire::Anycast& message) override;
  void request_over(const wire::MessageId& id, boost::system::error_code reason) override;
  void detached(const Id& group, boost::system::error_code reason) override;
  void keep_state(const wire::GroupState& state) override;
  void root_state_lost(const wire::GroupName&, const std::string& what) override {
    states_lost.push_back(what);
  }
  void forget_state(const Id& group) override { disk.erase(group); }

  std::size_t count(const std::string& text) const;  // how often it was delivered

  MiniNet& net;
  const PeerRef ref;
  bool alive = true;
  bool hung = false;
  bool willing = true;  // to take anycasts
  std::map<PeerRef, std::size_t> backlogs;
  std::vector<Delivered> delivered;
  std::vector<Missed> gaps;
  std::vector<Presence> presences;
  std::uint64_t told_lost = 0;
  std::vector<std::string> anycasts;
  std::size_t repliers = 0;          // subscribers that have what is asked of all
  std::vector<wire::MessageId> had;  // requests
  std::vector<std::pair<wire::MessageId, boost::system::error_code>> over;
  std::vector<boost::system::error_code> detachments;
  std::vector<std::string> states_lost;
  std::deque<std::pair<PeerRef, wire::Message>> inbox;  // while hung
  std::map<Id, wire::GroupState> disk;                  // Config::keeps_states
  bool disk_works = true;
  MonoTime wake = never;
  std::unique_ptr<OverlayPeer> peer;

  Scribe& scribe() { return peer->scribe(); }

 private:
  Random random_;
};

class MiniNet {
 public:
  explicit MiniNet(std::uint64_t seed);
  ~MiniNet();

  OverlayConfig config;  // for peers added from now on

  // Peers that know each other, as if they had joined long ago.
  void build(std::size_t count);
  // One more, by the join protocol; runs until it is active.
  Box& add(const std::string& name);
  Box& begin_add(const std::string& name);  // its join is under way
  Box& restart(PeerRef ref);

  void kill(PeerRef ref);  // links break: senders are told
  void hang(PeerRef ref);  // reads nothing, says nothing
  // Both are ready at once: timers that are long due, and what has arrived.
  enum class WakesTo { timers, inbox };
  void wake_up(PeerRef ref, WakesTo first = WakesTo::timers);
  // Drops messages of this type that `lost` says so of.
  std::function<bool(PeerRef from, PeerRef to, const wire::Message&)> lost;

  // How much longer than its link's delay a message takes; later ones of its class wait.
  std::function<Duration(PeerRef from, PeerRef to, const wire::Message&)> lag;

  void run_for(Duration span);
  // Whether it came true before the deadline.
  bool run_until(const std::function<bool()>& done, Duration limit);
  MonoTime now() const { return now_; }

  Box& operator[](PeerRef ref) { return *boxes_.at(ref); }
  std::vector<Box*> live();
  PeerTable& table() { return table_; }
  Random& random() { return random_; }
  std::uint64_t sent(const std::string& type) const;

  // --- Operations, run until they are complete ---
  boost::system::error_code join(PeerRef ref, const wire::GroupName& name,
                                 const TokenKey& key = nullptr);
  boost::system::error_code create(PeerRef ref, const wire::GroupName& name,
                                   wire::GroupMode mode = wire::GroupMode::best_effort);
  PublishOutcome publish(PeerRef ref, const wire::GroupName& name, const std::string& text,
                         wire::AckMode ack = wire::AckMode::root,
                         Duration within = Duration::zero(), const TokenKey& key = nullptr);
  std::pair<boost::system::error_code, MemberCount> members(PeerRef ref,
                                                            const wire::GroupName& name,
                                                            const TokenKey& key = nullptr);
  std::optional<wire::Multicast> last(PeerRef ref, const wire::GroupName& name);
  // Starts one and forgets it.
  void shout(PeerRef ref, const wire::GroupName& name, const std::string& text,
             wire::AckMode ack = wire::AckMode::none);
  std::pair<boost::system::error_code, PeerRef> anycast(PeerRef ref, const wire::GroupName& name,
                                                        const std::string& text,
                                                        const AnycastTerms& terms = {});

  // --- The same, of groups with access lists ---
  std::pair<boost::system::error_code, CreateOutcome> create(
      PeerRef ref, const wire::GroupName& name, const wire::AccessList& access,
      wire::GroupMode mode = wire::GroupMode::best_effort, const TokenKey& key = nullptr);
  std::pair<boost::system::error_code, wire::GroupState> look(PeerRef ref,
                                                              const wire::GroupName& name);
  // Whatever the list is.
  boost::system::error_code set_access(PeerRef ref, const wire::GroupName& name,
                                       const wire::AccessList& access,
                                       const TokenKey& key = nullptr);
  boost::system::error_code remove(PeerRef ref, const wire::GroupName& name,
                                   const TokenKey& key = nullptr);

  // --- The tree, seen from outside ---
  PeerRef closest_live(const Id& key) const;  // who should be the root
  std::vector<PeerRef> roots(const Id& group);
  std::vector<PeerRef> forwarders(const Id& group);  // neither root nor member
  std::vector<PeerRef> members(const Id& group);
  // Everything that is wrong with the tree: more or less than one root, members
  // or forwarders without a way to it, edges that one end does not know, cycles.
  std::vector<std::string> faults(const Id& group);

 private:
  friend class Box;
  static void tick(Box& box);
  struct Event {
    MonoTime at;
    std::uint64_t sequence = 0;
    PeerRef from;  // empty: a tick
    PeerRef to;
    bool refused = false;  // `to` learns that `from` cannot be reached
    std::shared_ptr<wire::Message> message;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.at, a.sequence) > std::tie(b.at, b.sequence);
    }
  };

  PeerRef make(const std::string& name, std::uint64_t incarnation);
  Duration delay(PeerRef a, PeerRef b);
  void push(Event event);
  void handle(Event& event);
  void transmit(PeerRef from, PeerRef to, wire::Message message);

  PeerTable table_;
  Random random_;
  MonoTime now_{1h};
  std::uint64_t sequence_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<PeerRef, std::unique_ptr<Box>> boxes_;
  std::map<PeerRef, std::pair<double, double>> places_;
  std::map<std::tuple<PeerRef, PeerRef, wire::TrafficClass>, MonoTime> link_busy_until_;
  std::map<std::string, std::uint64_t> sent_;
  std::vector<std::unique_ptr<OverlayConfig>> configs_;
};

}  // namespace canopy::scribe::test
