#include "scribe/children_table.hpp"

#include <gtest/gtest.h>

#include "scribe/cast.hpp"

namespace canopy::scribe {
namespace {

using namespace std::chrono_literals;

const PeerRef cas{3};

TEST(ChildrenTable, KeepsTheOrderOfAdoption) {
  ChildrenTable children;
  children.adopt(cas, 1, start);
  children.adopt(ann, 2, start);
  children.adopt(bob, 3, start);
  children.adopt(cas, 4, start);
  EXPECT_EQ(children.peers(), (wire::Peers{cas, ann, bob}));
}

TEST(ChildrenTable, ForgetsWhoIsRemoved) {
  ChildrenTable children;
  children.adopt(ann, 1, start);
  children.adopt(bob, 1, start);
  EXPECT_TRUE(children.remove(ann));
  EXPECT_FALSE(children.remove(ann));
  EXPECT_FALSE(children.contains(ann));
  EXPECT_EQ(children.size(), 1u);
}

TEST(ChildrenTable, NotesANewerJoinAndIgnoresAnOlderOne) {
  ChildrenTable children;
  children.adopt(ann, 5, start);
  children.adopt(ann, 7, start + 1s);
  children.adopt(ann, 6, start + 2s);
  EXPECT_EQ(children.find(ann)->nonce, 7u);
  EXPECT_EQ(ChildrenTable::age(*children.find(ann), start + 3s), 2s);
}

TEST(ChildrenTable, ComparesNoncesAroundTheirEnd) {
  EXPECT_TRUE(earlier(0xffffffff, 1));
  EXPECT_FALSE(earlier(1, 0xffffffff));
  EXPECT_FALSE(earlier(3, 3));
}

TEST(ChildrenTable, SpendsSixteenBytesAChild) { EXPECT_EQ(sizeof(Child), 16u); }

}  // namespace
}  // namespace canopy::scribe
