// How a node that was started gets into its ring: through seeds, by founding,
// or as the only one of its cluster until somebody answers.
//
// Seeds are dialled in parallel and again and again until the node is active;
// while it is active but alone it goes on, so that a node that began as a ring
// of one finds the others. Later a seed is met again now and then, by a few nodes of
// each ring: so two rings of a cluster that never met, or have forgotten each other,
// become one. When patience runs out without an answer, the rules
// of founding.hpp decide. Members of one cluster that were all switched on
// together and know each other only as seeds would wait for each other for
// ever: there the one with the smallest id begins.
//
// Peers that a node knows from an earlier life are seeds, too.
//
// A seed of another cluster ends the start of a node that knows no cluster yet:
// which one it was to join is then unclear. Who knows its own passes such seeds
// over, and gives up when there are no others.
// On the overlay's thread; the host and the timers must outlive it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/peer.hpp"
#include "base/random.hpp"
#include "node/founding.hpp"
#include "node/seeds.hpp"
#include "node/timer_queue.hpp"

namespace canopy::node {

class ArrivalHost {
 public:
  // Answered by seed_answered() or seed_failed(), never within the call.
  virtual void dial_seed(const std::string& seed) = 0;
  virtual void found_cluster() = 0;  // draw a UUID, become active
  virtual void resume_alone() = 0;   // become active in the cluster that is known
  virtual void join_by(PeerRef contact) = 0;
  // No waiting will help: the node cannot be part of that cluster.
  virtual void give_up(boost::system::error_code error, const std::string& text) = 0;
  virtual bool smaller_id_than(PeerRef peer) const = 0;
  virtual bool alone() const = 0;        // no other peer is known to be in the ring
  virtual double ring_size() const = 0;  // about so many peers, this one included

 protected:
  ~ArrivalHost() = default;
};

class Arrival {
 public:
  struct Config {
    Seeds::Config seeds;
    Duration patience = std::chrono::seconds(3);      // without any answer
    Duration lonely_pause = std::chrono::seconds(5);  // between looks at being alone
    Duration seed_pause = std::chrono::seconds(60);   // between tries of a seed when it is not
    double seed_tries = 4;                            // in that time, by the whole ring
  };

  // `name`: this node's, for the log.
  Arrival(const FoundingFacts& facts, std::string name, const std::vector<std::string>& seeds,
          const Config& config, TimerQueue& timers, Random random, ArrivalHost& host);
  ~Arrival();
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  // Peers of the cluster from an earlier life, to be asked as seeds are; before start().
  void remember(const std::vector<std::string>& addresses);

  FoundingStep first() const noexcept { return first_step(facts_); }
  void start();

  void seed_answered(const std::string& seed, PeerRef peer);
  // Errors as of net::Links::dial_seed.
  void seed_failed(const std::string& seed, boost::system::error_code error, std::string_view text);
  // A member of the cluster is linked, whoever dialled: it will do as well as a seed.
  void member_met(PeerRef peer);
  void peer_lost(PeerRef peer);
  void became_member() { facts_.is_member = true; }
  void activated();
  void stop();

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Contact {
    std::string seed;  // none: it called by itself
    PeerRef peer;
  };

  void dial_due();
  void seed_refused(const std::string& seed, boost::system::error_code error,
                    std::string_view text);
  std::string described(const std::string& seed) const;
  void add_contact(const Contact& contact);
  void use(const Contact& contact);
  void patience_over();
  bool looks_for_others() const;
  bool settled() const { return active_ && !host_.alone(); }
  void try_seed();
  void look_around();
  void begin_alone(FoundingStep step);
  void seed_is_self(const std::string& seed);

  FoundingFacts facts_;
  const bool knew_cluster_;  // from before this start, so that it tells which seeds are wrong
  const std::string name_;
  Config config_;
  TimerQueue& timers_;
  ArrivalHost& host_;
  Random random_;
  Seeds seeds_;
  std::vector<Contact> contacts_;
  TimerQueue::Entry dial_timer_ = TimerQueue::none;
  TimerQueue::Entry patience_timer_ = TimerQueue::none;
  MonoTime next_seed_{};  // is tried then, if this node is not alone
  bool running_ = false;  // between start and stop
  bool active_ = false;
};

}  // namespace canopy::node
