#include "net/outbox.hpp"

#include <string>

#include <gtest/gtest.h>

namespace canopy::net {
namespace {

wire::Message control(std::uint32_t nonce) { return wire::Probe{nonce}; }

wire::Message bulk(std::uint64_t sequence, std::size_t size = 10) {
  wire::Multicast message;
  message.id.sequence = sequence;
  message.body = Buffer::copy_of(std::string(size, 'x'));
  return message;
}

std::uint64_t number_of(const std::optional<wire::Message>& message) {
  if (const auto* probe = std::get_if<wire::Probe>(&*message)) return probe->nonce;
  return std::get<wire::Multicast>(*message).id.sequence;
}

struct OutboxTest : ::testing::Test {
  OutboxLimits limits;
  ClassCounts dropped;
  Outbox outbox{limits, dropped};
};

TEST_F(OutboxTest, GivesControlFirstAndEachClassInOrder) {
  outbox.push(bulk(1));
  outbox.push(control(11));
  outbox.push(bulk(2));
  outbox.push(control(12));
  for (const std::uint64_t expected : {11, 12, 1, 2}) EXPECT_EQ(number_of(outbox.pop()), expected);
  EXPECT_FALSE(outbox.pop());
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.bytes(), 0u);
}

TEST_F(OutboxTest, DropsTheOldestOfTheClassThatIsFull) {
  limits.bulk.messages_max = 3;
  limits.control.messages_max = 2;
  for (std::uint32_t i = 0; i < 5; ++i) outbox.push(bulk(i));
  for (std::uint32_t i = 10; i < 15; ++i) outbox.push(control(i));
  EXPECT_EQ(dropped.bulk, 2u);
  EXPECT_EQ(dropped.control, 3u);
  for (const std::uint64_t expected : {13, 14, 2, 3, 4})
    EXPECT_EQ(number_of(outbox.pop()), expected);
}

TEST_F(OutboxTest, IsBoundedInBytes) {
  limits.bulk.bytes_max = 10'000;
  for (std::uint64_t i = 0; i < 100; ++i) {
    outbox.push(bulk(i, 1000));
    EXPECT_LE(outbox.bytes(), 10'000u);
  }
  EXPECT_EQ(outbox.messages() + dropped.bulk, 100u);
  EXPECT_GE(outbox.messages(), 8u);
}

TEST_F(OutboxTest, AMessageThatCanNeverFitPushesNothingOut) {
  limits.bulk.bytes_max = 10'000;
  outbox.push(bulk(1, 1000));
  outbox.push(bulk(2, 20'000));
  EXPECT_EQ(dropped.bulk, 1u);
  EXPECT_EQ(number_of(outbox.pop()), 1u);
}

TEST_F(OutboxTest, LetsGoOfPayloadsAsTheyLeave) {
  auto bytes = std::make_shared<std::string>("payload");
  const std::shared_ptr<const char[]> slab(bytes, bytes->data());
  wire::Multicast message;
  message.body = Buffer(slab, 0, bytes->size());
  outbox.push(message);
  outbox.push(bulk(2));
  message = {};
  EXPECT_EQ(slab.use_count(), 3);
  outbox.pop();
  EXPECT_EQ(slab.use_count(), 2);
}

TEST_F(OutboxTest, KeepsOrderThroughLongUse) {
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  for (int round = 0; round < 2000; ++round) {
    for (int i = 0; i < 5; ++i) outbox.push(bulk(pushed++));
    for (int i = 0; i < 4; ++i) ASSERT_EQ(number_of(outbox.pop()), popped++);
  }
  while (popped < pushed) ASSERT_EQ(number_of(outbox.pop()), popped++);
  EXPECT_EQ(dropped.bulk, 0u);
}

TEST_F(OutboxTest, CountsWhatIsDroppedOnPurposeWhereItIsTold) {
  ClassCounts gone;
  outbox.push(control(1));
  outbox.push(bulk(1));
  outbox.drop_bulk(gone);
  EXPECT_EQ(gone.bulk, 1u);
  EXPECT_EQ(outbox.messages(), 1u);
  outbox.drop_all(gone);
  EXPECT_EQ(gone.control, 1u);
  EXPECT_EQ(dropped.control + dropped.bulk, 0u);
}

}  // namespace
}  // namespace canopy::net
