#include "wire/codec.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "canopy/error.hpp"
#include "proto_bytes.hpp"
#include "sample_messages.hpp"
#include "wire/kinds.hpp"

namespace canopy::wire {
namespace {

using testing::bytes_field;
using testing::describe;
using testing::number_field;
using testing::Sampler;

constexpr std::size_t type_count = std::variant_size_v<Message::variant>;

// One direction of a link: what one side encodes, the other decodes with
// tables of its own.
struct Direction {
  PeerTable sender_peers;
  PeerTable receiver_peers;
  SendDictionary send;
  ReceiveDictionary receive;

  EncodedFrame encode_or_fail(const Message& message) {
    auto frame = encode(message, sender_peers, send);
    EXPECT_TRUE(frame) << type_name(message) << ": " << frame.error().message();
    return frame ? *frame : EncodedFrame{};
  }

  Message carry(const Message& message) {
    const EncodedFrame frame = encode_or_fail(message);
    const auto decoded = decode(view_of(frame), receiver_peers, receive);
    if (!decoded) {
      ADD_FAILURE() << decoded.error().reason;
      return {};
    }
    EXPECT_TRUE(decoded->has_value()) << type_name(message);
    return decoded->value_or(Message());
  }
};

Frame frame_of_kind(Kind kind, std::string_view header, Buffer body = {}) {
  return {static_cast<std::uint8_t>(kind), 0, header, std::move(body)};
}

std::string id_bytes(char fill) { return std::string(Id::byte_count, fill); }

std::string peer_bytes(char fill) { return bytes_field(1, id_bytes(fill)); }

TEST(Codec, EveryMessageSurvivesTheRoundTrip) {
  for (std::size_t type = 0; type < type_count; ++type) {
    Random random(100 + type);
    Direction link;
    Sampler sampler(random, link.sender_peers);
    for (unsigned round = 0; round < 100; ++round) {
      const Message sent = sampler.message(type);
      const Message received = link.carry(sent);
      ASSERT_EQ(describe(received, link.receiver_peers), describe(sent, link.sender_peers))
          << type_name(sent);
    }
  }
}

TEST(Codec, DefaultValuesSurviveTheRoundTrip) {
  Direction link;
  const PeerRef peer = link.sender_peers.intern(testing::sample_peer(1));
  const std::vector<Message> messages = {Heartbeat{},
                                         Probe{},
                                         LeafProbe{},
                                         JoinReply{},
                                         PublishAck{},
                                         AnycastReply{},
                                         GroupSetPage{},
                                         Multicast{},
                                         RootStates{},
                                         TreeReply{},
                                         Publish{.origin = peer}};
  for (const Message& sent : messages) {
    EXPECT_EQ(describe(link.carry(sent), link.receiver_peers), describe(sent, link.sender_peers));
  }
}

TEST(Codec, MixedMessagesOfOneLinkComeOutOfItsByteStreamInOrder) {
  Random random(7);
  Direction link;
  Sampler sampler(random, link.sender_peers);
  std::vector<std::string> sent;
  std::string stream;
  for (unsigned i = 0; i < 300; ++i) {
    const Message message = sampler.any_message();
    sent.push_back(describe(message, link.sender_peers));
    const EncodedFrame frame = link.encode_or_fail(message);
    stream += frame.head;
    stream += frame.body.view();
  }

  std::vector<std::string> received;
  FrameParser parser;
  for (std::size_t at = 0; at < stream.size();) {
    const auto room = parser.prepare();
    const std::size_t size =
        std::min<std::size_t>({room.size(), stream.size() - at, 1 + random.below(3000)});
    std::copy_n(stream.data() + at, size, room.data());
    at += size;
    parser.commit(size);
    while (const auto frame = parser.next()) {
      const auto message = decode(*frame, link.receiver_peers, link.receive);
      ASSERT_TRUE(message) << message.error().reason;
      ASSERT_TRUE(message->has_value());
      received.push_back(describe(**message, link.receiver_peers));
    }
    ASSERT_FALSE(parser.error());
  }
  EXPECT_EQ(received, sent);
}

TEST(Codec, ABodyIsSharedByAllItsDestinations) {
  PeerTable peers;
  SendDictionary first_link;
  SendDictionary second_link;
  const Multicast multicast{.group = Id::hash_of("g"), .body = Buffer::copy_of("payload")};
  const auto first = encode(multicast, peers, first_link);
  const auto second = encode(multicast, peers, second_link);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->body.data(), multicast.body.data());
  EXPECT_EQ(second->body.data(), multicast.body.data());
}

TEST(Codec, ADecodedBodyLiesInTheSlabThatWasReadInto) {
  Direction link;
  const PeerRef peer = link.sender_peers.intern(testing::sample_peer(1));
  const Publish publish{.origin = peer, .body = Buffer::copy_of("payload")};
  const Message routed =
      Routed{.key = Id::hash_of("g"), .body = std::make_shared<const RoutedBody>(publish)};
  for (const Message& message : {Message(publish), routed}) {
    const EncodedFrame encoded = link.encode_or_fail(message);
    FrameParser parser;
    const std::string bytes = encoded.head + std::string(encoded.body.view());
    std::copy(bytes.begin(), bytes.end(), parser.prepare().data());
    parser.commit(bytes.size());
    const auto frame = parser.next();
    ASSERT_TRUE(frame);
    const auto decoded = decode(*frame, link.receiver_peers, link.receive);
    ASSERT_TRUE(decoded && decoded->has_value());
    const auto* direct = std::get_if<Publish>(&**decoded);
    const Publish& received =
        direct != nullptr ? *direct : std::get<Publish>(*std::get<Routed>(**decoded).body);
    EXPECT_EQ(received.body.data(), frame->body.data());
    EXPECT_EQ(received.body.view(), "payload");
  }
}

TEST(Codec, AGroupTravelsByItsNumberFromTheSecondTimeOn) {
  Direction link;
  const Multicast multicast{.group = Id::hash_of("g")};
  const EncodedFrame first = link.encode_or_fail(multicast);
  const EncodedFrame second = link.encode_or_fail(multicast);
  EXPECT_EQ(first.size(), second.size() + 2 + Id::byte_count);
  for (const EncodedFrame* frame : {&first, &second}) {
    const auto decoded = decode(view_of(*frame), link.receiver_peers, link.receive);
    ASSERT_TRUE(decoded && decoded->has_value());
    EXPECT_EQ(std::get<Multicast>(**decoded).group, multicast.group);
  }
}

TEST(Codec, MoreGroupsThanTheDictionaryHoldsAllArrive) {
  Random random(3);
  Direction link;
  std::vector<Id> groups;
  for (unsigned i = 0; i < 2 * group_dictionary_capacity; ++i) {
    groups.push_back(Id::hash_of(std::to_string(i)));
  }
  for (unsigned i = 0; i < 20'000; ++i) {
    // Few groups often, all of them now and then.
    const std::size_t bound = random.chance(0.5) ? 50 : groups.size();
    const Id& group = groups[random.below(bound)];
    const Message received = link.carry(Orphaned{group});
    ASSERT_EQ(std::get<Orphaned>(received).group, group);
  }
  EXPECT_LE(link.send.size(), group_dictionary_capacity);
}

TEST(Codec, AMessageThatCannotBeEncodedLeavesTheDictionaryAgreeing) {
  Direction link;
  const Id group = Id::hash_of("g");
  const Multicast large{.group = group, .body = Buffer::copy_of(std::string(2000, 'x'))};
  const auto refused = encode(large, link.sender_peers, link.send, 1000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), errc::too_large);
  EXPECT_EQ(std::get<Orphaned>(link.carry(Orphaned{group})).group, group);
}

TEST(Codec, RoutedBodiesCarryWholeGroupIds) {
  Direction link;
  const PeerRef peer = link.sender_peers.intern(testing::sample_peer(1));
  const Routed routed{.key = Id::hash_of("g"),
                      .body = std::make_shared<const RoutedBody>(
                          GroupJoin{.group = Id::hash_of("g"), .child = peer})};
  link.encode_or_fail(routed);
  EXPECT_EQ(link.send.size(), 0U);
}

// --- What other versions say ---

TEST(Codec, AnUnknownKindIsSkipped) {
  PeerTable peers;
  ReceiveDictionary groups;
  for (const unsigned kind : {0x0fU, 0x3fU, 0x7fU}) {
    const Frame frame{static_cast<std::uint8_t>(kind), 0, "\xff\xff", Buffer::copy_of("b")};
    const auto decoded = decode(frame, peers, groups);
    ASSERT_TRUE(decoded) << kind;
    EXPECT_FALSE(decoded->has_value()) << kind;
  }
}

TEST(Codec, KindsThatAreOnlyRoutedAreNotTakenDirectly) {
  PeerTable peers;
  ReceiveDictionary groups;
  const auto decoded = decode(frame_of_kind(Kind::group_create, ""), peers, groups);
  ASSERT_TRUE(decoded);
  EXPECT_FALSE(decoded->has_value());
}

TEST(Codec, AnUnknownValueSkipsTheMessageButNotTheNumberItGives) {
  PeerTable peers;
  ReceiveDictionary groups;
  const std::string header = bytes_field(1, id_bytes('g')) + number_field(2, 5);
  const std::string refused = header + number_field(4, 77);
  const auto skipped = decode(frame_of_kind(Kind::join_refused, refused), peers, groups);
  ASSERT_TRUE(skipped);
  EXPECT_FALSE(skipped->has_value());
  const std::string by_number = number_field(2, 5);
  const auto next = decode(frame_of_kind(Kind::orphaned, by_number), peers, groups);
  ASSERT_TRUE(next && next->has_value());
  EXPECT_EQ(std::get<Orphaned>(**next).group.to_bytes()[0], 'g');
}

TEST(Codec, AReplyOfAnUnknownSortIsSkipped) {
  PeerTable peers;
  ReceiveDictionary groups;
  const std::string id = bytes_field(1, bytes_field(1, id_bytes('p')));
  for (const Kind kind : {Kind::reply, Kind::reply_ack}) {
    const auto decoded = decode(frame_of_kind(kind, id + number_field(3, 9)), peers, groups);
    ASSERT_TRUE(decoded);
    EXPECT_FALSE(decoded->has_value());
  }
}

TEST(Codec, UnknownFieldsAreIgnored) {
  PeerTable peers;
  ReceiveDictionary groups;
  const std::string header = bytes_field(100, "later") + number_field(101, 7);
  const auto decoded = decode(frame_of_kind(Kind::heartbeat, header), peers, groups);
  ASSERT_TRUE(decoded && decoded->has_value());
  EXPECT_TRUE(std::holds_alternative<Heartbeat>(**decoded));
}

std::string routed_header(std::uint8_t kind, std::string_view inner, unsigned hops = 1) {
  return bytes_field(1, id_bytes('k')) + number_field(3, hops) + number_field(4, kind) +
         bytes_field(5, inner);
}

Routed decode_routed(Direction& link, const std::string& header, Buffer body = {}) {
  const auto decoded =
      decode(frame_of_kind(Kind::routed, header, std::move(body)), link.sender_peers, link.receive);
  if (!decoded || !decoded->has_value()) {
    ADD_FAILURE() << (decoded ? "skipped" : decoded.error().reason);
    return {.key = {}, .body = std::make_shared<const RoutedBody>()};
  }
  return std::get<Routed>(**decoded);
}

TEST(Codec, AnUnknownBodyTravelsOnAsItCame) {
  Direction link;
  const Buffer body = Buffer::copy_of("opaque payload");
  const std::string header = routed_header(0x6f, "\x01\x02later");
  const Routed routed = decode_routed(link, header, body);
  const auto& opaque = std::get<OpaqueBody>(*routed.body);
  EXPECT_EQ(opaque.kind, 0x6f);
  EXPECT_EQ(opaque.header.view(), "\x01\x02later");
  const EncodedFrame again = link.encode_or_fail(routed);
  EXPECT_EQ(view_of(again).header, header);
  EXPECT_EQ(again.body.data(), body.data());
}

std::string join_header() {
  return bytes_field(1, id_bytes('g')) + bytes_field(4, peer_bytes('c')) + number_field(6, 2);
}

TEST(Codec, ABodyThatAHopLeavesAloneKeepsFieldsOfLaterVersions) {
  Direction link;
  const std::string inner = join_header() + bytes_field(99, "later");
  Routed routed = decode_routed(link, routed_header(0x40, inner));
  routed.hops = 2;
  const EncodedFrame again = link.encode_or_fail(routed);
  EXPECT_EQ(view_of(again).header, routed_header(0x40, inner, 2));
}

TEST(Codec, ABodyThatAHopReplacesIsEncodedAnew) {
  Direction link;
  const std::string inner = join_header() + bytes_field(99, "later");
  Routed routed = decode_routed(link, routed_header(0x40, inner));
  auto join = std::get<GroupJoin>(*routed.body);
  join.straight = true;
  routed.body = std::make_shared<const RoutedBody>(join);
  const auto received = link.carry(routed);
  const auto& body = std::get<GroupJoin>(*std::get<Routed>(received).body);
  EXPECT_TRUE(body.straight);
  EXPECT_EQ(view_of(link.encode_or_fail(routed)).header.find("later"), std::string_view::npos);
}

TEST(Codec, AKnownBodyWithAnUnknownValueTravelsOnAsItCame) {
  Direction link;
  const std::string inner = bytes_field(1, id_bytes('g')) +
                            bytes_field(4, bytes_field(1, id_bytes('p'))) +
                            bytes_field(5, peer_bytes('o')) + number_field(6, 200);
  const std::string header = routed_header(0x42, inner);
  const Routed routed = decode_routed(link, header);
  EXPECT_TRUE(std::holds_alternative<OpaqueBody>(*routed.body));
  EXPECT_EQ(view_of(link.encode_or_fail(routed)).header, header);
}

// --- Relays ---

std::string relay_header(std::uint64_t kind, const std::string& inner) {
  return bytes_field(1, peer_bytes('f')) + bytes_field(2, peer_bytes('t')) + number_field(3, kind) +
         bytes_field(4, inner);
}

TEST(Codec, ARelayPassesOnWhatItDoesNotKnow) {
  Direction link;
  const std::string of_later = relay_header(0x3f, "\x01\x02later");
  const std::string with_later_field =
      relay_header(static_cast<std::uint64_t>(Kind::hop_ack), bytes_field(99, "later"));
  for (const std::string& header : {of_later, with_later_field}) {
    const Buffer body = Buffer::copy_of("payload");
    const auto decoded =
        decode(frame_of_kind(Kind::relay, header, body), link.sender_peers, link.receive);
    ASSERT_TRUE(decoded && decoded->has_value());
    const EncodedFrame again = link.encode_or_fail(**decoded);
    EXPECT_EQ(view_of(again).header, header);
    EXPECT_EQ(again.body.data(), body.data());
    EXPECT_EQ(std::get<Relay>(**decoded).message == nullptr, header == of_later);
  }
}

// --- What nobody may say ---

struct Bad {
  Kind kind;
  std::string header;
  std::string reason;
  std::string body = {};
};

TEST(Codec, AMalformedMessageIsRefusedWithItsReason) {
  const std::string group = bytes_field(1, id_bytes('g'));
  const std::string message_id = bytes_field(1, id_bytes('p'));
  const auto peer_with = [](const std::string& fields) {
    return bytes_field(1, peer_bytes('p') + fields);
  };
  const std::vector<Bad> all = {
      {Kind::probe, "\x0f", "Probe: its header is not valid Protobuf"},
      {Kind::orphaned, "", "Orphaned: group is an id of 0 bytes"},
      {Kind::orphaned, bytes_field(1, "short"), "group is an id of 5 bytes"},
      {Kind::orphaned, number_field(2, 3), "number 3, which was never given"},
      {Kind::orphaned, group + number_field(2, 1025), "group is given number 1025"},
      {Kind::state_request, number_field(2, 1) + number_field(3, 256), "row is 256"},
      {Kind::departure, bytes_field(1, ""), "leaves is an id of 0 bytes"},
      {Kind::departure, peer_with(bytes_field(3, std::string(256, 'n'))), "text of 256 bytes"},
      {Kind::departure, peer_with(bytes_field(3, "a\nb")), "text that is not printable"},
      {Kind::departure, peer_with(bytes_field(6, "\xff")), "text that is not printable"},
      {Kind::departure, peer_with(bytes_field(4, "")), "empty address"},
      {Kind::departure, peer_with(bytes_field(4, bytes_field(1, "h") + number_field(2, 70000))),
       "leaves is 70000"},
      {Kind::row_announce, bytes_field(1, number_field(1, 160)), "row has a row 160"},
      {Kind::tree_request, bytes_field(2, id_bytes('g')), "origin is missing"},
      {Kind::root_address, group, "root is missing"},
      {Kind::publish, group + bytes_field(4, message_id), "Publish: origin is missing"},
      {Kind::publish_ack, "", "id is an id of 0 bytes"},
      {Kind::reply, "", "Reply: id is an id of 0 bytes"},
      {Kind::request_check, bytes_field(1, bytes_field(1, "x")), "id is an id of 1 bytes"},
      {Kind::multicast, group + bytes_field(3, message_id) + bytes_field(20, ""),
       "asker is an id of 0 bytes"},
      {Kind::multicast, group + bytes_field(3, message_id) + number_field(6, 256), "stripe is 256"},
      {Kind::multicast, group + bytes_field(3, message_id) + bytes_field(7, std::string(256, 'k')),
       "key has 256 bytes"},
      {Kind::group_set_page, bytes_field(3, id_bytes('a')) + bytes_field(4, id_bytes('z')),
       "groups have 21 bytes", std::string(21, 'g')},
      {Kind::group_set_page, bytes_field(3, id_bytes('a')) + bytes_field(4, id_bytes('z')),
       "groups are 4097, more than 4096", std::string(20 * 4097, 'g')},
      {Kind::member_words, bytes_field(1, ""), "MemberWords: group is an id of 0 bytes"},
      {Kind::presence_update, group + bytes_field(4, bytes_field(1, "")),
       "joined is an id of 0 bytes"},
      {Kind::last_request, "", "LastRequest: group is an id of 0 bytes"},
      {Kind::last_reply, group + bytes_field(5, ""), "LastReply: id is an id of 0 bytes"},
      {Kind::routed, bytes_field(1, id_bytes('k')), "body has no kind"},
      {Kind::routed, routed_header(0x40, ""), "Routed: GroupJoin: group is an id of 0 bytes"},
      {Kind::routed, routed_header(0x40, group), "Routed: GroupJoin: child is missing"},
      {Kind::routed, routed_header(0x40, number_field(2, 1)),
       "group is a number where numbers are not known"},
      {Kind::routed, routed_header(0x40, join_header(), 256), "hops is 256"},
      {Kind::relay, "", "Relay: from is missing"},
      {Kind::relay, relay_header(0x21, ""), "Relay: it holds another one"},
      {Kind::relay, relay_header(0x47, ""), "Relay: JoinRefused: group is an id of 0 bytes"},
  };
  for (const Bad& bad : all) {
    PeerTable peers;
    ReceiveDictionary groups;
    const auto decoded =
        decode(frame_of_kind(bad.kind, bad.header, Buffer::copy_of(bad.body)), peers, groups);
    ASSERT_FALSE(decoded) << bad.reason;
    EXPECT_EQ(decoded.error().code, errc::protocol);
    EXPECT_NE(decoded.error().reason.find(bad.reason), std::string::npos)
        << decoded.error().reason << " should say " << bad.reason;
  }
}

TEST(Codec, AnOverlongListIsRefusedBeforeItsPeersAreTakenIn) {
  PeerTable peers;
  ReceiveDictionary groups;
  std::string header;
  for (unsigned i = 0; i <= limit::peers; ++i) header += bytes_field(1, peer_bytes('p'));
  const auto decoded = decode(frame_of_kind(Kind::departure, header), peers, groups);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().reason, "Departure: leaves has 1025 entries, more than 1024");
  EXPECT_EQ(peers.size(), 0U);
}

TEST(Codec, AccessListsAndProofsAreBoundedAndWhole) {
  const auto problem = [](Kind kind, const std::string& fields) {
    PeerTable peers;
    ReceiveDictionary groups;
    const auto decoded =
        decode(frame_of_kind(kind, bytes_field(1, std::string(Id::byte_count, 'g')) + fields),
               peers, groups);
    return decoded ? std::string() : decoded.error().reason;
  };
  const std::string peer = bytes_field(2, std::string(Id::byte_count, 'p'));
  std::string peers;
  for (std::size_t i = 0; i < grants_max / 2; ++i) peers += peer;
  const auto list = [&](const std::string& publish, const std::string& join) {
    return bytes_field(2, bytes_field(1, publish) + bytes_field(2, join));
  };
  EXPECT_EQ(problem(Kind::access_update, list(peers, peers)), "");
  EXPECT_EQ(problem(Kind::access_update, list(peers + peer, peers)),
            "AccessUpdate: access lists 65, more than 64");
  EXPECT_EQ(problem(Kind::access_update, list(peers + peers + peer, "")),
            "AccessUpdate: access lists 65, more than 64");
  EXPECT_EQ(problem(Kind::access_update, list(bytes_field(2, "short"), "")),
            "AccessUpdate: access is an id of 5 bytes");
  EXPECT_EQ(problem(Kind::access_update, list(bytes_field(3, "short"), "")),
            "AccessUpdate: a key has 5 bytes, not 32");
  EXPECT_EQ(problem(Kind::access_update,
                    bytes_field(2, bytes_field(5, std::string(8 * (ancestors_max + 1), 'm')))),
            "AccessUpdate: access has 33 ancestors, more than 32");
  const auto proof = [](std::size_t key, std::size_t signature) {
    return bytes_field(
        4, bytes_field(1, std::string(key, 'k')) + bytes_field(2, std::string(signature, 's')));
  };
  EXPECT_EQ(problem(Kind::access_claim, proof(32, 64)), "");
  EXPECT_EQ(problem(Kind::access_claim, proof(31, 64)), "AccessClaim: a key has 31 bytes, not 32");
  EXPECT_EQ(problem(Kind::access_claim, proof(32, 0)),
            "AccessClaim: a signature has 0 bytes, not 64");
}

TEST(Codec, WhatTheOtherSideWouldRefuseIsNotSent) {
  PeerTable peers;
  SendDictionary groups;
  const PeerRef peer = peers.intern(testing::sample_peer(1));
  PeerDescriptor long_name = testing::sample_peer(2);
  long_name.name = std::string(256, 'n');
  PeerDescriptor many_addresses = testing::sample_peer(3);
  many_addresses.addresses.assign(9, {"host", 1});
  const std::vector<std::pair<Message, errc>> all = {
      {Departure{Peers(limit::peers + 1, peer)}, errc::too_large},
      {Departure{{peers.intern(long_name)}}, errc::too_large},
      {Departure{{peers.intern(many_addresses)}}, errc::too_large},
      {JoinReply{.rows = std::vector<TableRow>(limit::rows + 1)}, errc::too_large},
      {GroupSetPage{.groups = std::vector<Id>(limit::groups + 1)}, errc::too_large},
      {RootStates{.states = std::vector<GroupState>(limit::states + 1)}, errc::too_large},
      {Multicast{.key = Buffer::copy_of(std::string(256, 'k'))}, errc::too_large},
      {Anycast{.origin = peer, .passed_over = Peers(limit::passed_over + 1, peer)},
       errc::too_large},
      {RootStates{.states = {{.name = {std::string(256, 'g'), ""}}}}, errc::too_large},
      {RootStates{.states = {{.name = {"a\nb", ""}}}}, errc::bad_name},
      {MemberWords{.words = std::vector<MemberWord>(limit::groups + 1)}, errc::too_large},
      {PresenceUpdate{.changes = {.joined = Peers(limit::member_names + 1, peer)}},
       errc::too_large},
      {MemberWords{.words = {{.changes = {.left = Peers(limit::member_names + 1, peer)}}}},
       errc::too_large},
      {Publish{.name = {"\xff", ""}, .origin = peer}, errc::bad_name},
      {AccessUpdate{{},
                    std::make_shared<const AccessList>(
                        AccessList{.join = {false, std::vector<Id>(grants_max + 1), {}}})},
       errc::too_large},
      {Routed{.body = std::make_shared<const RoutedBody>(
                  GroupJoin{.name = {"\xff", ""}, .child = peer})},
       errc::bad_name},
  };
  for (const auto& [message, expected] : all) {
    const auto frame = encode(message, peers, groups);
    ASSERT_FALSE(frame) << type_name(message);
    EXPECT_EQ(frame.error(), expected) << type_name(message);
  }
}

TEST(Codec, AHeaderBeyond64KilobytesIsALongOne) {
  Direction link;
  JoinReply reply;
  for (unsigned row = 0; row < 3; ++row) {
    Peers peers;
    for (unsigned i = 0; i < 500; ++i) {
      peers.push_back(link.sender_peers.intern(testing::sample_peer(row * 500 + i)));
    }
    reply.rows.push_back({static_cast<std::uint8_t>(row), peers});
  }
  const EncodedFrame frame = link.encode_or_fail(reply);
  ASSERT_GT(frame.head.size(), max_short_header);
  EXPECT_EQ(describe(link.carry(reply), link.receiver_peers), describe(reply, link.sender_peers));

  for (unsigned row = 3; row < 10; ++row) {
    reply.rows.push_back({static_cast<std::uint8_t>(row), reply.rows[0].peers});
  }
  const auto refused = encode(reply, link.sender_peers, link.send);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), errc::too_large);
}

}  // namespace
}  // namespace canopy::wire
