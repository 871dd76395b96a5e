// Access lists and proofs to Protobuf and back.
#include <algorithm>

#include "overlay.pb.h"
#include "wire/codec_state.hpp"

namespace canopy::wire::detail {

namespace {

template <std::size_t size>
std::string text_of(const std::array<std::uint8_t, size>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

}  // namespace

void Writer::put(overlay::Grant* to, const Grant& from) {
  to->set_listed(!from.everybody);
  for (const Id& peer : from.peers) to->add_peers(bytes_of(peer));
  for (const PublicKey& key : from.keys) to->add_keys(text_of(key));
}

void Writer::put(overlay::AccessList* to, const AccessList& from) {
  if (!check(grants_of(from) <= grants_max && from.ancestors.size() <= ancestors_max)) return;
  put(to->mutable_publish(), from.publish);
  put(to->mutable_join(), from.join);
  put(to->mutable_manage(), from.manage);
  to->set_mark(from.mark);
  to->mutable_ancestors()->Add(from.ancestors.begin(), from.ancestors.end());
}

void Writer::put(overlay::Proof* to, const Proof& from) {
  to->set_key(text_of(from.key));
  to->set_signature(text_of(from.signature));
}

template <std::size_t size>
std::array<std::uint8_t, size> Reader::bytes(const std::string& from, std::string_view field) {
  std::array<std::uint8_t, size> to{};
  if (from.size() != size) {
    fail(fmt::format("{} has {} bytes, not {}", field, from.size(), size));
  } else {
    std::copy_n(reinterpret_cast<const std::uint8_t*>(from.data()), size, to.begin());
  }
  return to;
}

Grant Reader::grant(const overlay::Grant& from) {
  Grant to{!from.listed(), {}, {}};
  const auto size =
      static_cast<std::size_t>(from.peers_size()) + static_cast<std::size_t>(from.keys_size());
  if (size > grants_max) {
    fail(fmt::format("access lists {}, more than {}", size, grants_max));
    return to;
  }
  for (const std::string& peer : from.peers()) to.peers.push_back(id(peer, "access"));
  for (const std::string& key : from.keys()) to.keys.push_back(bytes<32>(key, "a key"));
  return to;
}

AccessRef Reader::access(const overlay::AccessList& from, bool present) {
  if (!present) return nullptr;
  auto to = std::make_shared<AccessList>();
  to->publish = grant(from.publish());
  to->join = grant(from.join());
  to->manage = grant(from.manage());
  if (grants_of(*to) > grants_max) {
    fail(fmt::format("access lists {}, more than {}", grants_of(*to), grants_max));
  }
  to->mark = from.mark();
  if (static_cast<std::size_t>(from.ancestors_size()) > ancestors_max) {
    fail(
        fmt::format("access has {} ancestors, more than {}", from.ancestors_size(), ancestors_max));
  } else {
    to->ancestors.assign(from.ancestors().begin(), from.ancestors().end());
  }
  return to;
}

ProofRef Reader::proof(const overlay::Proof& from, bool present) {
  if (!present) return nullptr;
  return std::make_shared<const Proof>(
      Proof{bytes<32>(from.key(), "a key"), bytes<64>(from.signature(), "a signature")});
}

}  // namespace canopy::wire::detail
