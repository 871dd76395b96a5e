#include "queue/policy.hpp"

#include <gtest/gtest.h>

namespace canopy::queue {
namespace {

constexpr std::string_view arn = "arn:aws:sqs:us-east-1:000000000000:q";

bool allows(const std::string& statements, AccessRequest request) {
  const auto policy = Policy::parse(R"({"Version":"2012-10-17","Statement":)" + statements + "}");
  EXPECT_TRUE(policy);
  return policy && policy->allows(request, arn);
}

const AccessRequest someone{"SendMessage", "111111111111", "bob"};

TEST(Policy, AllowsPrincipalsActionsAndResourcesByPattern) {
  EXPECT_TRUE(allows(R"({"Effect":"Allow","Principal":"*","Action":"sqs:*"})", someone));
  EXPECT_TRUE(allows(R"([{"Effect":"Allow","Principal":{"AWS":["222222222222",
      "arn:aws:iam::111111111111:root"]},"Action":["SQS:Send*"],
      "Resource":"arn:aws:sqs:*:*:q"}])",
                     someone));
  EXPECT_TRUE(allows(
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:user/bob"},"Action":"*"})",
      someone));
  EXPECT_FALSE(allows(
      R"({"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111111111111:user/al"},"Action":"*"})",
      someone));
  EXPECT_FALSE(allows(R"({"Effect":"Allow","Principal":"*","Action":"sqs:Receive*"})", someone));
  EXPECT_FALSE(allows(R"({"Effect":"Allow","Principal":"*","Action":"sns:*"})", someone));
  EXPECT_FALSE(allows(
      R"({"Effect":"Allow","Principal":"*","Action":"sqs:*","Resource":"arn:aws:sqs:*:*:r"})",
      someone));
  EXPECT_TRUE(
      allows(R"({"Effect":"Allow","Principal":"*","NotAction":"sqs:DeleteQueue"})", someone));
}

TEST(Policy, ADenialBeatsEveryPermission) {
  EXPECT_FALSE(allows(R"([{"Effect":"Allow","Principal":"*","Action":"sqs:*"},
      {"Effect":"Deny","Principal":{"AWS":"111111111111"},"Action":"sqs:SendMessage"}])",
                      someone));
}

TEST(Policy, HoldsConditionsOfTheSource) {
  const std::string by_topic = R"({"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage",
      "Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:sns:us-east-1:111111111111:*"}}})";
  AccessRequest request = someone;
  EXPECT_FALSE(allows(by_topic, request));
  request.source_arn = "arn:aws:sns:us-east-1:111111111111:topic";
  EXPECT_TRUE(allows(by_topic, request));
  request.source_arn = "arn:aws:sns:us-east-1:222222222222:topic";
  EXPECT_FALSE(allows(by_topic, request));
  const std::string by_account = R"({"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage",
      "Condition":{"StringEquals":{"AWS:SourceAccount":["333333333333","111111111111"]}}})";
  EXPECT_FALSE(allows(by_account, someone));
  request.source_account = "111111111111";
  EXPECT_TRUE(allows(by_account, request));
}

TEST(Policy, RefusesWhatIsNoPolicy) {
  for (const char* text : {"", "[]", "{}", R"({"Statement":[1]})",
                           R"({"Statement":{"Effect":"Maybe","Principal":"*","Action":"*"}})",
                           R"({"Statement":{"Effect":"Allow","Action":"*"}})"}) {
    EXPECT_FALSE(Policy::parse(text)) << text;
  }
}

TEST(Policy, GrowsAndShrinksByPermissions) {
  const auto one = with_permission("", std::string(arn), "a", {"111111111111"}, {"SendMessage"});
  ASSERT_TRUE(one);
  EXPECT_EQ(
      *one,
      R"({"Version":"2008-10-17","Id":"arn:aws:sqs:us-east-1:000000000000:q/SQSDefaultPolicy",)"
      R"("Statement":[{"Sid":"a","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::)"
      R"(111111111111:root"},"Action":"SQS:SendMessage","Resource":)"
      R"("arn:aws:sqs:us-east-1:000000000000:q"}]})");
  EXPECT_FALSE(with_permission(*one, std::string(arn), "a", {"1"}, {"*"}));
  const auto two = with_permission(*one, std::string(arn), "b", {"222222222222"}, {"*"});
  EXPECT_EQ(statement_count(*two), 2U);
  EXPECT_EQ(without_permission(*two, "b"), one);
  EXPECT_EQ(without_permission(*one, "a"), "");
  EXPECT_FALSE(without_permission(*one, "b"));
  const auto chinese = with_permission("", "arn:aws-cn:sqs:cn-north-1:1:q", "a", {"2"}, {"*"});
  EXPECT_NE(chinese.value().find(R"("AWS":"arn:aws-cn:iam::2:root")"), std::string::npos);
}

}  // namespace
}  // namespace canopy::queue
