// Scribe's messages to Protobuf and back, except for those of codec_access.cpp, codec_order.cpp
// and codec_requests.cpp.
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "overlay.pb.h"
#include "wire/codec_messages.hpp"

namespace canopy::wire::detail {

namespace {

Buffer pack(const std::vector<Id>& ids) {
  if (ids.empty()) return {};
  const std::size_t size = ids.size() * Id::byte_count;
  const std::shared_ptr<char[]> slab(new char[size]);
  char* to = slab.get();
  for (const Id& id : ids) {
    for (const std::uint8_t byte : id.to_bytes()) *to++ = static_cast<char>(byte);
  }
  return {slab, 0, size};
}

std::vector<Id> unpack(Reader& reader) {
  const std::string_view bytes = reader.body.view();
  std::vector<Id> ids;
  if (bytes.size() % Id::byte_count != 0) {
    reader.fail(fmt::format("groups have {} bytes, no whole number of ids", bytes.size()));
  } else if (bytes.size() / Id::byte_count > limit::groups) {
    reader.fail(
        fmt::format("groups are {}, more than {}", bytes.size() / Id::byte_count, limit::groups));
  } else {
    ids.reserve(bytes.size() / Id::byte_count);
    for (std::size_t at = 0; at < bytes.size(); at += Id::byte_count) {
      ids.push_back(Id::from_bytes(std::span<const std::uint8_t, Id::byte_count>(
          reinterpret_cast<const std::uint8_t*>(bytes.data()) + at, Id::byte_count)));
    }
  }
  return ids;
}

bool has_content(const Reach& reach) {
  return reach.members != 0 || reach.complete || !reach.unreachable.empty() || reach.more != 0;
}

// Not at all if the node does not say.
template <class Proto>
void put_membership(Proto& to, const Membership& from, overlay::Membership* (Proto::*field)()) {
  if (from == Membership{}) return;
  overlay::Membership& put = *(to.*field)();
  put.set_members(from.members);
  put.set_complete(from.complete);
  put.set_itself(from.itself);
  put.set_watched(from.watched);
}

Membership membership(const overlay::Membership& from) {
  return {from.members(), from.complete(), from.itself(), from.watched()};
}

template <class Proto>
void put_changes(Writer& writer, Proto& to, const MemberChanges& from) {
  const bool none =
      from.joined.empty() && from.left.empty() && from.more_joined == 0 && from.more_left == 0;
  if (none) return;
  overlay::MemberChanges& put = *to.mutable_changes();
  writer.put_list(put.mutable_joined(), from.joined, limit::member_names);
  writer.put_list(put.mutable_left(), from.left, limit::member_names);
  put.set_more_joined(from.more_joined);
  put.set_more_left(from.more_left);
}

MemberChanges changes(Reader& reader, const overlay::MemberChanges& from) {
  return {reader.list<PeerRef>(from.joined(), limit::member_names, "joined"),
          reader.list<PeerRef>(from.left(), limit::member_names, "left"), from.more_joined(),
          from.more_left()};
}

}  // namespace

overlay::GroupJoin to_proto(Writer& writer, const GroupJoin& from) {
  overlay::GroupJoin to;
  writer.put_group(to, from.group);
  writer.put(to.mutable_name(), from.name);
  writer.put(to.mutable_child(), from.child);
  to.set_nonce(from.nonce);
  to.set_entries(from.entries);
  writer.put_position(from.position, [&] { return to.mutable_position(); });
  to.set_straight(from.straight);
  to.set_claim(static_cast<std::uint32_t>(from.claim));
  writer.put_shared(from.proof, [&] { return to.mutable_proof(); });
  writer.put_position(from.last, [&] { return to.mutable_last(); });
  return to;
}
GroupJoin from_proto(Reader& reader, const overlay::GroupJoin& from) {
  GroupJoin to;
  to.group = reader.group(from);
  reader.get(to.name, from.name(), "name");
  to.child = reader.needed_peer(from.child(), from.has_child(), "child");
  to.nonce = from.nonce();
  to.entries = from.entries();
  to.position = reader.position(from.position());
  to.straight = from.straight();
  to.claim = reader.enumeration(from.claim(), Claim::none, Claim::member);
  to.proof = reader.proof(from.proof(), from.has_proof());
  to.last = reader.position(from.last());
  return to;
}

overlay::GroupCreate to_proto(Writer& writer, const GroupCreate& from) {
  overlay::GroupCreate to;
  writer.put(to.mutable_state(), from.state);
  writer.put(to.mutable_origin(), from.origin);
  to.set_nonce(from.nonce);
  writer.put_shared(from.proof, [&] { return to.mutable_proof(); });
  to.set_within_ms(from.within_ms);
  return to;
}
GroupCreate from_proto(Reader& reader, const overlay::GroupCreate& from) {
  GroupCreate to;
  reader.get(to.state, from.state(), "state");
  to.origin = reader.needed_peer(from.origin(), from.has_origin(), "origin");
  to.nonce = from.nonce();
  to.proof = reader.proof(from.proof(), from.has_proof());
  to.within_ms = from.within_ms();
  return to;
}

overlay::Publish to_proto(Writer& writer, const Publish& from) {
  overlay::Publish to;
  writer.put_group(to, from.group);
  writer.put(to.mutable_name(), from.name);
  writer.put(to.mutable_id(), from.id);
  writer.put(to.mutable_origin(), from.origin);
  to.set_ack(static_cast<std::uint32_t>(from.ack));
  to.set_after(from.after);
  to.set_within_ms(from.within_ms);
  writer.put_shared(from.proof, [&] { return to.mutable_proof(); });
  to.set_reply_within_ms(from.reply_within_ms);
  writer.body = from.body;
  return to;
}
Publish from_proto(Reader& reader, const overlay::Publish& from) {
  Publish to;
  to.group = reader.group(from);
  reader.get(to.name, from.name(), "name");
  reader.get(to.id, from.id(), "id");
  to.origin = reader.needed_peer(from.origin(), from.has_origin(), "origin");
  to.ack = reader.enumeration(from.ack(), AckMode::none, AckMode::members);
  to.after = from.after();
  to.within_ms = from.within_ms();
  to.proof = reader.proof(from.proof(), from.has_proof());
  to.reply_within_ms = from.reply_within_ms();
  to.body = reader.body;
  return to;
}

overlay::TreeRequest to_proto(Writer& writer, const TreeRequest& from) {
  overlay::TreeRequest to;
  to.set_nonce(from.nonce);
  writer.put_group(to, from.group);
  writer.put(to.mutable_origin(), from.origin);
  to.set_brief(from.brief);
  writer.put_shared(from.proof, [&] { return to.mutable_proof(); });
  return to;
}
TreeRequest from_proto(Reader& reader, const overlay::TreeRequest& from) {
  TreeRequest to;
  to.nonce = from.nonce();
  to.group = reader.group(from);
  to.origin = reader.needed_peer(from.origin(), from.has_origin(), "origin");
  to.brief = from.brief();
  to.proof = reader.proof(from.proof(), from.has_proof());
  return to;
}

overlay::GroupCreateReply to_proto(Writer&, const GroupCreateReply& from) {
  overlay::GroupCreateReply to;
  to.set_nonce(from.nonce);
  to.set_error(from.error);
  to.set_existed(from.existed);
  to.set_mode(from.mode);
  return to;
}
GroupCreateReply from_proto(Reader& reader, const overlay::GroupCreateReply& from) {
  GroupCreateReply to;
  to.nonce = from.nonce();
  to.error = reader.number<std::uint16_t>(from.error(), "error");
  to.existed = from.existed();
  to.mode = reader.number<std::uint8_t>(from.mode(), "mode");
  return to;
}

overlay::JoinAck to_proto(Writer& writer, const JoinAck& from) {
  overlay::JoinAck to;
  writer.put_group(to, from.group);
  to.set_nonce(from.nonce);
  writer.put_list(to.mutable_root_path(), from.root_path, limit::peers);
  writer.put_position(from.position, [&] { return to.mutable_position(); });
  writer.put_position(from.tracked, [&] { return to.mutable_tracked(); });
  writer.put_shared(from.access, [&] { return to.mutable_access(); });
  put_membership(to, from.counted, &overlay::JoinAck::mutable_counted);
  writer.put_position(from.last, [&] { return to.mutable_last(); });
  if (from.life) to.set_life(*from.life);
  return to;
}
JoinAck from_proto(Reader& reader, const overlay::JoinAck& from) {
  JoinAck to;
  to.group = reader.group(from);
  to.nonce = from.nonce();
  to.root_path = reader.list<PeerRef>(from.root_path(), limit::peers, "root_path");
  to.position = reader.position(from.position());
  to.tracked = reader.position(from.tracked());
  to.access = reader.access(from.access(), from.has_access());
  to.counted = membership(from.counted());
  to.last = reader.position(from.last());
  if (from.has_life()) to.life = from.life();
  return to;
}

overlay::JoinRefused to_proto(Writer& writer, const JoinRefused& from) {
  overlay::JoinRefused to;
  writer.put_group(to, from.group);
  to.set_nonce(from.nonce);
  to.set_reason(static_cast<std::uint32_t>(from.reason));
  return to;
}
JoinRefused from_proto(Reader& reader, const overlay::JoinRefused& from) {
  JoinRefused to;
  to.group = reader.group(from);
  to.nonce = from.nonce();
  to.reason = reader.enumeration(from.reason(), JoinRefusal::loop, JoinRefusal::no_such_group);
  return to;
}

overlay::Leave to_proto(Writer& writer, const Leave& from) {
  overlay::Leave to;
  writer.put_group(to, from.group);
  to.set_nonce(from.nonce);
  to.set_reason(static_cast<std::uint32_t>(from.reason));
  writer.put_position(from.since, [&] { return to.mutable_since(); });
  writer.put_list(to.mutable_lost(), from.lost, limit::lost);
  return to;
}
Leave from_proto(Reader& reader, const overlay::Leave& from) {
  Leave to;
  to.group = reader.group(from);
  to.nonce = from.nonce();
  to.reason = reader.enumeration(from.reason(), LeaveReason::gone, LeaveReason::orphaned);
  to.since = reader.position(from.since());
  to.lost = reader.list<LostSubtree>(from.lost(), limit::lost, "lost");
  return to;
}

overlay::Orphaned to_proto(Writer& writer, const Orphaned& from) {
  overlay::Orphaned to;
  writer.put_group(to, from.group);
  return to;
}
Orphaned from_proto(Reader& reader, const overlay::Orphaned& from) {
  Orphaned to;
  to.group = reader.group(from);
  return to;
}

overlay::RootPathUpdate to_proto(Writer& writer, const RootPathUpdate& from) {
  overlay::RootPathUpdate to;
  writer.put_group(to, from.group);
  writer.put_list(to.mutable_root_path(), from.root_path, limit::peers);
  return to;
}
RootPathUpdate from_proto(Reader& reader, const overlay::RootPathUpdate& from) {
  RootPathUpdate to;
  to.group = reader.group(from);
  to.root_path = reader.list<PeerRef>(from.root_path(), limit::peers, "root_path");
  return to;
}

overlay::Multicast to_proto(Writer& writer, const Multicast& from) {
  overlay::Multicast to;
  writer.put_group(to, from.group);
  writer.put(to.mutable_id(), from.id);
  to.set_epoch(from.epoch);
  to.set_sequence(from.sequence);
  to.set_stripe(from.stripe);
  writer.check(from.key.size() <= limit::key);
  to.set_key(bytes_of(from.key));
  to.set_ack_within_ms(from.tracking.within_ms);
  writer.put_position(from.tracking.round, [&] { return to.mutable_round(); });
  to.set_reign(from.reign);
  if (from.asking.asker) writer.put(to.mutable_asker(), from.asking.asker);
  to.set_reply_within_ms(from.asking.within_ms);
  writer.body = from.body;
  return to;
}
Multicast from_proto(Reader& reader, const overlay::Multicast& from) {
  Multicast to;
  to.group = reader.group(from);
  reader.get(to.id, from.id(), "id");
  to.epoch = from.epoch();
  to.sequence = from.sequence();
  to.stripe = reader.number<std::uint8_t>(from.stripe(), "stripe");
  if (from.key().size() > limit::key) {
    reader.fail(fmt::format("key has {} bytes, more than {}", from.key().size(), limit::key));
  }
  to.key = Buffer::copy_of(from.key());
  to.body = reader.body;
  to.tracking = {from.ack_within_ms(), reader.position(from.round())};
  to.reign = from.reign();
  to.asking = {reader.optional_peer(from.asker(), from.has_asker(), "asker"),
               from.reply_within_ms()};
  return to;
}

overlay::TreeHeartbeat to_proto(Writer&, const TreeHeartbeat& from) {
  overlay::TreeHeartbeat to;
  to.set_parent_hash(from.parent_hash);
  to.set_parent_count(from.parent_count);
  to.set_child_hash(from.child_hash);
  to.set_child_count(from.child_count);
  to.set_parent_words(from.parent_words);
  return to;
}
TreeHeartbeat from_proto(Reader&, const overlay::TreeHeartbeat& from) {
  TreeHeartbeat to;
  to.parent_hash = from.parent_hash();
  to.parent_count = from.parent_count();
  to.child_hash = from.child_hash();
  to.child_count = from.child_count();
  to.parent_words = from.parent_words();
  return to;
}

overlay::GroupSetPage to_proto(Writer& writer, const GroupSetPage& from) {
  overlay::GroupSetPage to;
  to.set_as_parent(from.as_parent);
  to.set_reply(from.reply);
  to.set_first(bytes_of(from.first));
  to.set_last(bytes_of(from.last));
  writer.check(from.groups.size() <= limit::groups);
  writer.body = pack(from.groups);
  return to;
}
GroupSetPage from_proto(Reader& reader, const overlay::GroupSetPage& from) {
  GroupSetPage to;
  to.as_parent = from.as_parent();
  to.reply = from.reply();
  to.first = reader.id(from.first(), "first");
  to.last = reader.id(from.last(), "last");
  to.groups = unpack(reader);
  return to;
}

overlay::PublishAck to_proto(Writer& writer, const PublishAck& from) {
  overlay::PublishAck to;
  writer.put(to.mutable_id(), from.id);
  to.set_error(from.error);
  if (from.root) writer.put(to.mutable_root(), from.root);
  to.set_epoch(from.epoch);
  to.set_sequence(from.sequence);
  to.set_ordered(from.ordered);
  to.set_pending(from.pending);
  if (has_content(from.reach)) writer.put(to.mutable_reach(), from.reach);
  to.set_retry_after_ms(from.retry_after_ms);
  return to;
}
PublishAck from_proto(Reader& reader, const overlay::PublishAck& from) {
  PublishAck to;
  reader.get(to.id, from.id(), "id");
  to.error = reader.number<std::uint16_t>(from.error(), "error");
  to.root = reader.optional_peer(from.root(), from.has_root(), "root");
  to.epoch = from.epoch();
  to.sequence = from.sequence();
  to.ordered = from.ordered();
  to.pending = from.pending();
  to.reach = reader.reach(from.reach());
  to.retry_after_ms = from.retry_after_ms();
  return to;
}

overlay::RootAddress to_proto(Writer& writer, const RootAddress& from) {
  overlay::RootAddress to;
  writer.put_group(to, from.group);
  writer.put(to.mutable_root(), from.root);
  return to;
}
RootAddress from_proto(Reader& reader, const overlay::RootAddress& from) {
  RootAddress to;
  to.group = reader.group(from);
  to.root = reader.needed_peer(from.root(), from.has_root(), "root");
  return to;
}

overlay::RootStates to_proto(Writer& writer, const RootStates& from) {
  overlay::RootStates to;
  to.set_nonce(from.nonce);
  to.set_handover(from.handover);
  writer.put_list(to.mutable_states(), from.states, limit::states);
  return to;
}
RootStates from_proto(Reader& reader, const overlay::RootStates& from) {
  RootStates to;
  to.nonce = from.nonce();
  to.handover = from.handover();
  to.states = reader.list<GroupState>(from.states(), limit::states, "states");
  return to;
}

overlay::RootStatesAck to_proto(Writer&, const RootStatesAck& from) {
  overlay::RootStatesAck to;
  to.set_nonce(from.nonce);
  to.set_leaving(from.leaving);
  to.set_differs(from.differs);
  return to;
}
RootStatesAck from_proto(Reader&, const overlay::RootStatesAck& from) {
  RootStatesAck to;
  to.nonce = from.nonce();
  to.leaving = from.leaving();
  to.differs = from.differs();
  return to;
}

overlay::RootStateRequest to_proto(Writer& writer, const RootStateRequest& from) {
  overlay::RootStateRequest to;
  to.set_nonce(from.nonce);
  writer.put_group(to, from.group);
  return to;
}
RootStateRequest from_proto(Reader& reader, const overlay::RootStateRequest& from) {
  RootStateRequest to;
  to.nonce = from.nonce();
  to.group = reader.group(from);
  return to;
}

overlay::RootStateReply to_proto(Writer& writer, const RootStateReply& from) {
  overlay::RootStateReply to;
  to.set_nonce(from.nonce);
  writer.put_group(to, from.group);
  to.set_root(from.root);
  writer.put_list(to.mutable_states(), from.states, limit::states);
  to.set_bereft_for_ms(from.bereft_for_ms);
  return to;
}
RootStateReply from_proto(Reader& reader, const overlay::RootStateReply& from) {
  RootStateReply to;
  to.nonce = from.nonce();
  to.group = reader.group(from);
  to.root = from.root();
  to.states = reader.list<GroupState>(from.states(), limit::states, "states");
  to.bereft_for_ms = from.bereft_for_ms();
  return to;
}

overlay::TreeReply to_proto(Writer& writer, const TreeReply& from) {
  overlay::TreeReply to;
  to.set_nonce(from.nonce);
  writer.put_group(to, from.group);
  to.set_in_tree(from.in_tree);
  to.set_root(from.root);
  to.set_member(from.member);
  writer.put_list(to.mutable_root_path(), from.root_path, limit::peers);
  writer.put_list(to.mutable_children(), from.children, limit::peers);
  to.set_more_children(from.more_children);
  to.set_round_trip_us(from.round_trip_us);
  writer.put_position(from.position, [&] { return to.mutable_position(); });
  put_membership(to, from.below, &overlay::TreeReply::mutable_below);
  to.set_error(from.error);
  return to;
}
TreeReply from_proto(Reader& reader, const overlay::TreeReply& from) {
  TreeReply to;
  to.nonce = from.nonce();
  to.group = reader.group(from);
  to.in_tree = from.in_tree();
  to.root = from.root();
  to.member = from.member();
  to.root_path = reader.list<PeerRef>(from.root_path(), limit::peers, "root_path");
  to.children = reader.list<PeerRef>(from.children(), limit::peers, "children");
  to.more_children = from.more_children();
  to.round_trip_us = from.round_trip_us();
  to.position = reader.position(from.position());
  to.below = membership(from.below());
  to.error = reader.number<std::uint16_t>(from.error(), "error");
  return to;
}

overlay::Relocation to_proto(Writer& writer, const Relocation& from) {
  overlay::Relocation to;
  writer.put_group(to, from.group);
  to.set_entries(from.entries);
  writer.put_list(to.mutable_candidates(), from.candidates, limit::peers);
  writer.check(from.round_trips_us.size() <= limit::peers);
  to.mutable_round_trips_us()->Add(from.round_trips_us.begin(), from.round_trips_us.end());
  return to;
}
Relocation from_proto(Reader& reader, const overlay::Relocation& from) {
  Relocation to;
  to.group = reader.group(from);
  to.entries = from.entries();
  to.candidates = reader.list<PeerRef>(from.candidates(), limit::peers, "candidates");
  if (const auto& delays = from.round_trips_us();
      static_cast<std::size_t>(delays.size()) > limit::peers) {
    reader.fail(
        fmt::format("round_trips_us has {} entries, more than {}", delays.size(), limit::peers));
  } else {
    to.round_trips_us.assign(delays.begin(), delays.end());
  }
  return to;
}

overlay::MulticastAck to_proto(Writer& writer, const MulticastAck& from) {
  overlay::MulticastAck to;
  to.set_group(bytes_of(from.group));
  writer.put(to.mutable_id(), from.id);
  writer.put_position(from.round, [&] { return to.mutable_round(); });
  to.set_state(static_cast<std::uint32_t>(from.state));
  if (has_content(from.reach)) writer.put(to.mutable_reach(), from.reach);
  writer.put_position(from.latest, [&] { return to.mutable_latest(); });
  return to;
}
MulticastAck from_proto(Reader& reader, const overlay::MulticastAck& from) {
  MulticastAck to;
  to.group = reader.id(from.group(), "group");
  reader.get(to.id, from.id(), "id");
  to.round = reader.position(from.round());
  to.state = reader.enumeration(from.state(), TrackState::under_way, TrackState::stranger);
  to.reach = reader.reach(from.reach());
  to.latest = reader.position(from.latest());
  return to;
}

overlay::AckRequest to_proto(Writer& writer, const AckRequest& from) {
  overlay::AckRequest to;
  to.set_group(bytes_of(from.group));
  writer.put(to.mutable_id(), from.id);
  writer.put_position(from.round, [&] { return to.mutable_round(); });
  return to;
}
AckRequest from_proto(Reader& reader, const overlay::AckRequest& from) {
  AckRequest to;
  to.group = reader.id(from.group(), "group");
  reader.get(to.id, from.id(), "id");
  to.round = reader.position(from.round());
  return to;
}

overlay::ReplicaDigest to_proto(Writer&, const ReplicaDigest& from) {
  overlay::ReplicaDigest to;
  to.set_hash(from.hash);
  to.set_count(from.count);
  return to;
}
ReplicaDigest from_proto(Reader&, const overlay::ReplicaDigest& from) {
  ReplicaDigest to;
  to.hash = from.hash();
  to.count = from.count();
  return to;
}

overlay::MemberWords to_proto(Writer& writer, const MemberWords& from) {
  overlay::MemberWords to;
  writer.check(from.words.size() <= limit::groups);
  for (const MemberWord& word : from.words) {
    overlay::MemberWord& put = *to.add_words();
    put.set_group(bytes_of(word.group));
    put_membership(put, word.below, &overlay::MemberWord::mutable_below);
    put_changes(writer, put, word.changes);
  }
  to.set_again(from.again);
  return to;
}
MemberWords from_proto(Reader& reader, const overlay::MemberWords& from) {
  MemberWords to;
  if (static_cast<std::size_t>(from.words_size()) > limit::groups) {
    reader.fail(fmt::format("words are {}, more than {}", from.words_size(), limit::groups));
    return to;
  }
  for (const overlay::MemberWord& word : from.words()) {
    to.words.push_back({reader.id(word.group(), "group"), membership(word.below()),
                        changes(reader, word.changes())});
  }
  to.again = from.again();
  return to;
}

overlay::PresenceUpdate to_proto(Writer& writer, const PresenceUpdate& from) {
  overlay::PresenceUpdate to;
  to.set_group(bytes_of(from.group));
  to.set_members(from.members);
  to.set_complete(from.complete);
  put_changes(writer, to, from.changes);
  return to;
}
PresenceUpdate from_proto(Reader& reader, const overlay::PresenceUpdate& from) {
  return {reader.id(from.group(), "group"), from.members(), from.complete(),
          changes(reader, from.changes())};
}

}  // namespace canopy::wire::detail
