#include "gateway/queue_url.hpp"

#include <gtest/gtest.h>

namespace canopy::gateway {
namespace {

const Place here{"eu-west-1", "111122223333", "http://gateway:9324"};

std::string parsed(std::string_view url) {
  const auto name = parse_queue_url(url, here);
  return name ? name->region + " " + name->account + " " + name->name : "none";
}

TEST(QueueUrl, TakesTheRegionOfTheCallerWhereTheHostHasNone) {
  EXPECT_EQ(parsed("http://gateway:9324/000000000000/q"), "eu-west-1 000000000000 q");
  EXPECT_EQ(parsed("/000000000000/q.fifo"), "eu-west-1 000000000000 q.fifo");
}

TEST(QueueUrl, TakesTheFormsThatAwsHasHad) {
  EXPECT_EQ(parsed("https://sqs.us-east-2.amazonaws.com/123456789012/q"),
            "us-east-2 123456789012 q");
  EXPECT_EQ(parsed("https://us-west-2.queue.amazonaws.com/123456789012/q"),
            "us-west-2 123456789012 q");
  EXPECT_EQ(parsed("https://queue.amazonaws.com/123456789012/q"), "us-east-1 123456789012 q");
  EXPECT_EQ(parsed("http://sqs.us-gov-west-1.localhost.localstack.cloud:4566/123456789012/q"),
            "us-gov-west-1 123456789012 q");
}

TEST(QueueUrl, TakesTheFormsOfEmulators) {
  EXPECT_EQ(parsed("http://localhost:4566/queue/ap-south-1/123456789012/q"),
            "ap-south-1 123456789012 q");
  EXPECT_EQ(parsed("http://localhost:9324/queue/q"), "eu-west-1 111122223333 q");
}

TEST(QueueUrl, TakesANameForAQueueOfTheCaller) {
  EXPECT_EQ(parsed("q.fifo"), "eu-west-1 111122223333 q.fifo");
}

TEST(QueueUrl, RefusesWhatNamesNoQueue) {
  for (const char* url :
       {"", "q/", "a/b", "http://host", "http://host/", "http://host/q", "http://host/12345/q",
        "http://host/000000000000/", "http://host/000000000000/q/more",
        "http://host/queue/ap-south-1/000000000000/q/more"})
    EXPECT_EQ(parsed(url), "none") << url;
}

TEST(QueueUrl, IsToldByTheHostThatTheCallerUsed) {
  EXPECT_EQ(queue_url({"eu-west-1", "000000000000", "q"}, here),
            "http://gateway:9324/000000000000/q");
}

}  // namespace
}  // namespace canopy::gateway
