#include "scribe/access.hpp"

#include <algorithm>
#include <tuple>

#include "base/mix.hpp"

namespace canopy::scribe {

namespace {

using wire::AccessList;
using wire::AccessRef;
using wire::Grant;

constexpr std::string_view signed_prefix = "canopy access 1";

template <class T>
bool has(const std::vector<T>& list, const T& value) noexcept {
  return std::ranges::find(list, value) != list.end();
}

template <class T>
std::vector<T> both(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> common;
  for (const T& value : a) {
    if (has(b, value)) common.push_back(value);
  }
  return common;
}

Grant stricter(const Grant& a, const Grant& b) {
  if (a.everybody) return b;
  if (b.everybody) return a;
  return {false, both(a.peers, b.peers), both(a.keys, b.keys)};
}

bool same_rights(const AccessList& a, const AccessList& b) {
  return std::tie(a.publish, a.join, a.manage) == std::tie(b.publish, b.join, b.manage);
}

void add_ancestor(AccessList& list, std::uint64_t mark) {
  std::erase(list.ancestors, mark);
  list.ancestors.push_back(mark);
  if (list.ancestors.size() > wire::ancestors_max) list.ancestors.erase(list.ancestors.begin());
}

template <std::size_t size>
void put(std::string& text, const std::array<std::uint8_t, size>& bytes) {
  text.append(reinterpret_cast<const char*>(bytes.data()), size);
}

}  // namespace

bool grants(const Grant& grant, const Id& peer) noexcept {
  return grant.everybody || has(grant.peers, peer);
}

bool grants(const Grant& grant, const PublicKey& key) noexcept {
  return grant.everybody || has(grant.keys, key);
}

const Grant& grant_of(const AccessRef& list, wire::Right right) noexcept {
  static const Grant everybody;
  if (!list) return everybody;
  switch (right) {
    case wire::Right::publish: return list->publish;
    case wire::Right::join: return list->join;
    case wire::Right::manage: return list->manage;
    case wire::Right::create: break;
  }
  return everybody;
}

std::uint64_t access_hash(const AccessRef& list) noexcept { return list ? mix64(list->mark) : 0; }

bool descends(const AccessList& list, const AccessList& from) noexcept {
  return list.mark == from.mark || has(list.ancestors, from.mark);
}

AccessRef merged(const AccessRef& a, const AccessRef& b) {
  if (!a || !b) return a ? a : b;
  if (descends(*a, *b)) return a;
  if (descends(*b, *a)) return b;
  const AccessRef& first = a->mark < b->mark ? a : b;
  const AccessRef& second = a->mark < b->mark ? b : a;
  if (same_rights(*a, *b)) return second;
  auto list = std::make_shared<AccessList>();
  list->publish = stricter(first->publish, second->publish);
  list->join = stricter(first->join, second->join);
  list->manage = stricter(first->manage, second->manage);
  list->mark = mix64(first->mark ^ mix64(second->mark));
  for (const AccessRef& parent : {first, second}) {
    for (const std::uint64_t mark : parent->ancestors) add_ancestor(*list, mark);
  }
  add_ancestor(*list, first->mark);
  add_ancestor(*list, second->mark);
  return list;
}

AccessRef next_version(const AccessRef& before, const AccessList& rights, std::uint64_t mark) {
  auto list = std::make_shared<AccessList>(rights);
  list->mark = mark == 0 ? 1 : mark;
  list->ancestors.clear();
  if (before) {
    list->ancestors = before->ancestors;
    add_ancestor(*list, before->mark);
  }
  return list;
}

bool is_next(const wire::AccessRef& list, std::uint64_t before, const wire::AccessList& rights) {
  if (!list || !same_rights(*list, rights)) return false;
  return before == (list->ancestors.empty() ? 0 : list->ancestors.back());
}

std::string text_to_sign(const Id& group, wire::Right right, const PeerDescriptor& peer) {
  std::string text(signed_prefix);
  text += static_cast<char>(right);
  put(text, group.to_bytes());
  put(text, peer.id.to_bytes());
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    text += static_cast<char>(peer.incarnation >> (shift - 8) & 0xff);
  }
  return text;
}

}  // namespace canopy::scribe
