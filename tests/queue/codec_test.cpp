#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "queue/arn.hpp"
#include "queue/base64.hpp"
#include "queue/bytes.hpp"
#include "queue/command.hpp"
#include "queue/md5.hpp"
#include "queue/message_checks.hpp"
#include "queue/message_record.hpp"
#include "queue/receipt_handle.hpp"

namespace canopy::queue {
namespace {

SecretKey some_key() {
  SecretKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<char>(i);
  return key;
}

TEST(Md5, IsAmazonsForBodiesAndAttributes) {
  Md5 md5;
  EXPECT_EQ(to_hex(bytes_of(md5.of("\xc3\xa9\r\n"))), "311ea14de0eb4f0a7433af444f516780");
  const MessageAttributes one{{"timestamp", {"Number", false, "1493147359900"}}};
  EXPECT_EQ(to_hex(bytes_of(md5.of(one))), "235c5c510d26fb653d073faed50ae77c");
  const MessageAttributes several{{"a", {"String.x", false, "\xc3\xa9"}},
                                  {"b", {"Binary", true, std::string("\0\1", 2)}},
                                  {"c", {"Number.int", false, "7"}}};
  EXPECT_EQ(to_hex(bytes_of(md5.of(several))), "5d4fb568d5a41befb2516f24999bb6e0");
}

TEST(Base64, SurvivesTheRoundTripAndRefusesOtherText) {
  for (const std::string bytes : {"", "f", "fo", "foo", "\xff\xfe\xfd"}) {
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
  }
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
  for (const char* text : {"A", "AB+/", "AA==", "AB"}) EXPECT_FALSE(from_base64url(text)) << text;
}

TEST(SipHash, IsTheOneOfItsPaper) {
  // Appendix A of "SipHash: a fast short-input PRF".
  std::string input;
  for (char i = 0; i < 15; ++i) input.push_back(i);
  EXPECT_EQ(sip_hash(some_key(), input), 0xa129ca6149be45e5U);
}

TEST(ReceiptHandle, OpensOnlyWithItsKeyAndUnaltered) {
  const ReceiptHandle handle{7, 0, {0, 1'700'000'000'000, 9}, 3, 12};
  const std::string text = seal(handle, 1, some_key());
  EXPECT_EQ(key_of_handle(text), 1U);
  EXPECT_EQ(open_handle(text, some_key()), handle);
  EXPECT_EQ(text, "AQEHAAAAAAAAAAAAgNCV_7wxCQMMBlfYx_3dPPg");
  SecretKey other = some_key();
  other[0] = 'x';
  EXPECT_FALSE(open_handle(text, other));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string altered = text;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(open_handle(altered, some_key())) << i;
  }
  EXPECT_FALSE(open_handle(text.substr(0, text.size() - 4), some_key()));
  EXPECT_FALSE(open_handle("", some_key()));
}

MessageRecord some_message() {
  MessageRecord message;
  message.id = Uuid::from_random_bits(1, 2);
  message.sent = 1'700'000'000'000;
  message.sender = "user";
  message.delay = 5'000;
  message.group_id = "g";
  message.attributes = {{"a", {"String", false, "x"}}};
  message.body = Buffer::copy_of("body");
  return message;
}

TEST(MessageRecord, ComesBackAsItWas) {
  MessageRecord message = some_message();
  message.first_received = 1'700'000'000'001;
  message.deduplication_id = "d";
  message.trace_header = "t";
  message.dead_letter_source = "arn";
  message.receives = 300;
  const Buffer record = encode(message);
  const auto decoded = decode_message(record);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->id, message.id);
  EXPECT_EQ(decoded->sender, message.sender);
  EXPECT_EQ(decoded->group_id, message.group_id);
  EXPECT_EQ(decoded->deduplication_id, message.deduplication_id);
  EXPECT_EQ(decoded->trace_header, message.trace_header);
  EXPECT_EQ(decoded->dead_letter_source, message.dead_letter_source);
  EXPECT_EQ(decoded->attributes, message.attributes);
  EXPECT_EQ(decoded->receives, message.receives);
  EXPECT_EQ(decoded->body, message.body);
  EXPECT_EQ(decoded->body.slab(), record.slab());
  const auto times = times_of(record.view());
  ASSERT_TRUE(times);
  EXPECT_EQ(times->sent, message.sent);
  EXPECT_EQ(times->delay, message.delay);
  EXPECT_EQ(times->first_received, message.first_received);
}

TEST(MessageRecord, HasTheBytesThatStoresHold) {
  EXPECT_EQ(to_hex(encode(some_message()).view()),
            "0145000000000000400180000000000000020000000000000000000000000000000080d095ffbc31047573"
            "65728827016701016106537472696e67000178626f6479");
}

TEST(Arn, IsOfTheCloudOfItsRegion) {
  for (const auto& [region, partition] :
       std::map<std::string, std::string>{{"us-east-1", "aws"},
                                          {"cn-north-1", "aws-cn"},
                                          {"us-gov-west-1", "aws-us-gov"},
                                          {"us-iso-east-1", "aws-iso"},
                                          {"us-isob-east-1", "aws-iso-b"}}) {
    const QueueName name{region, "1", "q"};
    EXPECT_EQ(arn_of(name), "arn:" + partition + ":sqs:" + region + ":1:q");
    EXPECT_EQ(parse_arn(arn_of(name)), name);
  }
}

Command some_send() {
  Command command;
  command.time = 1'700'000'000'000;
  command.origin = {0x0102030405060708, 3};
  command.sequence = 300;
  command.body = command::Send{
      5, {{0, command.time, {}, {}, Uuid::from_random_bits(1, 2), Buffer::copy_of("r")}}};
  return command;
}

TEST(Command, HasTheBytesThatLogsHold) {
  EXPECT_EQ(to_hex(encode(some_send()).view()),
            "010880a0abfef962010203040506070803ac0205010080a0abfef962000000000000000040018000000000"
            "0000020172");
  Command remove = some_send();
  remove.body = command::Remove{5, {0, 8, 9}, {{{0, 10, 11}, "g"}}};
  EXPECT_EQ(to_hex(encode(remove).view()),
            "010a80a0abfef962010203040506070803ac02050010090100140b0167");
  Command multicasts = some_send();
  multicasts.body = command::SendMulticasts{
      5,
      {"g", "c"},
      {0, 0, 0, 0, 1, 2, 3, 4},
      {{{Id::hash_of("p"), 6, 300}, {0, 7, {}, {}, Uuid{}, Buffer::copy_of("r")}}}};
  EXPECT_EQ(
      to_hex(encode(multicasts).view()),
      "011680a0abfef962010203040506070803ac020501670163000000000102030401516b9783fca517eecbd1d064"
      "da2d165310b1975906ac02000e0000000000000000000000000000000000000172");
}

TEST(Command, ComesBackAsItWas) {
  const Buffer bytes = encode(some_send());
  const auto decoded = decode_command(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(encode(*decoded), bytes);
  EXPECT_EQ(std::get<command::Send>(decoded->body).messages[0].record.slab(), bytes.slab());
}

TEST(Command, EveryKindComesBackAsItWas) {
  const QueueName name{"r", "a", "n"};
  const std::vector<CommandBody> bodies{
      command::Begin{some_key()},
      command::CreateQueue{name, {{"a", "b"}}, {{"c", "d"}}},
      command::DeleteQueue{1},
      command::SetAttributes{1, {{"a", "b"}}},
      command::SetTags{1, {{"a", "b"}}, {"c"}},
      command::AddPermission{1, "l", {"a"}, {"b"}},
      command::RemovePermission{1, "l"},
      command::Purge{1},
      command::Send{1, {{2, 3, "g", "d", Uuid{}, Buffer::copy_of("x")}}},
      command::Receive{1, 2, {0, 3, 4}, {{"g", 5, 6, 7, 8}}, "a"},
      command::Remove{1, {0, 3, 4}, {{{1, 2, 3}, "g"}}},
      command::SetVisibility{1, {{"g", 2, 3, 4, true}}},
      command::NoteReceives{1, {{{1, 2, 3}, 4, 5}}},
      command::PlaceGroup{1, "g", 2},
      command::MoveOut{1, {0, 2, 3}, 4, {{{{1, 2, 3}, "g"}, name, Buffer::copy_of("x")}}},
      command::Deliver{1, 2, {{3, {4, 5, "g", {}, Uuid{}, Buffer::copy_of("x")}}}},
      command::Delivered{1},
      command::Housekeeping{1, 2, 3},
      command::StartTask{1, "arn", 5, 6},
      command::EndTask{1, 2, "s", "r"},
      command::AddBridge{1, {"g", "c"}},
      command::RemoveBridge{1, {"g", "c"}},
      command::SendMulticasts{
          1,
          {"g", "c"},
          {1, 2, 3, 4, 5, 6, 7, 8},
          {{{Id::hash_of("p"), 2, 3}, {4, 5, "g", "d", Uuid{}, Buffer::copy_of("x")}}}},
  };
  ASSERT_EQ(bodies.size(), std::variant_size_v<CommandBody>);
  for (std::size_t kind = 0; kind < bodies.size(); ++kind) {
    Command command;
    command.body = bodies[kind];
    const Buffer bytes = encode(command);
    const auto decoded = decode_command(bytes);
    ASSERT_TRUE(decoded) << kind;
    EXPECT_EQ(decoded->body.index(), kind);
    EXPECT_EQ(encode(*decoded), bytes);
    // A receive without its attempt's id is one of an earlier version.
    const std::size_t added = std::holds_alternative<command::Receive>(bodies[kind]) ? 2 : 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const bool whole = added > 0 && size + added == bytes.size();
      EXPECT_EQ(decode_command(bytes.slice(0, size)).has_value(), whole) << kind;
    }
  }
}

TEST(Command, OfAnUnknownKindIsRefused) {
  std::string bytes(encode(some_send()).view());
  bytes[1] = 77;
  EXPECT_FALSE(decode_command(Buffer::copy_of(bytes)));
  bytes[0] = 9;
  EXPECT_FALSE(decode_command(Buffer::copy_of(bytes)));
}

TEST(MessageChecks, AllowExactlyWhatXmlCanCarry) {
  EXPECT_FALSE(check_body("tab\t\r\n &quot; ]]> \xf0\x9f\x98\x80 \xef\xbf\xbd"));
  EXPECT_EQ(check_body("")->code, ErrorCode::missing_parameter);
  for (const std::string& body : {std::string("\0", 1), std::string("\x1f"), std::string("\xff"),
                                  std::string("\xef\xbf\xbf"), std::string("a\xed\xa0\x80")}) {
    ASSERT_TRUE(check_body(body));
    EXPECT_EQ(check_body(body)->code, ErrorCode::invalid_message_contents);
  }
  EXPECT_NE(check_body("\x0b")->message.find("'#xB'"), std::string::npos);
  for (std::size_t at = 0; at < 20; ++at) {
    for (const char byte : {'\0', '\x1f', '\x80', '\xff'}) {
      std::string body(20, '\x7f');
      EXPECT_FALSE(check_body(body));
      body[at] = byte;
      EXPECT_TRUE(check_body(body)) << at;
    }
  }
}

TEST(MessageChecks, KnowAmazonsRulesForAttributes) {
  const Limits limits;
  const auto allowed = [&](const std::string& name, const MessageAttribute& attribute) {
    return !check_message_attributes({{name, attribute}}, limits);
  };
  EXPECT_TRUE(allowed("a-b_c.d9", {"String", false, "x"}));
  EXPECT_TRUE(allowed("\xc3\xa9.\xce\xb1", {"String", false, "letters of other scripts"}));
  EXPECT_TRUE(allowed("n", {"Number.int", false, "-1.5e10"}));
  EXPECT_TRUE(allowed("b", {"Binary.png", true, std::string(1, '\0')}));
  for (const char* name :
       {"", ".a", "a.", "a..b", "a b", "AWS.x", "amazon.y", "\xc2\xa7", "\xff"}) {
    EXPECT_FALSE(allowed(name, {"String", false, "x"})) << name;
  }
  EXPECT_FALSE(allowed("a", {"", false, "x"}));
  EXPECT_FALSE(allowed("a", {"Strin", false, "x"}));
  EXPECT_FALSE(allowed("a", {"String", false, ""}));
  EXPECT_FALSE(allowed("a", {"Binary", false, "x"}));
  EXPECT_FALSE(allowed("a", {"Number", false, "12a"}));
  EXPECT_EQ(check_message_attributes({{"a", {"String", false, "\x01"}}}, limits)->code,
            ErrorCode::invalid_parameter_value);
  MessageAttributes many;
  for (int i = 0; i < 11; ++i) many["a" + std::to_string(i)] = {"String", false, "x"};
  EXPECT_TRUE(check_message_attributes(many, limits));
}

}  // namespace
}  // namespace canopy::queue
