#include "scribe/edge_set.hpp"

#include <gtest/gtest.h>

namespace canopy::scribe {
namespace {

TEST(EdgeSet, DoesNotDependOnTheOrder) {
  EdgeSet forwards;
  EdgeSet backwards;
  for (int i = 0; i < 10; ++i) forwards.add({Id::hash_of(std::to_string(i)), 7});
  for (int i = 9; i >= 0; --i) backwards.add({Id::hash_of(std::to_string(i)), 7});
  EXPECT_EQ(forwards, backwards);
  backwards.remove({Id::hash_of("3"), 7});
  EXPECT_NE(forwards, backwards);
  forwards.remove({Id::hash_of("3"), 7});
  EXPECT_EQ(forwards, backwards);
}

TEST(EdgeSet, DependsOnThePath) {
  EdgeSet one;
  EdgeSet other;
  one.add({Id::hash_of("prices"), 1});
  other.add({Id::hash_of("prices"), 2});
  EXPECT_NE(one, other);
}

TEST(PathHash, DependsOnTheOrderAndNotOnTheHandles) {
  PeerTable here;
  PeerTable there;
  const auto peer = [](PeerTable& peers, const std::string& name) {
    PeerDescriptor descriptor;
    descriptor.id = Id::hash_of(name);
    descriptor.name = name;
    return peers.intern(std::move(descriptor));
  };
  const PeerRef ann = peer(here, "ann");
  const PeerRef bob = peer(here, "bob");
  const PeerRef bob_there = peer(there, "bob");
  const PeerRef ann_there = peer(there, "ann");
  EXPECT_EQ(path_hash({ann, bob}, here), path_hash({ann_there, bob_there}, there));
  EXPECT_NE(path_hash({ann, bob}, here), path_hash({bob, ann}, here));
}

}  // namespace
}  // namespace canopy::scribe
