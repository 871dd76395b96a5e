// Questions of this node to others that end in one answer: creating a group,
// looking at a tree. Asked again until answered or out of time.
// A part of a Scribe node; shares its Core. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include <canopy/error.hpp>

#include "scribe/answers.hpp"
#include "scribe/core.hpp"
#include "scribe/deadline_set.hpp"
#include "scribe/operations.hpp"

namespace canopy::scribe {

class Roots;

class Requests {
 public:
  Requests(Core& core, Roots& roots) : core_(core), roots_(roots) {}

  // `access`: the list that it is to have; null: everybody may everything.
  void create(const wire::GroupName& name, wire::GroupMode mode, wire::AccessRef access,
              const TokenKey& key, CreateCompletion done);
  void tree(const Id& group, PeerRef peer, const TokenKey& key, TreeCompletion done);
  void members(const wire::GroupName& name, const TokenKey& key, MemberCountCompletion done);

  // --- Questions of others; at the root, `create` is for it to decide ---
  void on_create(const wire::GroupCreate& create);
  void on_tree_request(const wire::TreeRequest& request);

  // --- Answers ---
  void on_create_reply(const wire::GroupCreateReply& reply);
  void on_tree_reply(const wire::TreeReply& reply);

  void peer_failed(PeerRef peer);
  void shut_down();
  void tick();
  MonoTime next_deadline() const { return timers_.next(); }
  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  struct Creation {
    wire::GroupCreate message;
    CreateCompletion done;
  };
  struct Look {
    wire::TreeRequest message;
    PeerRef peer;  // empty: the root
    TreeCompletion done;
  };
  struct Pending {
    std::variant<Creation, Look> what;
    MonoTime deadline;
  };

  bool acceptable(errc& error) const;
  wire::ProofRef pass(const Id& group, const TokenKey& key);
  void look(const wire::TreeRequest& message, PeerRef peer, TreeCompletion done);
  void ask(std::uint32_t nonce, std::variant<Creation, Look> what);
  void send(Pending& pending);
  // Ends the request with this; a creation may end well.
  void end(std::uint32_t nonce, boost::system::error_code error, const CreateOutcome& created = {});
  void answer_create(PeerRef origin, const wire::GroupCreateReply& reply);
  bool may_look(const Group& group, const wire::TreeRequest& request);
  wire::TreeReply place_in(const wire::TreeRequest& request);

  Core& core_;
  Roots& roots_;
  std::map<std::uint32_t, Pending> pending_;
  DeadlineSet<std::uint32_t> timers_;
  std::uint32_t last_nonce_ = 0;
  std::unique_ptr<Answers<wire::GroupCreateReply>> answers_;  // once this is a root
};

}  // namespace canopy::scribe
