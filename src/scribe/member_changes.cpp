#include "scribe/member_changes.hpp"

#include <algorithm>

namespace canopy::scribe {

namespace {

constexpr std::uint32_t unnamed_max = 1U << 29;

void add_more(std::uint32_t& to, std::uint32_t more) {
  to = std::min(unnamed_max, to + std::min(more, unnamed_max));
}

std::size_t put_name(wire::Peers& here, std::uint32_t& more, wire::Peers& there, PeerRef peer) {
  if (std::erase(there, peer) > 0 || std::ranges::find(here, peer) != here.end()) return 0;
  if (here.size() < member_names_max) {
    here.push_back(peer);
    return 0;
  }
  add_more(more, 1);
  return 1;
}

std::uint32_t positive(std::int64_t number) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(number, 0, unnamed_max));
}

}  // namespace

bool nothing(const wire::MemberChanges& changes) noexcept {
  return changes.joined.empty() && changes.left.empty() && changes.more_joined == 0 &&
         changes.more_left == 0;
}

std::size_t came(wire::MemberChanges& changes, PeerRef peer) {
  return put_name(changes.joined, changes.more_joined, changes.left, peer);
}

std::size_t went(wire::MemberChanges& changes, PeerRef peer) {
  return put_name(changes.left, changes.more_left, changes.joined, peer);
}

std::size_t merge(wire::MemberChanges& changes, const wire::MemberChanges& later) {
  std::size_t dropped = 0;
  for (const PeerRef peer : later.left) dropped += went(changes, peer);
  for (const PeerRef peer : later.joined) dropped += came(changes, peer);
  add_more(changes.more_joined, later.more_joined);
  add_more(changes.more_left, later.more_left);
  return dropped;
}

std::uint32_t explained(std::uint32_t before, const wire::MemberChanges& changes) noexcept {
  const auto joined = static_cast<std::int64_t>(changes.joined.size() + changes.more_joined);
  const auto left = static_cast<std::int64_t>(changes.left.size() + changes.more_left);
  return positive(std::int64_t{before} + joined - left);
}

void explain(wire::MemberChanges& changes, std::uint32_t before, std::uint32_t now) {
  const auto joined = static_cast<std::int64_t>(changes.joined.size());
  const auto left = static_cast<std::int64_t>(changes.left.size());
  const std::int64_t grown = std::int64_t{now} - before;
  changes.more_joined = positive(grown - joined + left);
  changes.more_left = positive(-grown + joined - left);
}

}  // namespace canopy::scribe
