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
  const PeerRef one = peer(here, "one");
  const PeerRef other = peer(here, "other");
  const PeerRef other_there = peer(there, "other");
  const PeerRef one_there = peer(there, "one");
  EXPECT_EQ(path_hash({one, other}, here), path_hash({one_there, other_there}, there));
  EXPECT_NE(path_hash({one, other}, here), path_hash({other, one}, here));
}

}  // namespace
}  // namespace canopy::scribe
