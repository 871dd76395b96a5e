#include "gateway/signature.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "gateway/authenticator.hpp"
#include "gateway/percent.hpp"

namespace canopy::gateway {
namespace {

// AWS's published example of signing, with its example credentials.
constexpr const char* example_key = "AKIDEXAMPLE";
constexpr const char* example_secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
constexpr std::int64_t example_time = 1'440'938'160;  // 20150830T123600Z

Request iam_request(std::string_view signature) {
  static std::string authorization;
  authorization =
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
      "SignedHeaders=content-type;host;x-amz-date, Signature=" +
      std::string(signature);
  return {"GET",
          "/?Action=ListUsers&Version=2010-05-08",
          {{"Host", "iam.amazonaws.com"},
           {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"},
           {"X-Amz-Date", "20150830T123600Z"},
           {"Authorization", authorization}},
          "",
          false};
}

TEST(Signature, FollowsTheExampleOfItsSpecification) {
  const Request request = iam_request("00");
  const auto parsed = signature_of(request);
  ASSERT_TRUE(parsed.has_value() && parsed->has_value());
  const Signature& signature = **parsed;
  EXPECT_EQ(signature.key_id, example_key);
  EXPECT_EQ(signature.scope(), "20150830/us-east-1/iam/aws4_request");
  const auto canonical = canonical_request(request, signature);
  ASSERT_TRUE(canonical);
  EXPECT_EQ(to_hex(view_of(sha256(*canonical))),
            "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59");
  Sha256 key = hmac_sha256(std::string("AWS4") + example_secret, "20150830");
  for (const char* part : {"us-east-1", "iam", "aws4_request"})
    key = hmac_sha256(view_of(key), part);
  EXPECT_EQ(to_hex(view_of(key)),
            "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
  EXPECT_EQ(to_hex(view_of(hmac_sha256(view_of(key), string_to_sign(signature, *canonical)))),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST(Signature, NormalisesPathQueryAndHeaders) {
  Request request{"POST",
                  "/a/../b//%20/?z=1&a=%7e&a=b+c&X-Amz-Signature=s",
                  {{"hOST", "h"}, {"X-A", "  a   b "}, {"x-a", "c"}},
                  "body",
                  false};
  Signature signature;
  signature.presigned = true;
  signature.signed_headers = {"host", "x-a"};
  const auto canonical = canonical_request(request, signature);
  ASSERT_TRUE(canonical);
  EXPECT_EQ(*canonical, "POST\n/b/%2520/\na=b%20c&a=~&z=1\nhost:h\nx-a:a b,c\n\nhost;x-a\n" +
                            to_hex(view_of(sha256("body"))));
  signature.signed_headers.push_back("missing");
  EXPECT_FALSE(canonical_request(request, signature));
}

TEST(Signature, TakesThePayloadHashAtItsWordOnlyIfItIsTrue) {
  Signature signature;
  signature.signed_headers = {"host"};
  Request request{
      "POST", "/", {{"host", "h"}, {"x-amz-content-sha256", "UNSIGNED-PAYLOAD"}}, "b", false};
  EXPECT_TRUE(canonical_request(request, signature)->ends_with("\nUNSIGNED-PAYLOAD"));
  request.fields[1].value = "00";
  EXPECT_FALSE(canonical_request(request, signature));
}

TEST(Signature, ReadsTimestamps) {
  EXPECT_EQ(parse_timestamp("20150830T123600Z"), example_time);
  EXPECT_EQ(format_timestamp(example_time), "20150830T123600Z");
  for (const char* text : {"", "20150830T123600", "20151330T123600Z", "2015083aT123600Z",
                           "20150830T993600Z", "2015-08-30T12:36:00Z"})
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
}

TEST(Signature, SaysWhatIsMissing) {
  const Request request{
      "POST", "/", {{"Authorization", "AWS4-HMAC-SHA256 Credential=a"}}, "", false};
  const auto parsed = signature_of(request);
  ASSERT_TRUE(parsed.has_error());
  EXPECT_EQ(parsed.error().info.query_code, "IncompleteSignature");
}

class AuthenticatorTest : public testing::Test {
 protected:
  Authenticator make(bool anonymous) {
    AccessRules rules;
    rules.allow_anonymous = anonymous;
    Authenticator authenticator(rules);
    auto credentials = std::make_shared<Credentials>();
    credentials->add("AKIDEXAMPLE", {example_secret, "111122223333", "alice"});
    authenticator.set_credentials(credentials);
    return authenticator;
  }

  // A request of ours, signed as a client would.
  Request sign(std::int64_t time, std::string_view key_id = example_key,
               std::string_view secret = example_secret) {
    date_ = format_timestamp(time);
    Request request{"POST", "/", {{"Host", "h"}, {"X-Amz-Date", date_}}, "{}", false};
    Signature signature;
    signature.date = date_.substr(0, 8);
    signature.region = "eu-west-1";
    signature.service = "sqs";
    signature.timestamp = date_;
    signature.signed_headers = {"host", "x-amz-date"};
    Sha256 key = hmac_sha256("AWS4" + std::string(secret), signature.date);
    for (const char* part : {"eu-west-1", "sqs", "aws4_request"})
      key = hmac_sha256(view_of(key), part);
    const auto text = string_to_sign(signature, *canonical_request(request, signature));
    authorization_ = "AWS4-HMAC-SHA256 Credential=" + std::string(key_id) + "/" +
                     signature.scope() + ",SignedHeaders=host;x-amz-date,Signature=" +
                     to_hex(view_of(hmac_sha256(view_of(key), text)));
    request.fields.push_back({"Authorization", authorization_});
    return request;
  }

  std::string date_;
  std::string authorization_;
};

TEST_F(AuthenticatorTest, KnowsWhoSigned) {
  Authenticator authenticator = make(false);
  for (int i = 0; i < 2; ++i) {
    const auto who = authenticator.identify(sign(1'000'000), 1'000'000);
    ASSERT_TRUE(who.has_value());
    EXPECT_EQ(who->caller.account, "111122223333");
    EXPECT_EQ(who->caller.principal, "alice");
    EXPECT_EQ(who->region, "eu-west-1");
  }
}

TEST_F(AuthenticatorTest, RefusesWhatWasChangedOnTheWay) {
  Authenticator authenticator = make(false);
  Request request = sign(1'000'000);
  request.body = "{ }";
  EXPECT_EQ(authenticator.identify(request, 1'000'000).error().info.query_code,
            "SignatureDoesNotMatch");
  request = sign(1'000'000, example_key, "another secret");
  EXPECT_EQ(authenticator.identify(request, 1'000'000).error().info.json_type,
            "InvalidSignatureException");
}

TEST_F(AuthenticatorTest, AllowsForClocksThatDifferALittle) {
  Authenticator authenticator = make(false);
  for (const std::int64_t skew : {-900, 900})
    EXPECT_TRUE(authenticator.identify(sign(1'000'000 + skew), 1'000'000).has_value());
  const auto old = authenticator.identify(sign(1'000'000 - 901), 1'000'000);
  EXPECT_EQ(old.error().info.query_code, "SignatureDoesNotMatch");
  EXPECT_TRUE(
      old.error().message.starts_with("Signature expired: 19700112T133139Z is now earlier "
                                      "than 19700112T133140Z (19700112T134640Z - 15 min.)"))
      << old.error().message;
  EXPECT_FALSE(authenticator.identify(sign(1'000'000 + 901), 1'000'000).has_value());
}

TEST_F(AuthenticatorTest, RefusesUnknownKeysAndUnsignedRequests) {
  Authenticator authenticator = make(false);
  const auto unknown = authenticator.identify(sign(1'000'000, "AKIDOTHER"), 1'000'000);
  EXPECT_EQ(unknown.error().info.query_code, "InvalidClientTokenId");
  EXPECT_EQ(unknown.error().info.http_status, 403);
  const Request unsigned_request{"POST", "/", {{"Host", "h"}}, "", false};
  EXPECT_EQ(authenticator.identify(unsigned_request, 0).error().info.query_code,
            "MissingAuthenticationToken");
}

TEST_F(AuthenticatorTest, TakesAnyoneWhereThatIsAllowed) {
  Authenticator authenticator = make(true);
  const auto digits = authenticator.identify(sign(1'000'000, "999988887777"), 5);
  ASSERT_TRUE(digits.has_value());
  EXPECT_EQ(digits->caller.account, "999988887777");
  EXPECT_EQ(digits->region, "eu-west-1");
  const auto other = authenticator.identify(sign(1'000'000, "test"), 5);
  EXPECT_EQ(other->caller.account, "000000000000");
  const Request unsigned_request{"POST", "/", {{"Host", "sqs.us-west-2.localhost"}}, "", false};
  EXPECT_EQ(authenticator.identify(unsigned_request, 0)->region, "us-west-2");
  // Whoever uses a known key has to have its secret, also here.
  EXPECT_FALSE(authenticator.identify(sign(1'000'000, example_key, "wrong"), 1'000'000));
}

TEST_F(AuthenticatorTest, ReadsNoKeyOutOfAJsonBody) {
  Authenticator authenticator = make(true);
  constexpr std::string_view body = "{\"MessageBody\": \"AWSAccessKeyId=123456789012\"}";
  const Request json{
      "POST", "/", {{"Host", "h"}, {"X-Amz-Target", "AmazonSQS.SendMessage"}}, body, false};
  const Request form{
      "POST", "/", {{"Host", "h"}}, "Action=ListQueues&AWSAccessKeyId=123456789012", false};
  EXPECT_NE(authenticator.identify(json, 0)->caller.account, "123456789012");
  EXPECT_EQ(authenticator.identify(form, 0)->caller.account, "123456789012");
}

TEST_F(AuthenticatorTest, ForgetsKeysThatWereReplaced) {
  Authenticator authenticator = make(false);
  ASSERT_TRUE(authenticator.identify(sign(1'000'000), 1'000'000).has_value());
  auto replaced = std::make_shared<Credentials>();
  replaced->add(example_key, {"another secret", "111122223333", "alice"});
  authenticator.set_credentials(replaced);
  EXPECT_FALSE(authenticator.identify(sign(1'000'000), 1'000'000).has_value());
}

TEST(Credentials, AreReadFromAwsFileWithAccountsOfOurs) {
  const auto credentials = Credentials::parse(
      "# comment\n[default]\naws_access_key_id = A\naws_secret_access_key=s=1\r\nregion = x\n\n"
      "[bob]\naws_access_key_id=B\naws_secret_access_key=t\naccount=111122223333\nuser=bob\n",
      "000000000000");
  ASSERT_EQ(credentials.size(), 2U);
  EXPECT_EQ(credentials.find("A")->secret, "s=1");
  EXPECT_EQ(credentials.find("A")->account, "000000000000");
  EXPECT_EQ(credentials.find("A")->user, "000000000000");
  EXPECT_EQ(credentials.find("B")->account, "111122223333");
  EXPECT_EQ(credentials.find("B")->user, "bob");
  EXPECT_EQ(credentials.find("C"), nullptr);
}

TEST(Credentials, SayInWhichLineTheyAreWrong) {
  const auto wrong = [](const char* text) {
    try {
      Credentials::parse(text, "000000000000");
      return std::string("none");
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(wrong("\na=b"), "credentials, line 2: expected [profile], or key = value below one");
  EXPECT_EQ(wrong("[a]\naws_access_key_id=A"),
            "credentials, line 1: a profile needs aws_access_key_id and aws_secret_access_key");
  EXPECT_EQ(wrong("[a]\naccount=12"), "credentials, line 2: an account is twelve digits");
  EXPECT_EQ(wrong("[a]\naws_access_key_id=A\naws_secret_access_key=s\n"
                  "[b]\naws_access_key_id=A\naws_secret_access_key=s"),
            "credentials, line 4: A is there twice");
}

TEST(Percent, DecodesFormsAndEncodesUrls) {
  std::string decoded, encoded;
  percent_decode("a+b%2B%zz%4", true, decoded);
  EXPECT_EQ(decoded, "a b+%zz%4");
  percent_encode("a b/~\xC3", false, encoded);
  EXPECT_EQ(encoded, "a%20b%2F~%C3");
}

}  // namespace
}  // namespace canopy::gateway
