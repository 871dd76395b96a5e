// Access lists, proofs and the messages about them to Protobuf and back.
#include <algorithm>
#include <cstdint>

#include "overlay.pb.h"
#include "wire/codec_messages.hpp"

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

overlay::AccessUpdate to_proto(Writer& writer, const AccessUpdate& from) {
  overlay::AccessUpdate to;
  to.set_group(bytes_of(from.group));
  writer.put_shared(from.access, [&] { return to.mutable_access(); });
  if (from.life) to.set_life(*from.life);
  return to;
}
AccessUpdate from_proto(Reader& reader, const overlay::AccessUpdate& from) {
  AccessUpdate to;
  to.group = reader.id(from.group(), "group");
  to.access = reader.access(from.access(), from.has_access());
  if (from.has_life()) to.life = from.life();
  return to;
}

overlay::AccessClaim to_proto(Writer& writer, const AccessClaim& from) {
  overlay::AccessClaim to;
  to.set_group(bytes_of(from.group));
  to.set_claim(static_cast<std::uint32_t>(from.claim));
  to.set_mark(from.mark);
  writer.put_shared(from.proof, [&] { return to.mutable_proof(); });
  return to;
}
AccessClaim from_proto(Reader& reader, const overlay::AccessClaim& from) {
  AccessClaim to;
  to.group = reader.id(from.group(), "group");
  to.claim = reader.enumeration(from.claim(), Claim::none, Claim::member);
  to.mark = from.mark();
  to.proof = reader.proof(from.proof(), from.has_proof());
  return to;
}

overlay::GroupChange to_proto(Writer& writer, const GroupChange& from) {
  overlay::GroupChange to;
  to.set_group(bytes_of(from.group));
  writer.put(to.mutable_name(), from.name);
  writer.put(to.mutable_origin(), from.origin);
  to.set_nonce(from.nonce);
  to.set_kind(static_cast<std::uint32_t>(from.kind));
  to.set_expected(from.expected);
  writer.put_shared(from.access, [&] { return to.mutable_access(); });
  writer.put_shared(from.proof, [&] { return to.mutable_proof(); });
  writer.put_list(to.mutable_states(), from.states, limit::states);
  to.set_within_ms(from.within_ms);
  to.set_repeated(from.repeated);
  return to;
}
GroupChange from_proto(Reader& reader, const overlay::GroupChange& from) {
  GroupChange to;
  to.group = reader.id(from.group(), "group");
  reader.get(to.name, from.name(), "name");
  to.origin = reader.needed_peer(from.origin(), from.has_origin(), "origin");
  to.nonce = from.nonce();
  to.kind = reader.enumeration(from.kind(), ChangeKind::look, ChangeKind::offer);
  to.expected = from.expected();
  to.access = reader.access(from.access(), from.has_access());
  to.proof = reader.proof(from.proof(), from.has_proof());
  to.states = reader.list<GroupState>(from.states(), limit::states, "states");
  to.within_ms = from.within_ms();
  to.repeated = from.repeated();
  return to;
}

overlay::GroupChangeReply to_proto(Writer& writer, const GroupChangeReply& from) {
  overlay::GroupChangeReply to;
  to.set_nonce(from.nonce);
  to.set_group(bytes_of(from.group));
  to.set_error(from.error);
  writer.put_list(to.mutable_states(), from.states, limit::states);
  return to;
}
GroupChangeReply from_proto(Reader& reader, const overlay::GroupChangeReply& from) {
  GroupChangeReply to;
  to.nonce = from.nonce();
  to.group = reader.id(from.group(), "group");
  to.error = reader.number<std::uint16_t>(from.error(), "error");
  to.states = reader.list<GroupState>(from.states(), limit::states, "states");
  return to;
}

}  // namespace canopy::wire::detail
