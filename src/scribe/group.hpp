// One node's place in one group's tree, as a state machine without I/O: who is
// the parent, who are the children, whom to believe.
//
// Events come in as function calls and the result says what to do about them;
// tree.cpp and roots.cpp send the messages. About 150 bytes, plus sixteen
// a child and four an ancestor. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "scribe/access.hpp"
#include "scribe/children_table.hpp"
#include "scribe/duplicate_window.hpp"
#include "scribe/group_access.hpp"
#include "scribe/group_order.hpp"
#include "scribe/loss_meter.hpp"
#include "scribe/lost_subtrees.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

enum class Standing : std::uint8_t {
  joining,       // looks for a parent; its own subtree stays as it is
  attached,      // a parent has acknowledged it
  searching,     // is to be the root, and asks others what they know of the group
  root,          // serves the group
  handing_over,  // still serves it, until a closer peer has taken it
};

// Of JOINs.
enum class Way : std::uint8_t {
  usual,
  detour,    // by a random first hop
  straight,  // past all who are not in the tree: their own ways may lead into a loop
};

enum class AckVerdict {
  attached,      // the sender is the parent from now on
  path_changed,  // from the parent, with another way from the root
  unchanged,     // from the parent, nothing new
  surplus,       // this node has, or wants, no parent by that JOIN: Leave it
  loop,          // this node is among the sender's ancestors: Leave it, JOIN again
};

enum class PathVerdict { ignored, unchanged, changed, loop };

enum class SenderVerdict {
  parent,     // take its multicasts
  tolerated,  // not the parent (yet, or any more), but its multicasts are welcome
  stray,      // it takes this node for its child by mistake
};

class Group {
 public:
  using Name = std::shared_ptr<const wire::GroupName>;

  explicit Group(Name name) : name_(std::move(name)) {}

  const Name& name() const noexcept { return name_; }

  bool member = false;
  std::uint8_t refused_for_want_of_room = 0;  // of its JOINs since begin_join
  bool watching = false;   // its own members want to know of each other (member_counts.hpp)
  bool announced = false;  // it was named as one who came, and not yet as one who went
  MemberTally told;        // to the parent
  ShownMembers shown;      // to whom it may concern below, and to the own members
  // Until then somebody in the subtree may be counted elsewhere, too, or nowhere.
  MonoTime unsettled_until{};
  PeerRef left_parent;    // since then this node has had none
  MonoTime left_until{};  // until then that may count this node still, wherever it is
  ChildrenTable children;
  std::uint64_t told_path_hash = 0;   // of the path that the children were told
  std::unique_ptr<GroupOrder> order;  // of an ordered group, as far as this node knows
  std::unique_ptr<FormerOrder> former_order;
  std::unique_ptr<LossMeter> losses;   // a member's, in a best-effort group
  std::uint64_t multicasts = 0;        // that this node, the root of such a group, has begun
  std::uint64_t multicasts_epoch = 0;  // in which they count

  std::unique_ptr<GroupAccess> access;
  wire::AccessRef list() const { return access ? access->list : nullptr; }
  std::uint32_t life() const { return access ? access->life : 0; }
  // Of a member: whoever has left has to show one anew.
  wire::ProofRef proof() const { return access && member ? access->proof : nullptr; }
  GroupAccess& ensure_access() {
    if (!access) access = std::make_unique<GroupAccess>();
    return *access;
  }

  // Of tracked multicasts (tracking.hpp).
  std::unique_ptr<LostSubtrees> lost;
  wire::Position tracked;        // best-effort: the latest round that may have passed here
  wire::Position issued_round;   // the same, of this node's own, as the root
  wire::Position answered_from;  // the parent answers for this node after this round
  void begin_rounds(std::uint64_t epoch) noexcept {
    issued_round = {epoch, 0};
    tracked = std::max(tracked, issued_round);
    answered_from = issued_round;
  }

  Standing standing() const noexcept { return standing_; }
  bool serves_as_root() const noexcept {
    return standing_ == Standing::root || standing_ == Standing::handing_over;
  }
  bool root_role() const noexcept { return serves_as_root() || standing_ == Standing::searching; }
  // In the tree all the way to the root, as far as it knows.
  bool in_tree() const noexcept { return standing_ == Standing::attached || serves_as_root(); }
  // Since this node entered the group: else it knows nothing of who may be a member.
  bool been_in_tree() const noexcept { return been_in_tree_; }
  // Whether what members get may go to this child: to one that waits for its first
  // JoinAck, only in a group that anybody may join.
  bool may_get(const Child& child) const {
    const bool admitted = child.acknowledged || child.answered_for;
    return admitted || (been_in_tree_ && !restricts_joining(list()));
  }
  // Whether there is a reason to be in the tree.
  bool needed() const noexcept { return member || !children.empty() || root_role(); }

  PeerRef parent() const noexcept { return parent_; }
  // The parent before, unless it knows already that it no longer is one.
  PeerRef untold_parent() const noexcept {
    return former_parent_told_ ? PeerRef{} : former_parent_;
  }
  PeerRef take_untold_parent() noexcept;
  const wire::Peers& root_path() const noexcept { return root_path_; }
  bool on_root_path(PeerRef peer) const noexcept;
  // What the children are told: the way to this node, itself last, cut to the
  // nearest `max` ancestors.
  wire::Peers path_below(PeerRef self, std::size_t max) const;

  // --- Looking for a parent ---
  // The nonce is that of all JOINs until the next begin_join.
  void begin_join(std::uint32_t nonce, Way way = Way::usual) noexcept;
  Way way() const noexcept { return way_; }
  void take_detour() noexcept { way_ = Way::detour; }
  std::uint32_t join_nonce() const noexcept { return join_nonce_; }
  // JOINs sent since begin_join; saturates.
  std::uint8_t join_attempts() const noexcept { return join_attempts_; }
  void join_sent() noexcept;
  AckVerdict on_join_ack(PeerRef from, std::uint32_t nonce, const wire::Peers& path, PeerRef self);
  PathVerdict on_root_path(PeerRef from, const wire::Peers& path, PeerRef self);

  // Back to joining. The lost parent is remembered: it may be slow rather than
  // dead, and what it sends until then is welcome.
  void lose_parent() noexcept;
  void welcome_former_until(MonoTime time) noexcept { former_welcome_until_ = time; }
  MonoTime former_welcome_until() const noexcept { return former_welcome_until_; }
  // The same without remembering it.
  void drop_parent() noexcept;
  // The peer has taken the root over and sends multicasts here as to a child.
  void owe_leave_to(PeerRef peer) noexcept;

  SenderVerdict judge(PeerRef sender, MonoTime now) const noexcept;

  // --- Moving to another parent, while the present one serves on ---
  void ask(PeerRef candidate, std::uint32_t nonce) noexcept;
  bool asked(PeerRef peer, std::uint32_t nonce) const noexcept;
  PeerRef candidate() const noexcept { return candidate_; }
  void forget_candidate() noexcept { candidate_ = {}; }

  // --- Being the root ---
  void become_searching() noexcept { become(Standing::searching); }
  void become_root() noexcept { become(Standing::root); }
  void hand_over() noexcept { become(Standing::handing_over); }
  void step_down() noexcept { become(Standing::joining); }

  // Whether the message is new here, and so to the member; remembers it.
  bool first_sight(const wire::MessageId& id, std::size_t window);
  // Of one that is not: whether it is new to the member, who has become one since, and
  // has it from now on.
  bool new_to_member(const wire::MessageId& id) { return member && seen_ && seen_->give(id); }
  // Messages that were, since the present parent has taken this node or it became the root.
  std::uint32_t seen_since_attached() const noexcept { return seen_since_attached_; }
  bool has_seen(const wire::MessageId& id) const { return seen_ && seen_->contains(id); }

  void collect_peers(std::vector<PeerRef>& in_use) const;

 private:
  void become(Standing standing) noexcept;

  Name name_;
  wire::Peers root_path_;  // from the root down to the parent; kept while joining
  std::unique_ptr<DuplicateWindow> seen_;
  MonoTime former_welcome_until_{};
  PeerRef parent_;
  PeerRef former_parent_;
  PeerRef candidate_;
  std::uint32_t candidate_nonce_ = 0;
  std::uint32_t join_nonce_ = 0;
  std::uint32_t seen_since_attached_ = 0;
  std::uint8_t join_attempts_ = 0;
  Way way_ = Way::usual;
  bool former_parent_told_ = true;
  bool been_in_tree_ = false;
  Standing standing_ = Standing::joining;
};

}  // namespace canopy::scribe
