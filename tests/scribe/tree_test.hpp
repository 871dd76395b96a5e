// One group's tree in a small network, published to all the time: what has to
// hold of it whatever befalls its nodes.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {

class TreeTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  TreeTest() : net(GetParam()) {}

  // A tree with forwarders; every third peer stays outside.
  void grow(std::size_t count, wire::GroupMode mode = wire::GroupMode::best_effort) {
    net.build(count);
    for (Box* box : net.live()) refs.push_back(box->ref);
    if (mode == wire::GroupMode::ordered) {
      ASSERT_FALSE(net.create(refs[0], prices, mode));
    }
    for (std::size_t i = 0; i < refs.size(); ++i) {
      if (i % 3 == 0) continue;
      ASSERT_FALSE(net.join(refs[i], prices));
      joined.push_back(refs[i]);
    }
    net.run_for(1s);
    ASSERT_EQ(net.faults(group), std::vector<std::string>{});
    ASSERT_GE(net.forwarders(group).size(), 2u);
  }

  PeerRef root() { return net.closest_live(group); }

  // Of a peer that would be closer to the group than its root is.
  std::string closer_name() {
    for (int i = 0;; ++i) {
      const std::string name = "newcomer-" + std::to_string(i);
      if (closer_to(group, Id::hash_of(name), net.table().id(root()))) return name;
    }
  }

  // Somebody outside the tree, so that its loss is no part of the test.
  PeerRef outsider() {
    for (const PeerRef ref : refs) {
      if (net[ref].alive && !net[ref].hung && !net[ref].scribe().view(group)) return ref;
    }
    ADD_FAILURE() << "everybody is in the tree";
    return refs.front();
  }

  std::vector<PeerRef> listeners() {
    std::vector<PeerRef> found;
    for (const PeerRef ref : net.members(group)) {
      if (!net[ref].hung) found.push_back(ref);
    }
    return found;
  }

  // Publishes for so long, under running numbers.
  void publish_for(Duration span, PeerRef publisher, wire::AckMode ack, Duration pace = 20ms) {
    const MonoTime end = net.now() + span;
    while (net.now() < end) {
      net.shout(publisher, prices, std::to_string(published++), ack);
      net.run_for(pace);
    }
  }

  void expect_no_duplicates() {
    for (Box* box : net.live()) {
      std::set<std::string> seen;
      for (const Delivered& message : box->delivered) {
        EXPECT_TRUE(seen.insert(message.text).second)
            << net.table()[box->ref].name << " got " << message.text << " twice";
      }
    }
  }
  void expect_everything_at(PeerRef ref, std::size_t from, std::size_t to) {
    std::set<std::string> seen;
    for (const Delivered& message : net[ref].delivered) seen.insert(message.text);
    for (std::size_t i = from; i < to; ++i) {
      EXPECT_TRUE(seen.contains(std::to_string(i)))
          << net.table()[ref].name << " did not get " << i;
    }
  }
  void expect_sound_within(Duration limit) {
    const bool sound = net.run_until([&] { return net.faults(group).empty(); }, limit);
    EXPECT_TRUE(sound) << testing::PrintToString(net.faults(group));
  }

  MiniNet net;
  const Id group = group_id(prices, 160);
  std::vector<PeerRef> refs;
  std::vector<PeerRef> joined;  // at first
  std::size_t published = 0;
};

}  // namespace canopy::scribe::test
