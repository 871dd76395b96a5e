// The children of this node in one group's tree, in the order of their adoption.
//
// Soft state: an entry ends by a Leave, by the child's failure, by expiry or by
// repair. Sixteen bytes a child. Looked up by linear search: tables are short
// (a few dozen entries), and sending a multicast walks them anyway.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/peer.hpp"
#include "base/time.hpp"
#include "scribe/member_tally.hpp"
#include "wire/pastry_messages.hpp"

namespace canopy::scribe {

struct Child {
  PeerRef peer;
  std::uint32_t nonce = 0;             // of the latest JOIN that adopted it
  std::uint32_t adopted_ds : 27 = 0;   // when that came, in tenths of a second
  std::uint32_t acknowledged : 1 = 0;  // it was told that it is in the tree
  std::uint32_t answered_for : 1 = 0;  // and was so before it asked again, if it did
  std::uint32_t claim : 2 = 0;         // what it says that it is: a wire::Claim
  std::uint32_t cleared : 1 = 0;       // it may be here, by the list as it is
  MemberTally below;                   // the members in its subtree, as it has told
};

class ChildrenTable {
 public:
  bool empty() const noexcept { return children_.empty(); }
  std::size_t size() const noexcept { return children_.size(); }
  auto begin() noexcept { return children_.begin(); }
  auto end() noexcept { return children_.end(); }
  auto begin() const noexcept { return children_.begin(); }
  auto end() const noexcept { return children_.end(); }

  Child* find(PeerRef peer) noexcept;
  const Child* find(PeerRef peer) const noexcept;
  bool contains(PeerRef peer) const noexcept { return find(peer) != nullptr; }

  // Adds the child, or takes note of its newer JOIN; an older one that comes
  // late changes nothing. Keeps its place in the order.
  Child& adopt(PeerRef peer, std::uint32_t nonce, MonoTime now);

  // Whether it was there.
  bool remove(PeerRef peer) noexcept;

  // How long ago the child's latest JOIN came, to a tenth of a second.
  static Duration age(const Child& child, MonoTime now) noexcept;

  wire::Peers peers() const;

 private:
  std::vector<Child> children_;
};

// Whether nonce `a` was drawn before `b`; nonces wrap around.
constexpr bool earlier(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace canopy::scribe
