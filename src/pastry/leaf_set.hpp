// The leaf set of a Pastry node: the |L|/2 nearest peers on each side of it.
//
// Kept as one array of at most |L| peers, in clockwise order from the node: the
// larger side is its beginning, the smaller side its end read backwards. While
// fewer than |L| peers are known the sides overlap, so that in a small ring a
// peer stands on both. Holds ids beside the handles, since every routing step
// compares them. A plain value, not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/id.hpp"
#include "base/peer.hpp"

namespace canopy::pastry {

struct Leaf {
  Id id;
  PeerRef peer;
};

// Whom a choice passes over.
struct Except {
  bool key = false;  // a peer whose id is the key, for a JOIN towards its own joiner's id
  std::span<const PeerRef> peers = {};

  bool covers(const Leaf& peer, const Id& target) const noexcept;
};

// By half rings: whether the id is clockwise from the node.
bool on_larger_half(const Id& self, const Id& id) noexcept;

class LeafSet {
 public:
  // `size` is |L|, even and at least 2. The node itself is never a leaf.
  LeafSet(const Id& self, unsigned size);

  // Takes the peer in if it is among the nearest; whoever is pushed out by it
  // leaves. Another peer of the same id is replaced. True if anything changed.
  bool insert(PeerRef peer, const Id& id);
  bool remove(PeerRef peer);

  bool contains(PeerRef peer) const noexcept;
  // The leaf with this id; an empty handle if there is none.
  PeerRef find(const Id& id) const noexcept;
  // Whether insert would take in this id, which is not in yet.
  bool would_take(const Id& id) const noexcept;

  std::size_t size() const noexcept { return leaves_.size(); }
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return leaves_.empty(); }
  bool full() const noexcept { return leaves_.size() == capacity_; }

  // Every leaf once, clockwise from the node.
  std::span<const Leaf> all() const noexcept { return leaves_; }

  // Leaves on each side: |L|/2, or all of them in a smaller ring.
  std::size_t side_size() const noexcept;
  // The i-th nearest on a side, 0 <= i < side_size().
  const Leaf& larger(std::size_t i) const noexcept;   // clockwise
  const Leaf& smaller(std::size_t i) const noexcept;  // counter-clockwise
  // How many leaves a side has left at least, when all that are missing are missing
  // from it: beyond that, what looks like its outermost is the other side's. Of a
  // set with leaves; at least 1.
  std::size_t short_side_size() const noexcept;
  // Nearest on the smaller and on the larger side; empty if alone.
  PeerRef left() const noexcept;
  PeerRef right() const noexcept;

  // Whether no leaf lies between the node and this id, on one way at least.
  bool is_next(const Id& id) const noexcept;

  // Whether the key lies between the outermost leaves of the two sides. While
  // the set is not full, sides are told apart by half rings; whether such a set
  // covers the whole ring is for its owner to know.
  bool spans(const Id& key) const noexcept;

  // The leaf closest to the key, or an empty handle if the node itself is.
  PeerRef closest(const Id& key, const Except& except = {}) const noexcept;

 private:
  std::size_t position(const Id& id) const noexcept;  // where it is or would be

  Id self_;
  std::size_t capacity_;
  std::vector<Leaf> leaves_;  // by id - self_
};

}  // namespace canopy::pastry
