// A member of an ordered group that gets another order than it had.
#include <algorithm>

#include <gtest/gtest.h>

#include "scribe/tree_test.hpp"

namespace canopy::scribe::test {
namespace {

class FormerOrderTest : public TreeTest {
 protected:
  FormerOrderTest() { net.config.scribe.root_replicas = 2; }

  PeerRef farthest() {
    PeerRef found = root();
    for (Box* box : net.live()) {
      if (closer_to(group, net.table().id(found), net.table().id(box->ref))) found = box->ref;
    }
    return found;
  }
  // Neither in the tree nor about to be its root.
  PeerRef fresh() {
    for (Box* box : net.live()) {
      if (box->ref != root() && !box->scribe().view(group)) return box->ref;
    }
    ADD_FAILURE() << "everybody is in the tree";
    return root();
  }
  // All others that know of the group are lost, those that hold its state among them, and
  // the member looks in vain for a parent.
  void leave_alone(PeerRef member) {
    net.lost = [member](PeerRef from, PeerRef, const wire::Message& message) {
      const auto* routed = std::get_if<wire::Routed>(&message);
      return from == member && (std::holds_alternative<wire::GroupJoin>(message) ||
                                (routed && std::holds_alternative<wire::GroupJoin>(*routed->body)));
    };
    for (unsigned i = 0; i <= net.config.scribe.root_replicas; ++i) net.kill(root());
    for (Box* box : net.live()) {
      if (box->ref != member && box->scribe().view(group)) net.kill(box->ref);
    }
    net.run_for(10s);
  }
  bool comes_to_be(PeerRef member, wire::GroupMode mode) {
    return net.run_until(
        [&] {
          const bool ordered = net[member].scribe().view(group)->ordered;
          return ordered == (mode == wire::GroupMode::ordered);
        },
        60s);
  }
};

// Another peer founds the group as an unordered one; then it is ordered anew, by a root that
// has never heard of the first order.
TEST_P(FormerOrderTest, AMemberGetsNothingBelowIt) {
  net.build(40);
  const PeerRef member = farthest();
  ASSERT_FALSE(net.create(member, prices, wire::GroupMode::ordered));
  ASSERT_FALSE(net.join(member, prices));
  net.kill(root());  // so that its epoch is not a first one
  net.run_for(10s);
  ASSERT_FALSE(net.publish(member, prices, "first").error);
  net.run_for(1s);
  const Box& box = net[member];
  ASSERT_EQ(box.count("first"), 1u);
  const wire::Position first = box.delivered.back().position;

  leave_alone(member);
  ASSERT_FALSE(net.join(fresh(), prices));
  net.lost = nullptr;
  ASSERT_TRUE(comes_to_be(member, wire::GroupMode::best_effort));
  EXPECT_EQ(box.gaps.back(), (Missed{first.epoch, first.sequence + 1, 0}));
  const std::size_t gaps = box.gaps.size();

  leave_alone(member);
  ASSERT_FALSE(net.create(fresh(), prices, wire::GroupMode::ordered));
  bool untold = true;  // the root, of the first order
  net.lost = [&](PeerRef from, PeerRef, const wire::Message& message) {
    return untold && from == member && std::holds_alternative<wire::RefillRequest>(message);
  };
  ASSERT_TRUE(comes_to_be(member, wire::GroupMode::ordered));
  const PublishOutcome below = net.publish(fresh(), prices, "below");
  ASSERT_FALSE(below.error);
  ASSERT_LT(below.epoch, first.epoch);
  net.run_for(1s);
  EXPECT_EQ(box.count("below"), 0u);

  untold = false;
  net.run_for(30s);
  ASSERT_FALSE(net.publish(fresh(), prices, "above").error);
  net.run_for(1s);
  EXPECT_EQ(box.count("above"), 1u);
  EXPECT_GT(box.delivered.back().position, first);
  EXPECT_EQ(box.gaps.size(), gaps);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FormerOrderTest, testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace canopy::scribe::test
