#include "scribe/root_registry.hpp"

#include <gtest/gtest.h>

#include "scribe/cast.hpp"

namespace canopy::scribe {
namespace {

using namespace std::chrono_literals;

wire::GroupState state(std::uint64_t epoch, std::uint64_t version, std::string name = "prices") {
  wire::GroupState state;
  state.group = Id::hash_of("prices");
  state.name = {std::move(name), "ann"};
  state.epoch = epoch;
  state.version = version;
  return state;
}

TEST(RootRegistry, TheLargerEpochWinsThenTheLargerVersion) {
  RootRegistry registry(10, 1h);
  registry.merge(state(2, 1), start);
  EXPECT_EQ(registry.merge(state(1, 9), start)->state.epoch, 2u);
  EXPECT_EQ(registry.merge(state(2, 3), start)->state.version, 3u);
  EXPECT_EQ(registry.merge(state(3, 1), start)->state.epoch, 3u);
  EXPECT_EQ(registry.merge(state(2, 8), start)->state.version, 1u);
}

TEST(RootRegistry, SaysWhatOfTwoStatesIsNotKept) {
  const wire::GroupState one = state(2, 1);
  const auto lost = [&one](const wire::GroupState& other) {
    return lost_between(one, other, merged(one, other));
  };
  EXPECT_EQ(lost(state(3, 7)), "");
  wire::GroupState other = state(3, 7);
  other.mode = wire::GroupMode::ordered;
  EXPECT_EQ(lost(other), "that it is best-effort");
  other.life = 1;
  EXPECT_EQ(lost(other), "the group as it was before the other root deleted it");
  EXPECT_EQ(lost(state(3, 7, "b")), "another group, whose id is the same");
}

TEST(RootRegistry, TwoNamesWithEqualNumbersAreDecidedTheSameEverywhere) {
  RootRegistry one(10, 1h);
  RootRegistry other(10, 1h);
  one.merge(state(1, 1, "a"), start);
  one.merge(state(1, 1, "b"), start);
  other.merge(state(1, 1, "b"), start);
  other.merge(state(1, 1, "a"), start);
  const Id group = Id::hash_of("prices");
  EXPECT_EQ(one.find(group)->state.name, other.find(group)->state.name);
}

TEST(RootRegistry, IsBounded) {
  RootRegistry registry(1, 1h);
  EXPECT_TRUE(registry.merge(state(1, 1), start));
  wire::GroupState second = state(1, 1);
  second.group = Id::hash_of("news");
  EXPECT_FALSE(registry.merge(second, start));
  EXPECT_TRUE(registry.merge(state(1, 2), start));
}

TEST(RootRegistry, RootAndHolderAgreeAboutReplicas) {
  const PeerRef root{1};
  const PeerRef holder{2};
  RootRegistry at_root(10, 1h);
  RootRegistry at_holder(10, 1h);
  RootRecord& own = *at_root.merge(state(1, 1), start);
  own.own = true;
  EXPECT_TRUE(at_root.confirmed().empty());
  RootRegistry::confirm(own, holder, 1, 1);
  at_holder.merge(state(1, 1), start)->root = root;
  EXPECT_EQ(at_root.confirmed().at(holder), at_holder.replicas_of(root));
  own.state.version = 2;
  EXPECT_TRUE(at_root.confirmed().empty());
  RootRegistry::confirm(own, holder, 1, 2);
  EXPECT_NE(at_root.confirmed().at(holder), at_holder.replicas_of(root));
  at_holder.disown_replicas(root);
  EXPECT_EQ(at_holder.replicas_of(root), ReplicaSet{});
  at_root.forget_holder(holder);
  EXPECT_TRUE(at_root.confirmed().empty());
}

TEST(RootRegistry, TouchedReplicasStay) {
  const PeerRef root{1};
  RootRegistry registry(10, 1h);
  registry.merge(state(1, 1), start)->root = root;
  registry.touch_replicas(root, start + 5s);
  EXPECT_TRUE(registry.expired(start + 5s, start).empty());
  EXPECT_EQ(registry.expired(start + 6s, start).size(), 1u);
}

TEST(RootRegistry, ARootThatIsBackStillHasItsReplicas) {
  RootRegistry registry(10, 1h);
  const PeerRef root(1);
  RootRecord& record = *registry.merge(state(1, 1), start);
  record.root = root;
  registry.root_gone(PeerRef(2));
  EXPECT_FALSE(record.rootless);
  registry.root_gone(root);
  EXPECT_TRUE(record.rootless);
  registry.touch_replicas(root, start + 5s);
  EXPECT_FALSE(record.rootless);
}

TEST(RootRegistry, ReplicasThatNoRootConfirmsExpireButOwnStatesStay) {
  RootRegistry registry(10, 1h);
  registry.merge(state(1, 1), start);
  EXPECT_TRUE(registry.expired(start, start).empty());
  registry.find(Id::hash_of("prices"))->own = true;
  EXPECT_TRUE(registry.expired(start + 1s, start).empty());
  registry.find(Id::hash_of("prices"))->own = false;
  EXPECT_EQ(registry.expired(start + 1s, start), std::vector{Id::hash_of("prices")});
}

TEST(RootRegistry, ADeletedGroupWinsAgainstAnyOldStateUntilItIsForgotten) {
  RootRegistry registry(10, 1h);
  wire::GroupState deleted = state(1, 2);
  deleted.life = 1;
  deleted.deleted_for_ms = 60'000;
  registry.merge(state(1, 1), start);
  registry.merge(deleted, start);
  const RootRecord& record = *registry.merge(state(7, 1), start + 10s);
  EXPECT_TRUE(record.state.deleted());
  EXPECT_EQ(RootRegistry::told(record, start + 20s).deleted_for_ms, 40'000u);
  EXPECT_TRUE(registry.expired(start + 59s, start + 59s).empty());
  EXPECT_EQ(registry.expired(start, start + 60s).size(), 1u);
  wire::GroupState anew = state(1, 1);
  anew.life = 2;
  EXPECT_FALSE(registry.merge(anew, start + 30s)->state.deleted());
}

TEST(RootRegistry, KnowsWhoHoldsTheNewestState) {
  RootRegistry registry(10, 1h);
  RootRecord& record = *registry.merge(state(1, 1), start);
  RootRegistry::confirm(record, ann, 1, 1);
  EXPECT_TRUE(RootRegistry::holds(record, ann));
  record.state.version = 2;
  EXPECT_FALSE(RootRegistry::holds(record, ann));
  RootRegistry::confirm(record, ann, 1, 2);
  EXPECT_TRUE(RootRegistry::holds(record, ann));
  EXPECT_EQ(record.holders.size(), 1u);
}

}  // namespace
}  // namespace canopy::scribe
