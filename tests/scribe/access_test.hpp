// A small network with a group whose access list tests choose.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "scribe/access.hpp"
#include "scribe/mini_net.hpp"

namespace canopy::scribe::test {

inline TokenKey token(const std::string& text) {
  return std::make_shared<const SigningKey>(sha256(text));
}

class AccessTest : public testing::Test {
 protected:
  void build(std::size_t count) {
    net.build(count);
    for (Box* box : net.live()) {
      refs.push_back(box->ref);
      if (box->ref != net.closest_live(group)) others.push_back(box->ref);
    }
  }
  PeerRef root() const { return net.closest_live(group); }
  wire::Grant peers(std::vector<PeerRef> allowed) {
    wire::Grant grant{false, {}, {}};
    for (const PeerRef ref : allowed) grant.peers.push_back(net.table().id(ref));
    return grant;
  }
  static wire::Grant holders(const TokenKey& key) { return {false, {}, {key->public_key()}}; }
  wire::AccessList closed_to_all_but(std::vector<PeerRef> members) {
    wire::AccessList list;
    list.join = peers(std::move(members));
    list.manage = peers({others[0]});
    return list;
  }
  // How many of the live peers have this one for a child.
  std::size_t parents_of(PeerRef child) {
    std::size_t parents = 0;
    for (Box* box : net.live()) {
      const auto view = box->scribe().view(group);
      if (view && std::ranges::count(view->children, child) > 0) ++parents;
    }
    return parents;
  }
  void expect_sound() {
    net.run_for(200ms);
    EXPECT_EQ(net.faults(group), std::vector<std::string>{});
  }

  MiniNet net{11};
  const Id group = group_id(prices, 160);
  const TokenKey secret = token("a secret of ours");
  std::vector<PeerRef> refs;
  std::vector<PeerRef> others;  // all but the root
};

}  // namespace canopy::scribe::test
