#include "node/presence_merge.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace canopy::node {

namespace {

constexpr std::size_t listed_members_max = 64;

void list_name(std::vector<MemberName>& here, std::uint64_t& more, std::vector<MemberName>& there,
               const MemberName& name) {
  if (std::erase(there, name) > 0) return;
  if (here.size() < listed_members_max) {
    here.push_back(name);
  } else {
    ++more;
  }
}

}  // namespace

void merge(Presence& first, const Presence& later) {
  for (const MemberName& name : later.left)
    list_name(first.left, first.more_left, first.joined, name);
  for (const MemberName& name : later.joined) {
    list_name(first.joined, first.more_joined, first.left, name);
  }
  first.more_joined += later.more_joined;
  first.more_left += later.more_left;
  first.members = later.members;
  first.complete = later.complete;
}

}  // namespace canopy::node
