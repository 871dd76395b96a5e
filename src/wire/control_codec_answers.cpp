// Answers to Protobuf and back.
#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include <canopy/error.hpp>

#include "control.pb.h"
#include "wire/control_codec_parts.hpp"

namespace canopy::wire::control {

namespace pb = canopy::control;

namespace {

using detail::bytes_of;
using detail::encoded;
using detail::framed;
using detail::malformed;
using detail::milliseconds;
using detail::parse;
using detail::put;

struct AnswerDecoder : detail::Decoder {
  Access access(const pb::Access& in) {
    return {group_name(in.group()),
            id(in.group_id()),
            mode(in.mode()),
            in.created(),
            rights(in.access(), in.has_access()),
            in.version()};
  }

  Peer peer(const pb::Peer& in) {
    return {id(in.id()),
            in.name(),
            {in.addresses().begin(), in.addresses().end()},
            in.incarnation(),
            in.zone()};
  }

  template <class List>
  std::vector<Peer> peers(const List& in) {
    std::vector<Peer> out;
    out.reserve(static_cast<std::size_t>(in.size()));
    for (const pb::Peer& one : in) out.push_back(peer(one));
    return out;
  }

  Status status(const pb::Status& in) {
    Status out;
    out.self = peer(in.self());
    out.state = in.state();
    out.version = in.version();
    out.cluster = in.cluster();
    out.cluster_uuid = in.cluster_uuid();
    out.founded = in.founded();
    out.digit_bits = in.digit_bits();
    out.leaf_set_size = in.leaf_set_size();
    out.uptime = std::chrono::milliseconds(in.uptime_ms());
    out.leaves = peers(in.leaves());
    out.table_entries = in.table_entries();
    out.neighbors = in.neighbors();
    out.links = in.links();
    out.groups = in.groups();
    out.subscriptions = in.subscriptions();
    for (const pb::Counter& counter : in.counters())
      out.counters.push_back({counter.name(), counter.value()});
    return out;
  }

  Tree tree(const pb::Tree& in) {
    Tree out{group_name(in.group()), id(in.group_id()), {}, in.complete(), mode(in.mode())};
    for (const pb::TreeNode& node : in.nodes()) {
      TreeNode& added = out.nodes.emplace_back();
      added.peer = peer(node.peer());
      if (node.has_parent()) added.parent = node.parent();
      added.member = node.member();
      added.answered = node.answered();
      added.denied = node.denied();
      if (node.has_round_trip_us()) added.round_trip_us = node.round_trip_us();
    }
    return out;
  }

  Groups groups(const pb::Groups& in) {
    Groups out;
    for (const pb::Group& group : in.groups()) {
      Group& added = out.groups.emplace_back();
      added.name = group_name(group.name());
      added.id = id(group.id());
      added.member = group.member();
      added.root = group.root();
      added.attached = group.attached();
      added.mode = mode(group.mode());
      if (group.has_parent()) added.parent = peer(group.parent());
      added.depth = group.depth();
      added.children = group.children();
      added.subscriptions = group.subscriptions();
    }
    return out;
  }

  Published published(const pb::Published& in) {
    Published out;
    out.id = message_id(in.id());
    if (in.has_root()) out.root = peer(in.root());
    out.epoch = in.epoch();
    out.position = in.position();
    if (in.has_members()) out.members = in.members();
    out.complete = in.complete();
    out.unreachable = peers(in.unreachable());
    out.unreachable_more = in.unreachable_more();
    return out;
  }

  static BridgeCounts bridge_counts(const pb::BridgeCounts& in) {
    return {in.sent(), in.duplicates(), in.late(),    in.unseen(),
            in.lost(), in.refused(),    in.encoded(), in.headers_left_out()};
  }

  static Bridges bridges(const pb::Bridges& in) {
    Bridges out;
    for (const pb::Bridge& bridge : in.bridges())
      out.bridges.push_back({group_name(bridge.group()), bridge.queue(), bridge.queue_url(),
                             bridge.joined(), bridge.problem(), bridge_counts(bridge.counts())});
    return out;
  }

  template <class List>
  std::vector<MemberName> member_names(const List& in) {
    std::vector<MemberName> out;
    out.reserve(static_cast<std::size_t>(in.size()));
    for (const pb::MemberName& one : in) out.push_back({id(one.id()), one.name()});
    return out;
  }

  Presence presence(const pb::Presence& in) {
    return {in.members(),     in.complete(), member_names(in.joined()), member_names(in.left()),
            in.more_joined(), in.more_left()};
  }

  Replied replied(const pb::Replied& in, const Frame& frame) {
    Replied out;
    out.id = message_id(in.id());
    if (in.has_peer()) out.peer = peer(in.peer());
    out.status = in.status();
    out.content = content(frame);
    if (in.has_members()) out.members = in.members();
    out.complete = in.complete();
    out.declined = in.declined();
    out.dropped = in.dropped();
    out.error = static_cast<std::uint16_t>(in.error());
    out.text = in.text();
    return out;
  }
};

void put(pb::Peer& out, const Peer& in) {
  out.set_id(bytes_of(in.id));
  out.set_name(in.name);
  for (const std::string& address : in.addresses) out.add_addresses(address);
  out.set_incarnation(in.incarnation);
  out.set_zone(in.zone);
}

template <class List>
void put(List& out, const std::vector<MemberName>& in) {
  for (const MemberName& name : in) {
    pb::MemberName& added = *out.Add();
    added.set_id(bytes_of(name.id));
    added.set_name(name.name);
  }
}

void put(pb::BridgeCounts& out, const BridgeCounts& in) {
  out.set_sent(in.sent);
  out.set_duplicates(in.duplicates);
  out.set_late(in.late);
  out.set_unseen(in.unseen);
  out.set_lost(in.lost);
  out.set_refused(in.refused);
  out.set_encoded(in.encoded);
  out.set_headers_left_out(in.headers_left_out);
}

// Fills the header of an envelope, and gives the body.
class AnswerWriter {
 public:
  explicit AnswerWriter(pb::Answer& out) : out_(out) {}
  using Result = boost::system::result<Buffer>;

  Result operator()(std::monostate) { return Buffer(); }
  Result operator()(const Done& in) {
    out_.mutable_done()->set_existed(in.existed);
    out_.mutable_done()->set_mode(static_cast<std::uint32_t>(in.mode));
    return Buffer();
  }
  Result operator()(const Failure& in) {
    out_.mutable_failure()->set_error(in.error);
    out_.mutable_failure()->set_text(in.text);
    return Buffer();
  }
  Result operator()(const Version& in) {
    out_.mutable_version()->set_version(in.version);
    out_.mutable_version()->set_pid(in.pid);
    return Buffer();
  }
  Result operator()(const Status& in) {
    pb::Status& out = *out_.mutable_status();
    put(*out.mutable_self(), in.self);
    out.set_state(in.state);
    out.set_version(in.version);
    out.set_cluster(in.cluster);
    out.set_cluster_uuid(in.cluster_uuid);
    out.set_founded(in.founded);
    out.set_digit_bits(in.digit_bits);
    out.set_leaf_set_size(in.leaf_set_size);
    out.set_uptime_ms(static_cast<std::uint64_t>(in.uptime.count()));
    for (const Peer& leaf : in.leaves) put(*out.add_leaves(), leaf);
    out.set_table_entries(in.table_entries);
    out.set_neighbors(in.neighbors);
    out.set_links(in.links);
    out.set_groups(in.groups);
    out.set_subscriptions(in.subscriptions);
    for (const Counter& counter : in.counters) {
      pb::Counter& added = *out.add_counters();
      added.set_name(counter.name);
      added.set_value(counter.value);
    }
    return Buffer();
  }
  Result operator()(const Ring& in) {
    for (const Peer& peer : in.peers) put(*out_.mutable_ring()->add_peers(), peer);
    out_.mutable_ring()->set_complete(in.complete);
    return Buffer();
  }
  Result operator()(const Route& in) {
    pb::Route& out = *out_.mutable_route();
    out.set_key(bytes_of(in.key));
    put(*out.mutable_self(), in.self);
    for (const Peer& hop : in.hops) put(*out.add_hops(), hop);
    return Buffer();
  }
  Result operator()(const Tree& in) {
    pb::Tree& out = *out_.mutable_tree();
    put(*out.mutable_group(), in.group);
    out.set_group_id(bytes_of(in.group_id));
    out.set_complete(in.complete);
    out.set_mode(static_cast<std::uint32_t>(in.mode));
    for (const TreeNode& node : in.nodes) {
      pb::TreeNode& added = *out.add_nodes();
      put(*added.mutable_peer(), node.peer);
      if (node.parent) added.set_parent(*node.parent);
      added.set_member(node.member);
      added.set_answered(node.answered);
      added.set_denied(node.denied);
      if (node.round_trip_us) added.set_round_trip_us(*node.round_trip_us);
    }
    return Buffer();
  }
  Result operator()(const Groups& in) {
    out_.mutable_groups();
    for (const Group& group : in.groups) {
      pb::Group& added = *out_.mutable_groups()->add_groups();
      put(*added.mutable_name(), group.name);
      added.set_id(bytes_of(group.id));
      added.set_member(group.member);
      added.set_root(group.root);
      added.set_attached(group.attached);
      added.set_mode(static_cast<std::uint32_t>(group.mode));
      if (group.parent) put(*added.mutable_parent(), *group.parent);
      added.set_depth(group.depth);
      added.set_children(group.children);
      added.set_subscriptions(group.subscriptions);
    }
    return Buffer();
  }
  Result operator()(const Published& in) {
    pb::Published& out = *out_.mutable_published();
    put(*out.mutable_id(), in.id);
    if (in.root) put(*out.mutable_root(), *in.root);
    out.set_epoch(in.epoch);
    out.set_position(in.position);
    if (in.members) out.set_members(*in.members);
    out.set_complete(in.complete);
    for (const Peer& peer : in.unreachable) put(*out.add_unreachable(), peer);
    out.set_unreachable_more(in.unreachable_more);
    return Buffer();
  }
  Result operator()(const Joined& in) {
    put(*out_.mutable_joined()->mutable_group(), in.group);
    out_.mutable_joined()->set_group_id(bytes_of(in.group_id));
    out_.mutable_joined()->set_mode(static_cast<std::uint32_t>(in.mode));
    return Buffer();
  }
  Result operator()(const Access& in) {
    pb::Access& out = *out_.mutable_access();
    put(*out.mutable_group(), in.group);
    out.set_group_id(bytes_of(in.group_id));
    out.set_mode(static_cast<std::uint32_t>(in.mode));
    out.set_created(in.created);
    if (in.access) put(*out.mutable_access(), *in.access);
    out.set_version(in.version);
    return Buffer();
  }
  Result operator()(const Message& in) {
    pb::Message& out = *out_.mutable_message();
    put(*out.mutable_id(), in.id);
    out.set_epoch(in.epoch);
    out.set_position(in.position);
    out.set_anycast(in.anycast);
    out.set_last(in.last);
    if (in.reply_within) out.set_reply_within_ms(milliseconds(*in.reply_within));
    return encoded(in.content);
  }
  Result operator()(const Gap& in) {
    pb::Gap& out = *out_.mutable_gap();
    out.set_epoch(in.epoch);
    out.set_first(in.first);
    out.set_last(in.last);
    return Buffer();
  }
  Result operator()(const Lost& in) {
    out_.mutable_lost()->set_count(in.count);
    out_.mutable_lost()->set_on_the_way(in.on_the_way);
    return Buffer();
  }
  Result operator()(const Bridges& in) {
    out_.mutable_bridges();
    for (const Bridge& bridge : in.bridges) {
      pb::Bridge& added = *out_.mutable_bridges()->add_bridges();
      put(*added.mutable_group(), bridge.group);
      added.set_queue(bridge.queue);
      added.set_queue_url(bridge.queue_url);
      added.set_joined(bridge.joined);
      added.set_problem(bridge.problem);
      put(*added.mutable_counts(), bridge.counts);
    }
    return Buffer();
  }
  Result operator()(const MemberCount& in) {
    pb::MemberCount& out = *out_.mutable_members();
    put(*out.mutable_group(), in.group);
    out.set_members(in.members);
    out.set_complete(in.complete);
    return Buffer();
  }
  Result operator()(const Presence& in) {
    pb::Presence& out = *out_.mutable_presence();
    out.set_members(in.members);
    out.set_complete(in.complete);
    put(*out.mutable_joined(), in.joined);
    put(*out.mutable_left(), in.left);
    out.set_more_joined(in.more_joined);
    out.set_more_left(in.more_left);
    return Buffer();
  }
  Result operator()(const NoLast&) { return out_.mutable_no_last(), Buffer(); }
  Result operator()(const Taken& in) {
    put(*out_.mutable_taken()->mutable_id(), in.id);
    put(*out_.mutable_taken()->mutable_member(), in.member);
    return Buffer();
  }
  Result operator()(const Replied& in) {
    pb::Replied& out = *out_.mutable_replied();
    put(*out.mutable_id(), in.id);
    if (in.peer) put(*out.mutable_peer(), *in.peer);
    out.set_status(in.status);
    if (in.members) out.set_members(*in.members);
    out.set_complete(in.complete);
    out.set_declined(in.declined);
    out.set_dropped(in.dropped);
    out.set_error(in.error);
    out.set_text(in.text);
    return encoded(in.content);
  }
  Result operator()(const RequestEnded& in) {
    pb::RequestEnded& out = *out_.mutable_request_ended();
    put(*out.mutable_id(), in.id);
    out.set_error(in.error);
    out.set_text(in.text);
    return Buffer();
  }
  Result operator()(const QueueAnswer& in) {
    out_.mutable_queue_answer()->set_status(in.status);
    if (in.body.size() > queue_part_bytes_max) return make_error_code(errc::too_large);
    return in.body;
  }

 private:
  pb::Answer& out_;
};

}  // namespace

boost::system::result<EncodedFrame> encode(const AnswerEnvelope& envelope) {
  pb::Answer header;
  header.set_id(envelope.id);
  header.set_more(envelope.more);
  const auto body = std::visit(AnswerWriter(header), envelope.answer);
  return framed(answer_kind, header, body);
}

Decoded<AnswerEnvelope> decode_answer(const Frame& frame) {
  pb::Answer in;
  if (frame.kind != answer_kind) return malformed("a frame that is no answer");
  if (!parse(frame, in)) return malformed("an answer that cannot be parsed");
  AnswerEnvelope out{in.id(), in.more(), {}};
  AnswerDecoder decoder;
  switch (in.what_case()) {
    case pb::Answer::kDone:
      out.answer = Done{in.done().existed(), decoder.mode(in.done().mode())};
      break;
    case pb::Answer::kAccess: out.answer = decoder.access(in.access()); break;
    case pb::Answer::kFailure:
      out.answer = Failure{static_cast<std::uint16_t>(in.failure().error()), in.failure().text()};
      break;
    case pb::Answer::kVersion:
      out.answer = Version{in.version().version(), in.version().pid()};
      break;
    case pb::Answer::kStatus: out.answer = decoder.status(in.status()); break;
    case pb::Answer::kRing:
      out.answer = Ring{decoder.peers(in.ring().peers()), in.ring().complete()};
      break;
    case pb::Answer::kRoute:
      out.answer = Route{decoder.id(in.route().key()), decoder.peer(in.route().self()),
                         decoder.peers(in.route().hops())};
      break;
    case pb::Answer::kTree: out.answer = decoder.tree(in.tree()); break;
    case pb::Answer::kGroups: out.answer = decoder.groups(in.groups()); break;
    case pb::Answer::kPublished: out.answer = decoder.published(in.published()); break;
    case pb::Answer::kJoined:
      out.answer = Joined{AnswerDecoder::group_name(in.joined().group()),
                          decoder.id(in.joined().group_id()), decoder.mode(in.joined().mode())};
      break;
    case pb::Answer::kMessage:
      out.answer = Message{decoder.message_id(in.message().id()),
                           in.message().epoch(),
                           in.message().position(),
                           in.message().anycast(),
                           decoder.content(frame),
                           in.message().last(),
                           {}};
      if (in.message().has_reply_within_ms())
        std::get<Message>(out.answer).reply_within =
            std::chrono::milliseconds(in.message().reply_within_ms());
      break;
    case pb::Answer::kTaken:
      out.answer = Taken{decoder.message_id(in.taken().id()), decoder.peer(in.taken().member())};
      break;
    case pb::Answer::kReplied: out.answer = decoder.replied(in.replied(), frame); break;
    case pb::Answer::kRequestEnded:
      out.answer = RequestEnded{decoder.message_id(in.request_ended().id()),
                                static_cast<std::uint16_t>(in.request_ended().error()),
                                in.request_ended().text()};
      break;
    case pb::Answer::kGap:
      out.answer = Gap{in.gap().epoch(), in.gap().first(), in.gap().last()};
      break;
    case pb::Answer::kLost: out.answer = Lost{in.lost().count(), in.lost().on_the_way()}; break;
    case pb::Answer::kQueueAnswer:
      out.answer = QueueAnswer{in.queue_answer().status(), frame.body};
      break;
    case pb::Answer::kMembers:
      out.answer = MemberCount{AnswerDecoder::group_name(in.members().group()),
                               in.members().members(), in.members().complete()};
      break;
    case pb::Answer::kPresence: out.answer = decoder.presence(in.presence()); break;
    case pb::Answer::kNoLast: out.answer = NoLast{}; break;
    case pb::Answer::kBridges: out.answer = AnswerDecoder::bridges(in.bridges()); break;
    case pb::Answer::WHAT_NOT_SET: break;
  }
  if (!decoder.ok) return malformed("an answer with a malformed id or content");
  return out;
}

}  // namespace canopy::wire::control
