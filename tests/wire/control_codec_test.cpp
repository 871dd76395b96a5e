#include "wire/control_codec.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "base/random.hpp"
#include "base/text.hpp"

namespace canopy::wire::control {
namespace {

// What a parser on the other end of a socket makes of an encoded frame.
class Pipe {
 public:
  std::optional<Frame> through(const EncodedFrame& frame) {
    feed(frame.head);
    feed(frame.body.view());
    return parser_.next();
  }

 private:
  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> room = parser_.prepare();
      const std::size_t size = std::min(room.size(), bytes.size());
      std::copy_n(bytes.begin(), size, room.begin());
      parser_.commit(size);
      bytes.remove_prefix(size);
    }
  }
  FrameParser parser_;
};

RequestEnvelope round_trip(const Request& request) {
  Pipe pipe;
  auto encoded = encode(RequestEnvelope{77, request});
  auto frame = pipe.through(encoded.value());
  auto decoded = decode_request(frame.value());
  EXPECT_TRUE(decoded);
  return decoded ? *decoded : RequestEnvelope{};
}

AnswerEnvelope round_trip(const Answer& answer, bool more = false) {
  Pipe pipe;
  auto encoded = encode(AnswerEnvelope{99, more, answer});
  auto frame = pipe.through(encoded.value());
  auto decoded = decode_answer(frame.value());
  EXPECT_TRUE(decoded);
  return decoded ? *decoded : AnswerEnvelope{};
}

template <class T>
void comes_back(const T& value) {
  if constexpr (std::is_constructible_v<Request, T>) {
    const auto envelope = round_trip(Request(value));
    EXPECT_EQ(envelope.id, 77U);
    ASSERT_TRUE(std::holds_alternative<T>(envelope.request));
    if constexpr (!std::is_empty_v<T>) {
      EXPECT_EQ(std::get<T>(envelope.request), value);
    }
  } else {
    const auto envelope = round_trip(Answer(value), true);
    EXPECT_EQ(envelope.id, 99U);
    EXPECT_TRUE(envelope.more);
    ASSERT_TRUE(std::holds_alternative<T>(envelope.answer));
    if constexpr (!std::is_empty_v<T>) {
      EXPECT_EQ(std::get<T>(envelope.answer), value);
    }
  }
}

const Peer alpha{Id::hash_of("alpha"), "alpha", {"127.0.0.1:7400", "[::1]:7400"}, 5, "rack-1"};
const Peer beta{Id::hash_of("beta"), "beta", {}, 1ULL << 60, ""};
const GroupName prices{"prices", "node-17"};
const MessageId message_id{Id::hash_of("alpha"), 7, 8};

AccessRights some_rights() {
  AccessRights rights;
  rights.publish = {false, {alpha.id, beta.id}, {}};
  rights.manage = {false, {alpha.id}, {PublicKey{9, 8, 7}}};
  return rights;
}

Content some_content() {
  return {{{"trace", "1"}, {"trace", std::string("\0\xff", 2)}},
          Buffer::copy_of(std::string_view("pay\0load", 8))};
}

TEST(ControlCodec, requests_come_back_as_they_were) {
  comes_back(GetVersion{});
  comes_back(GetStatus{});
  comes_back(GetRing{});
  comes_back(GetGroups{});
  comes_back(GetRoute{Id::hash_of("key")});
  comes_back(GetTree{prices, {}});
  comes_back(GetTree{prices, "secret"});
  comes_back(Create{prices});
  comes_back(Create{prices, GroupMode::ordered});
  comes_back(Create{prices, GroupMode::ordered, some_rights(), "a token"});
  comes_back(Join{{"prices", ""}});
  comes_back(Join{{"prices", ""}, "a token"});
  comes_back(GetAccess{prices});
  comes_back(SetAccess{prices, 1ULL << 63, some_rights(), "a token"});
  comes_back(DeleteGroup{prices, "a token"});
  comes_back(Join{prices, "", true, false});
  comes_back(Join{prices, "", false, true});
  comes_back(GetMembers{prices});
  comes_back(GetMembers{prices, "a token"});
  comes_back(Join{{"prices", ""}, "", false, false, false, 7});
  comes_back(Anycast{prices, some_content(), std::chrono::milliseconds(2500), true});
  comes_back(Ask{prices, some_content(), true, 3, std::chrono::milliseconds(1)});
  comes_back(Reply{4, message_id, false, 3, some_content()});
  comes_back(Reply{4, message_id, true, 0, {}});
  comes_back(Cancel{});
  comes_back(Publish{prices, AckMode::none, some_content()});
  comes_back(Publish{prices, AckMode::root, {}});
  comes_back(Publish{prices, AckMode::members, {}, std::chrono::milliseconds(2500)});
  comes_back(Publish{prices, AckMode::root, {}, {}, "a token"});
  comes_back(Shutdown{});
  comes_back(QueueCall{"SendMessage", "111122223333", "eu-west-1", Buffer::copy_of("{}")});
  comes_back(QueueCall{"ListQueues", "", "", {}});
  comes_back(AddBridge{prices, "jobs"});
  comes_back(RemoveBridge{prices, "jobs"});
  comes_back(GetBridges{});
}

TEST(ControlCodec, answers_come_back_as_they_were) {
  comes_back(Done{});
  comes_back(Done{true, GroupMode::ordered});
  comes_back(Access{prices, Id::hash_of("prices"), GroupMode::ordered, true, some_rights(), 5});
  comes_back(Access{prices, Id::hash_of("prices")});
  comes_back(Failure{7, "too large: send less"});
  comes_back(Version{"0.1.0", 4711});
  Status status;
  status.self = alpha;
  status.state = "active";
  status.version = "0.1.0";
  status.cluster = "canopy";
  status.cluster_uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
  status.founded = true;
  status.digit_bits = 4;
  status.leaf_set_size = 16;
  status.uptime = std::chrono::milliseconds(123456);
  status.leaves = {alpha, beta};
  status.table_entries = 1;
  status.neighbors = 2;
  status.links = 3;
  status.groups = 4;
  status.subscriptions = 5;
  status.counters = {{"bytes_in", 1}, {"bytes_out", 1ULL << 63}};
  comes_back(status);
  comes_back(Ring{{alpha, beta}, true});
  comes_back(Route{Id::hash_of("key"), alpha, {beta}});
  comes_back(Tree{prices,
                  Id::hash_of("pricesnode-17"),
                  {{alpha, std::nullopt, false, true, std::nullopt},
                   {beta, 0, true, false, 1234},
                   {beta, 1, false, false, {}, true}},
                  true});
  comes_back(Groups{{{prices, Id::hash_of("x"), true, false, true, alpha, 2, 3, 4}}});
  comes_back(Groups{{{prices, Id::hash_of("x"), false, true, true, std::nullopt, 0, 0, 0}}});
  comes_back(Published{message_id, alpha, 1, 2, std::nullopt, false, {}, 0});
  comes_back(Published{message_id, std::nullopt, 0, 0, 7, true, {}, 0});
  comes_back(Published{message_id, alpha, 0, 0, 0, false, {alpha, alpha}, 5});
  comes_back(Joined{prices, Id::hash_of("x")});
  comes_back(Message{message_id, 3, 4, true, some_content(), true, {}});
  comes_back(Message{message_id, 3, 4, true, some_content(), false, std::chrono::milliseconds(0)});
  comes_back(Taken{message_id, alpha});
  comes_back(Replied{message_id, beta, 3, some_content(), {}, false, 0, 0, 0, ""});
  comes_back(Replied{message_id, {}, 0, {}, 7, true, 1, 2, 3, "no: ask again"});
  comes_back(RequestEnded{message_id, 2, "too late"});
  comes_back(Gap{1, 2, 3});
  comes_back(Lost{12, false});
  comes_back(Lost{12, true});
  comes_back(Message{message_id, 0, 0, false, some_content(), true});
  comes_back(MemberCount{prices, 1ULL << 40, true});
  comes_back(Presence{3, true, {{Id::hash_of("a"), "a"}}, {{Id::hash_of("b"), "b"}}, 1, 2});
  comes_back(Presence{});
  comes_back(NoLast{});
  comes_back(QueueAnswer{200, Buffer::copy_of(R"({"Messages":[]})")});
  comes_back(QueueAnswer{400, {}});
  comes_back(Bridges{{{prices,
                       "jobs",
                       "http://127.0.0.1:9324/000000000000/jobs",
                       true,
                       "full",
                       {1, 2, 3, 4, 5, 6, 7, 1ULL << 63}},
                      {}}});
  comes_back(Bridges{});
}

std::string hex_of(const EncodedFrame& frame) {
  return to_hex(frame.head + std::string(frame.body.view()));
}

// A later version must still say the same in the same way.
TEST(ControlCodec, calls_to_queues_are_written_as_ever) {
  const QueueCall call{"SendMessage", "111122223333", "eu-west-1", Buffer::copy_of("{}")};
  EXPECT_EQ(hex_of(encode(RequestEnvelope{77, call}).value()),
            "00000030"                      // length
            "8000002a"                      // kind, flags, header length
            "084d6a26"                      // the request's id, a call
            "0a0b53656e644d657373616765"    // action
            "120c313131313232323233333333"  // account
            "1a0965752d776573742d31"        // region
            "7b7d");                        // body
  EXPECT_EQ(hex_of(encode(AnswerEnvelope{77, true, QueueAnswer{400, call.body}}).value()),
            "00000010"
            "8100000a"
            "084d1001"      // the request's id, more to come
            "820103089003"  // an answer: status
            "7b7d");
}

TEST(ControlCodec, a_join_is_read_as_ever) {
  // As a client of an earlier version writes it.
  EXPECT_EQ(hex_of(encode(RequestEnvelope{77, Join{{"g", "c"}}}).value()),
            "0000000e8000000a084d4a060a0167120163");
}

TEST(ControlCodec, requests_and_replies_are_written_as_ever) {
  const MessageId id{Id::hash_of("alpha"), 7, 8};
  const std::string publisher = id.publisher.to_hex();
  const Content text{{}, Buffer::copy_of("x")};
  EXPECT_EQ(hex_of(encode(RequestEnvelope{
                              1, Ask{{"g", "c"}, text, true, 2, std::chrono::milliseconds(3)}})
                       .value()),
            "0000001a80000013"
            "0801"
            "92010e"
            "0a060a0167120163"
            "100118022003"
            "010078");
  EXPECT_EQ(hex_of(encode(RequestEnvelope{1, Reply{2, id, true, 3, text}}).value()),
            "0000002e80000027"
            "0801"
            "9a0122"
            "0802121a0a14" +
                publisher +
                "10071808"
                "18012003"
                "010078");
}

TEST(ControlCodec, bridges_are_written_as_ever) {
  EXPECT_EQ(hex_of(encode(RequestEnvelope{77, AddBridge{{"g", "c"}, "q"}}).value()),
            "000000138000000f084d720b0a060a0167120163120171");
  EXPECT_EQ(hex_of(encode(RequestEnvelope{77, RemoveBridge{{"g", "c"}, "q"}}).value()),
            "000000138000000f084d7a0b0a060a0167120163120171");
  EXPECT_EQ(hex_of(encode(RequestEnvelope{77, GetBridges{}}).value()),
            "0000000980000005084d820100");
  const Bridge bridge{{"g", "c"}, "q", "u", true, "p", {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(hex_of(encode(AnswerEnvelope{77, true, Bridges{{bridge}}}).value()),
            "000000328100002e084d10018a01270a250a060a01671201631201711a017520012a01703210"
            "08011002180320042805300638074008");
}

TEST(ControlCodec, a_page_of_bridges_fits_with_the_longest_names) {
  const std::string name(255, 'n');
  const std::uint64_t most = ~std::uint64_t{0};
  const Bridge bridge{{name, name},          name,
                      std::string(600, 'u'), true,
                      std::string(400, 'p'), {most, most, most, most, most, most, most, most}};
  EXPECT_TRUE(
      encode(AnswerEnvelope{most, true, Bridges{std::vector<Bridge>(bridge_page_size, bridge)}}));
}

TEST(ControlCodec, calls_to_queues_are_bounded) {
  const auto text = [](std::size_t size) { return Buffer::copy_of(std::string(size, ' ')); };
  const std::string name(255, 'n');
  const auto largest =
      encode(RequestEnvelope{1, QueueCall{name, name, name, text(queue_call_bytes_max)}});
  ASSERT_TRUE(largest);
  EXPECT_LE(largest->size(), default_max_frame);
  EXPECT_EQ(
      encode(RequestEnvelope{1, QueueCall{"", "", "", text(queue_call_bytes_max + 1)}}).error(),
      make_error_code(errc::too_large));
  EXPECT_EQ(
      encode(AnswerEnvelope{1, false, QueueAnswer{200, text(queue_part_bytes_max + 1)}}).error(),
      make_error_code(errc::too_large));
}

TEST(ControlCodec, the_payload_is_shared_with_the_frame_it_came_in) {
  Pipe pipe;
  auto frame =
      pipe.through(encode(RequestEnvelope{1, Publish{prices, {}, some_content()}}).value());
  const auto envelope = decode_request(frame.value()).value();
  const std::string_view payload = std::get<Publish>(envelope.request).content.payload.view();
  EXPECT_GE(payload.data(), frame->body.data());
  EXPECT_LE(payload.data() + payload.size(), frame->body.data() + frame->body.size());
}

TEST(ControlCodec, a_page_of_the_longest_entries_fits_a_frame) {
  Peer peer{Id::hash_of("x"), std::string(255, 'n'), {}, ~0ULL, std::string(255, 'z')};
  peer.addresses.assign(8, std::string(255, 'h') + ":65535");
  Ring ring;
  ring.peers.assign(page_size, peer);
  const auto envelope = round_trip(Answer(ring));
  EXPECT_EQ(std::get<Ring>(envelope.answer).peers.size(), page_size);
}

TEST(ControlCodec, lists_longer_than_a_frame_are_refused) {
  Ring ring;
  ring.peers.assign(20'000, alpha);
  EXPECT_EQ(encode(AnswerEnvelope{1, false, ring}).error(), make_error_code(errc::too_large));
}

TEST(ControlCodec, what_a_later_version_says_is_left_empty) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(round_trip(Request{}).request));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(round_trip(Answer{}).answer));
}

TEST(ControlCodec, refuses_frames_of_another_kind) {
  Pipe pipe;
  auto frame = pipe.through(encode(RequestEnvelope{1, GetStatus{}}).value());
  EXPECT_FALSE(decode_answer(*frame));
  frame->kind = 1;
  EXPECT_FALSE(decode_request(*frame));
}

TEST(ControlCodec, refuses_ids_of_another_length_and_content_that_is_none) {
  Frame frame;
  frame.kind = request_kind;
  frame.header = std::string_view(
      "\x32\x03"
      "abc",
      5);  // route = "abc"
  EXPECT_EQ(decode_request(frame).error().code, make_error_code(errc::protocol));
  frame.header = std::string_view("\x5a\x00", 2);  // publish without content
  EXPECT_FALSE(decode_request(frame));
}

TEST(ControlCodec, random_bytes_neither_crash_nor_hang_it) {
  Random random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string header(random.below(64), '\0');
    for (char& c : header) c = static_cast<char>(random.below(256));
    Frame frame;
    frame.kind = random.chance(0.5) ? request_kind : answer_kind;
    frame.header = header;
    frame.body = Buffer::copy_of(header);
    (void)decode_request(frame);
    (void)decode_answer(frame);
  }
}

}  // namespace
}  // namespace canopy::wire::control
