#include "sim/group_trees.hpp"

#include <gtest/gtest.h>

#include "sim/bottleneck_remover.hpp"
#include "sim/plane.hpp"

namespace canopy::sim {
namespace {

using Place = GroupTrees::Place;

// Adds a tree given by each place's node, parent within the tree, and membership.
struct Planted {
  NodeIndex node;
  std::uint32_t parent;
  bool member;
};
void plant(GroupTrees& trees, const std::vector<Planted>& tree) {
  const auto begin = static_cast<GroupTrees::PlaceIndex>(trees.places.size());
  trees.begins.push_back(begin);
  for (const auto& [node, parent, member] : tree) {
    trees.places.push_back({node, begin + parent, 0, member});
  }
  for (auto place = begin; place < trees.places.size(); ++place) {
    if (!trees.is_root(place)) ++trees.places[trees.places[place].parent].children;
  }
}

NodeIndex parent_of(const GroupTrees& trees, std::size_t tree, NodeIndex node) {
  for (auto place = trees.begin(tree); place < trees.end(tree); ++place) {
    if (trees.places[place].node == node) return trees.places[trees.places[place].parent].node;
  }
  return no_node;
}

std::uint32_t entries_of(const GroupTrees& trees, NodeIndex node) {
  std::uint32_t entries = 0;
  for (const Place& place : trees.places) entries += place.node == node ? place.children : 0;
  return entries;
}

TEST(PathCollapse, takes_out_who_is_no_member_and_has_one_child) {
  GroupTrees trees;
  // 5 - 6 - 7 - {8, 9}, 8 a member in the middle, and a path of its own from the root.
  plant(trees, {{5, 0, false},
                {6, 0, false},
                {7, 1, false},
                {8, 2, true},
                {9, 2, true},
                {1, 3, false},
                {2, 5, true},
                {3, 0, false},
                {4, 7, true}});
  plant(trees, {{6, 0, false}, {7, 0, true}, {8, 1, true}});
  collapse_paths(trees);

  ASSERT_EQ(trees.size(), 2U);
  EXPECT_EQ(trees.end(0) - trees.begin(0), 6U);
  EXPECT_EQ(parent_of(trees, 0, 7), 5U);
  EXPECT_EQ(parent_of(trees, 0, 8), 7U);
  EXPECT_EQ(parent_of(trees, 0, 2), 8U);
  EXPECT_EQ(parent_of(trees, 0, 4), 5U);
  for (const NodeIndex gone : {6U, 1U, 3U}) EXPECT_EQ(parent_of(trees, 0, gone), no_node);
  EXPECT_EQ(entries_of(trees, 5), 2U);

  EXPECT_EQ(trees.end(1) - trees.begin(1), 3U);  // the root stays
  EXPECT_EQ(parent_of(trees, 1, 8), 7U);
}

TEST(PathCollapse, finds_its_way_where_children_precede_their_parents) {
  GroupTrees trees;
  plant(trees, {{0, 0, false}, {1, 2, true}, {2, 3, false}, {3, 0, false}});
  collapse_paths(trees);
  EXPECT_EQ(trees.places.size(), 2U);
  EXPECT_EQ(parent_of(trees, 0, 1), 0U);
}

class BottleneckRemover : public ::testing::Test {
 protected:
  // Host i at x = 10 i.
  BottleneckRemover() {
    for (int i = 0; i < 12; ++i) plane_.attach({10.0 * i, 0});
  }

  Plane plane_;
  GroupTrees trees_;
};

TEST_F(BottleneckRemover, hands_the_farthest_child_of_the_costliest_group_to_the_best_sibling) {
  plant(trees_, {{0, 0, false}, {1, 0, true}, {3, 0, true}, {6, 0, true}});
  plant(trees_, {{0, 0, false}, {11, 0, true}, {10, 0, true}});
  EXPECT_EQ(remove_bottlenecks(trees_, plane_, 4), 1U);
  EXPECT_EQ(entries_of(trees_, 0), 4U);
  // By way of either sibling it is as far as directly: the first stays the best.
  EXPECT_EQ(parent_of(trees_, 0, 6), 1U);
  EXPECT_EQ(parent_of(trees_, 0, 3), 0U);
  EXPECT_EQ(parent_of(trees_, 1, 11), 0U);
}

TEST_F(BottleneckRemover, measures_the_way_by_the_sibling) {
  plant(trees_, {{2, 0, false}, {0, 0, true}, {3, 0, true}, {8, 0, true}});
  EXPECT_EQ(remove_bottlenecks(trees_, plane_, 2), 1U);
  EXPECT_EQ(parent_of(trees_, 0, 8), 3U);
}

TEST_F(BottleneckRemover, goes_on_with_who_got_too_many_by_it) {
  std::vector<Planted> star{{0, 0, false}};
  for (NodeIndex node = 1; node < 12; ++node) star.push_back({node, 0, true});
  plant(trees_, star);
  EXPECT_GT(remove_bottlenecks(trees_, plane_, 2), 9U);
  for (NodeIndex node = 0; node < 12; ++node) EXPECT_LE(entries_of(trees_, node), 2U);
  for (GroupTrees::PlaceIndex place = 0; place < trees_.places.size(); ++place) {
    auto at = place;
    for (std::size_t steps = 0; !trees_.is_root(at) && steps < 12; ++steps) {
      at = trees_.places[at].parent;
    }
    EXPECT_TRUE(trees_.is_root(at));
  }
}

TEST_F(BottleneckRemover, leaves_a_node_with_one_child_in_each_of_many_groups_alone) {
  for (NodeIndex child = 1; child < 5; ++child) plant(trees_, {{0, 0, false}, {child, 0, true}});
  EXPECT_EQ(remove_bottlenecks(trees_, plane_, 3), 0U);
  EXPECT_EQ(entries_of(trees_, 0), 4U);
}

}  // namespace
}  // namespace canopy::sim
