#include "sim/scribe_figures.hpp"

#include <gtest/gtest.h>

namespace canopy::sim {
namespace {

void no_progress(std::string_view, double) {}

class Figures : public ::testing::Test {
 protected:
  Figures() {
    Random random(1);
    for (int i = 0; i < 200; ++i) internet_.attach(random);
  }

  // Two hosts on one router, and one of another stub domain.
  void find_hosts() {
    for (b_ = 1; internet_.router(b_) != internet_.router(a_); ++b_) {
      if (b_ + 1 == internet_.hosts()) {
        ++a_;
        b_ = a_;
      }
    }
    while (internet_.router(c_) / 10 == internet_.router(a_) / 10) ++c_;
  }

  TransitStub internet_{Random(7)};
  HostIndex a_ = 0;
  HostIndex b_ = 0;
  HostIndex c_ = 0;
};

TEST_F(Figures, count_links_within_one_site_and_beyond) {
  find_hosts();
  LinkLoads loads(internet_);
  loads.send(a_, b_);
  EXPECT_EQ(loads.messages(), 2U);  // both LAN links
  loads.send(a_, a_);
  EXPECT_EQ(loads.messages(), 2U);
  loads.send(a_, c_);
  const auto far = loads.messages() - 2;
  EXPECT_GE(far, 4U);  // two LAN links and two uplinks
  EXPECT_EQ(loads.most(), 2U);
  loads.send(c_, a_);
  EXPECT_EQ(loads.messages(), 2 + 2 * far);
  EXPECT_EQ(loads.most(), 3U);  // a link is one, both ways
}

TEST_F(Figures, count_a_multicast_once_on_each_link) {
  find_hosts();
  LinkLoads unicast(internet_);
  unicast.send(c_, a_);
  LinkLoads multicast(internet_);
  multicast.begin_multicast(c_);
  multicast.reach(a_);
  EXPECT_EQ(multicast.messages(), unicast.messages());
  multicast.reach(a_);
  EXPECT_EQ(multicast.messages(), unicast.messages());
  multicast.reach(b_);
  EXPECT_EQ(multicast.messages(), unicast.messages() + 1);
  multicast.reach(c_);
  EXPECT_EQ(multicast.messages(), unicast.messages() + 1);
  EXPECT_EQ(multicast.most(), 1U);
  multicast.begin_multicast(c_);
  multicast.reach(a_);
  EXPECT_EQ(multicast.most(), 2U);
}

// c is the root, a its child and b a's.
TEST_F(Figures, follow_from_the_tree) {
  find_hosts();
  GroupTrees trees;
  trees.begins = {0, 3};
  trees.places = {{c_, 0, 1, true}, {a_, 0, 1, false}, {b_, 1, 0, true}, {a_, 3, 0, true}};
  const ScribeFigures figures(trees, internet_, no_progress);
  EXPECT_EQ(figures.memberships, 3U);
  EXPECT_EQ(figures.tree_nodes, 4U);
  EXPECT_EQ(figures.tables[c_], 1U);
  EXPECT_EQ(figures.tables[a_], 1U);
  EXPECT_EQ(figures.tables[b_], 0U);
  EXPECT_EQ(figures.entries[a_], 1U);
  // The second group has no member beside its root.
  const auto by_tree = internet_.delay(c_, a_) + internet_.delay(a_, b_);
  const double penalty =
      static_cast<double>(by_tree.count()) / static_cast<double>(internet_.delay(c_, b_).count());
  ASSERT_EQ(figures.rad.size(), 1U);
  EXPECT_DOUBLE_EQ(figures.rad[0], penalty);
  EXPECT_DOUBLE_EQ(figures.rmd[0], penalty);
  EXPECT_EQ(figures.ip.messages(), figures.unicast.messages());
  EXPECT_EQ(figures.scribe.messages(), figures.unicast.messages() + 2);
}

TEST(Summaries, have_mean_median_and_most) {
  const Summary odd = summary(std::vector<std::uint32_t>{5, 1, 3});
  EXPECT_DOUBLE_EQ(odd.mean, 3);
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.most, 5);
  EXPECT_DOUBLE_EQ(summary(std::vector<double>{4, 1, 2, 3}).median, 2.5);
  EXPECT_DOUBLE_EQ(summary(std::vector<double>{}).most, 0);
}

}  // namespace
}  // namespace canopy::sim
