// Looking at, changing and deleting groups that were created, by their roots; and, at
// the root, carrying that out once and answering when it is kept.
//
// A question is asked again until it is answered or out of time, which is
// Config::change_timeout: enough for a root that has failed to be replaced. Whoever is
// the root by then knows a change that the one before has made, and says that it is
// done. timed_out leaves open whether it is. Takes no memory before the first. A part of a Scribe
// node; shares its Core. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scribe/core.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

class Roots;

class Administration {
 public:
  Administration(Core& core, Roots& roots);
  ~Administration();

  void look(const wire::GroupName& name, StateCompletion done);
  // If the list is still the one with this mark.
  void set_access(const wire::GroupName& name, std::uint64_t expected, wire::AccessRef rights,
                  const TokenKey& key, StateCompletion done);
  void remove(const wire::GroupName& name, const TokenKey& key, StateCompletion done);

  // --- Messages ---
  void on_change(const wire::GroupChange& change);
  void on_reply(const wire::GroupChangeReply& reply);

  void shut_down();
  void tick();
  MonoTime next_deadline() const;
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct State;
  State& state();
  void ask(wire::GroupChange change, const wire::GroupName& name, StateCompletion done);
  void end(std::uint32_t nonce, boost::system::error_code error,
           const wire::GroupState& state = {});
  bool busy_with(const Id& group) const;
  void carry_out(const wire::GroupChange& change);
  void answer(const wire::GroupChange& change, boost::system::error_code error);

  Core& core_;
  Roots& roots_;
  std::unique_ptr<State> state_;
};

}  // namespace canopy::scribe
