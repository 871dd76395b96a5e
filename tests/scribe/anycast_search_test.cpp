#include "scribe/anycast_search.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

PeerRef peer(std::uint32_t index) { return PeerRef{index}; }

// A tree of a few nodes, children nearest first.
struct Tree {
  std::map<PeerRef, PeerRef> parent;
  std::map<PeerRef, wire::Peers> children;

  void edge(std::uint32_t above, std::uint32_t below) {
    parent[peer(below)] = peer(above);
    children[peer(above)].push_back(peer(below));
  }
  // The order in which a search that nobody answers sees the nodes.
  wire::Peers walk(PeerRef first, std::size_t visits_max = 100) {
    wire::Anycast message;
    wire::Peers seen;
    for (PeerRef at = first; at && seen.size() < 100;) {
      seen.push_back(at);
      at = next_step(message, at, parent[at], children[at], visits_max).next;
    }
    return seen;
  }
};

Tree example() {
  Tree tree;  // 0 over 1 and 2; 1 over 3 and 4; 2 over 5
  tree.edge(0, 1);
  tree.edge(0, 2);
  tree.edge(1, 3);
  tree.edge(1, 4);
  tree.edge(2, 5);
  return tree;
}

TEST(AnycastSearch, GoesDownToTheNearestChildFirst) {
  EXPECT_EQ(example().walk(peer(0)),
            (wire::Peers{peer(0), peer(1), peer(3), peer(4), peer(2), peer(5)}));
}

TEST(AnycastSearch, FinishesTheSubtreeBeforeItGoesUp) {
  EXPECT_EQ(example().walk(peer(1)),
            (wire::Peers{peer(1), peer(3), peer(4), peer(0), peer(2), peer(5)}));
}

TEST(AnycastSearch, SeesEveryNodeOnceFromWhereverItStarts) {
  for (std::uint32_t start = 0; start < 6; ++start) {
    wire::Peers seen = example().walk(peer(start));
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (wire::Peers{peer(0), peer(1), peer(2), peer(3), peer(4), peer(5)}));
  }
}

TEST(AnycastSearch, EndsWhenItsBoundIsMet) {
  EXPECT_EQ(example().walk(peer(0), 3).size(), 3u);
  wire::Anycast message;
  const SearchStep step = next_step(message, peer(0), {}, {peer(1), peer(2), peer(3)}, 3);
  EXPECT_TRUE(step.cut_short);
  EXPECT_EQ(step.next, peer(1));
}

TEST(AnycastSearch, GoesOnFromANodeThatHasLeftTheTree) {
  wire::Anycast message;
  message.to_visit = {peer(7)};
  const SearchStep step = next_step(message, peer(0), {}, {}, 10);
  EXPECT_EQ(step.next, peer(7));
  EXPECT_FALSE(next_step(message, peer(7), {}, {}, 10).next);
}

}  // namespace
}  // namespace canopy::scribe
