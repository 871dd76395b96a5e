#include "wire/message.hpp"

#include "base/assert.hpp"
#include "wire/kinds.hpp"

namespace canopy::wire {

namespace {

// Typical encoded sizes. An estimate has to be cheap and the same everywhere,
// so it does not look into the peer table.
constexpr std::size_t frame_bytes = 8;
constexpr std::size_t number_bytes = 5;  // with its tag
constexpr std::size_t id_bytes = 22;
constexpr std::size_t message_id_bytes = 36;
constexpr std::size_t peer_bytes = 60;
constexpr std::size_t key_bytes = 34;

std::size_t size_of(const Peers& peers) noexcept { return peers.size() * peer_bytes; }

std::size_t size_of(const TableRow& row) noexcept { return number_bytes + size_of(row.peers); }

std::size_t size_of(const std::vector<TableRow>& rows) noexcept {
  std::size_t size = 0;
  for (const TableRow& row : rows) size += size_of(row);
  return size;
}

std::size_t size_of(const GroupName& name) noexcept {
  return 6 + name.name.size() + name.creator.size();
}

std::size_t size_of(const Grant& grant) noexcept {
  return 2 + grant.peers.size() * id_bytes + grant.keys.size() * key_bytes;
}

std::size_t size_of(const AccessRef& access) noexcept {
  if (!access) return 0;
  return 16 + size_of(access->publish) + size_of(access->join) + size_of(access->manage) +
         access->ancestors.size() * sizeof(std::uint64_t);
}

std::size_t size_of(const ProofRef& proof) noexcept { return proof ? 3 * key_bytes : 0; }

std::size_t size_of(const GroupState& state) noexcept {
  return id_bytes + size_of(state.name) + 3 * number_bytes + size_of(state.access);
}

std::size_t size_of(const std::vector<GroupState>& states) noexcept {
  std::size_t size = 0;
  for (const GroupState& state : states) size += size_of(state);
  return size;
}

// What each type has beside the frame. Group ids count as numbers where links
// intern them.
std::size_t content_size(const Heartbeat&) noexcept { return 4 * number_bytes; }
std::size_t content_size(const Probe&) noexcept { return number_bytes; }
std::size_t content_size(const ProbeReply&) noexcept { return 2 * number_bytes; }
std::size_t content_size(const DistanceReport&) noexcept { return number_bytes; }
std::size_t content_size(const LeafProbe& m) noexcept {
  return 3 * number_bytes + size_of(m.leaves) + size_of(m.failed);
}
std::size_t content_size(const StateRequest&) noexcept { return 3 * number_bytes; }
std::size_t content_size(const StateReply& m) noexcept {
  return 3 * number_bytes + size_of(m.peers);
}
std::size_t content_size(const RowAnnounce& m) noexcept { return size_of(m.row); }
std::size_t content_size(const JoinRequest& m) noexcept {
  return peer_bytes + number_bytes + size_of(m.rows);
}
std::size_t content_size(const JoinReply& m) noexcept {
  return number_bytes + size_of(m.leaves) + size_of(m.rows);
}
std::size_t content_size(const JoinDeferred&) noexcept { return 2 * number_bytes; }
std::size_t content_size(const JoinDone&) noexcept { return number_bytes; }
std::size_t content_size(const Departure& m) noexcept { return size_of(m.leaves); }
std::size_t content_size(const HopAck&) noexcept { return number_bytes; }
std::size_t content_size(const RouteTrace& m) noexcept {
  return number_bytes + peer_bytes + size_of(m.hops);
}
std::size_t content_size(const RouteTraceReply& m) noexcept {
  return number_bytes + size_of(m.hops);
}
std::size_t content_size(const GroupJoin& m) noexcept {
  return id_bytes + size_of(m.name) + peer_bytes + 2 * number_bytes + size_of(m.proof);
}
std::size_t content_size(const GroupCreate& m) noexcept {
  return size_of(m.state) + peer_bytes + number_bytes + size_of(m.proof);
}
std::size_t content_size(const GroupChange& m) noexcept {
  return id_bytes + size_of(m.name) + peer_bytes + 3 * number_bytes + size_of(m.access) +
         size_of(m.proof) + size_of(m.states);
}
std::size_t content_size(const Publish& m) noexcept {
  return number_bytes + size_of(m.name) + message_id_bytes + peer_bytes + m.body.size() +
         size_of(m.proof);
}
std::size_t content_size(const Anycast& m) noexcept {
  return number_bytes + message_id_bytes + peer_bytes + size_of(m.visited) + size_of(m.to_visit) +
         size_of(m.passed_over) + m.body.size() + size_of(m.proof);
}
std::size_t content_size(const TreeRequest& m) noexcept {
  return 2 * number_bytes + peer_bytes + size_of(m.proof);
}
std::size_t content_size(const OpaqueBody& m) noexcept { return m.header.size() + m.body.size(); }
std::size_t content_size(const GroupCreateReply&) noexcept { return 2 * number_bytes; }
std::size_t content_size(const JoinAck& m) noexcept {
  return 2 * number_bytes + size_of(m.root_path) + size_of(m.access);
}
std::size_t content_size(const AccessUpdate& m) noexcept { return id_bytes + size_of(m.access); }
std::size_t content_size(const AccessClaim& m) noexcept {
  return id_bytes + 2 * number_bytes + size_of(m.proof);
}
std::size_t content_size(const GroupChangeReply& m) noexcept {
  return id_bytes + 2 * number_bytes + size_of(m.states);
}
std::size_t content_size(const JoinRefused&) noexcept { return 3 * number_bytes; }
std::size_t content_size(const Leave& m) noexcept {
  return 4 * number_bytes + m.lost.size() * (peer_bytes + 4 * number_bytes);
}
std::size_t content_size(const Orphaned&) noexcept { return number_bytes; }
std::size_t content_size(const RootPathUpdate& m) noexcept {
  return number_bytes + size_of(m.root_path);
}
std::size_t content_size(const Multicast& m) noexcept {
  return number_bytes + message_id_bytes + m.key.size() + (m.asking.asker ? peer_bytes : 0) +
         m.body.size();
}
std::size_t content_size(const TreeHeartbeat&) noexcept { return 5 * number_bytes; }
std::size_t content_size(const GroupSetPage& m) noexcept {
  return number_bytes + 2 * id_bytes + m.groups.size() * Id::byte_count;
}
std::size_t content_size(const PublishAck& m) noexcept {
  return message_id_bytes + peer_bytes + size_of(m.reach.unreachable);
}
std::size_t content_size(const MulticastAck& m) noexcept {
  return id_bytes + message_id_bytes + 6 * number_bytes + size_of(m.reach.unreachable);
}
std::size_t content_size(const AckRequest&) noexcept {
  return id_bytes + message_id_bytes + 2 * number_bytes;
}
std::size_t content_size(const RootAddress&) noexcept { return number_bytes + peer_bytes; }
std::size_t content_size(const AnycastReply&) noexcept { return message_id_bytes + peer_bytes; }
std::size_t content_size(const RootStates& m) noexcept { return number_bytes + size_of(m.states); }
std::size_t content_size(const RootStatesAck&) noexcept { return number_bytes; }
std::size_t content_size(const RootStateRequest&) noexcept { return 2 * number_bytes; }
std::size_t content_size(const RootStateReply& m) noexcept {
  return 2 * number_bytes + size_of(m.states);
}
std::size_t content_size(const TreeReply& m) noexcept {
  return 4 * number_bytes + size_of(m.root_path) + size_of(m.children);
}
std::size_t content_size(const Relocation& m) noexcept {
  return 2 * number_bytes + m.candidates.size() * (peer_bytes + number_bytes);
}
std::size_t content_size(const EpochStart&) noexcept { return id_bytes + 4 * number_bytes; }
std::size_t content_size(const LostUpTo&) noexcept { return id_bytes + 2 * number_bytes; }
std::size_t content_size(const LatestPosition&) noexcept { return id_bytes + 2 * number_bytes; }
std::size_t content_size(const RefillRequest&) noexcept { return id_bytes + 4 * number_bytes; }
std::size_t content_size(const ReplicaDigest&) noexcept { return 2 * number_bytes; }
std::size_t content_size(const MemberChanges& m) noexcept {
  return size_of(m.joined) + size_of(m.left);
}
std::size_t content_size(const MemberWords& m) noexcept {
  std::size_t size = 0;
  for (const MemberWord& word : m.words) {
    size += id_bytes + 2 * number_bytes + content_size(word.changes);
  }
  return size;
}
std::size_t content_size(const PresenceUpdate& m) noexcept {
  return id_bytes + 2 * number_bytes + content_size(m.changes);
}
std::size_t content_size(const LastRequest&) noexcept { return id_bytes; }
std::size_t content_size(const LastReply& m) noexcept {
  return id_bytes + message_id_bytes + 4 * number_bytes + m.body.size();
}
std::size_t content_size(const Reply& m) noexcept {
  return message_id_bytes + 3 * number_bytes + m.body.size();
}
std::size_t content_size(const ReplyAck&) noexcept { return message_id_bytes + number_bytes; }
std::size_t content_size(const RequestCheck&) noexcept { return message_id_bytes; }
std::size_t content_size(const RequestCancel&) noexcept { return message_id_bytes; }
std::size_t content_size(const Routed& m) noexcept {
  CANOPY_ASSERT(m.body);
  return id_bytes + 3 * number_bytes + size_of(m.leaving) +
         std::visit([](const auto& body) { return content_size(body); }, *m.body);
}
std::size_t content_size(const Relay& m) noexcept {
  const std::size_t ends = 2 * peer_bytes + number_bytes;
  if (m.message) return ends + size_estimate(*m.message);
  return ends + (m.received ? content_size(*m.received) : 0);
}

// The line of the body for a routed message, of the message itself otherwise.
const KindInfo& info_of(const Message& message) noexcept {
  if (const auto* routed = std::get_if<Routed>(&message)) {
    CANOPY_ASSERT(routed->body);
    return kind_infos<RoutedBody::variant>[routed->body->index()];
  }
  return kind_infos<Message::variant>[message.index()];
}

}  // namespace

RoutedBody::RoutedBody() = default;
RoutedBody::RoutedBody(const RoutedBody&) = default;
RoutedBody::RoutedBody(RoutedBody&&) noexcept = default;
RoutedBody& RoutedBody::operator=(const RoutedBody&) = default;
RoutedBody& RoutedBody::operator=(RoutedBody&&) noexcept = default;
RoutedBody::~RoutedBody() = default;

Message::Message() = default;
Message::Message(const Message&) = default;
Message::Message(Message&&) noexcept = default;
Message& Message::operator=(const Message&) = default;
Message& Message::operator=(Message&&) noexcept = default;
Message::~Message() = default;

bool for_pastry(const Message& message) noexcept {
  return kind_infos<Message::variant>[message.index()].kind < first_scribe_kind;
}

TrafficClass traffic_class(const Message& message) noexcept {
  const auto* relay = std::get_if<Relay>(&message);
  if (relay != nullptr && relay->message) return traffic_class(*relay->message);
  return info_of(message).traffic;
}

std::string_view type_name(const Message& message) noexcept { return info_of(message).name; }

std::size_t size_estimate(const Message& message) noexcept {
  return frame_bytes + std::visit([](const auto& m) { return content_size(m); }, message);
}

std::size_t size_estimate(const RoutedBody& body) noexcept {
  return std::visit([](const auto& m) { return content_size(m); }, body);
}

}  // namespace canopy::wire
