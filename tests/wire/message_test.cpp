#include "wire/message.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "sample_messages.hpp"
#include "wire/codec.hpp"
#include "wire/kinds.hpp"

namespace canopy::wire {
namespace {

template <class T>
Message routed(T body) {
  return Routed{.body = std::make_shared<const RoutedBody>(std::move(body))};
}

TEST(Message, PastryHandlesItsOwnAndRoutedOnesScribeTheRest) {
  EXPECT_TRUE(for_pastry(Heartbeat{}));
  EXPECT_TRUE(for_pastry(RouteTraceReply{}));
  EXPECT_TRUE(for_pastry(routed(GroupJoin{})));
  EXPECT_TRUE(for_pastry(routed(Publish{})));
  EXPECT_FALSE(for_pastry(Publish{}));
  EXPECT_FALSE(for_pastry(Multicast{}));
  EXPECT_FALSE(for_pastry(TreeReply{}));
}

TEST(Message, UsersMessagesAreBulkAllElseIsControl) {
  for (const Message& bulk : {Message(Multicast{}), Message(Publish{}), Message(Anycast{}),
                              routed(Publish{}), routed(Anycast{})}) {
    EXPECT_EQ(traffic_class(bulk), TrafficClass::bulk) << type_name(bulk);
  }
  for (const Message& control :
       {Message(Heartbeat{}), Message(HopAck{}), Message(JoinAck{}), Message(PublishAck{}),
        Message(RootStates{}), routed(GroupJoin{}), routed(JoinRequest{}), routed(OpaqueBody{})}) {
    EXPECT_EQ(traffic_class(control), TrafficClass::control) << type_name(control);
  }
}

TEST(Message, ARoutedOneHasTheNameOfItsBody) {
  EXPECT_EQ(type_name(LeafProbe{}), "LeafProbe");
  EXPECT_EQ(type_name(routed(GroupJoin{})), "GroupJoin");
  EXPECT_EQ(type_name(routed(OpaqueBody{})), "OpaqueBody");
}

// Estimates bound queues and count traffic: they have to be near what leaves.
TEST(Message, SizeEstimatesAreNearTheEncodedSize) {
  for (std::size_t type = 0; type < std::variant_size_v<Message::variant>; ++type) {
    Random random(type);
    PeerTable peers;
    SendDictionary groups;
    testing::Sampler sampler(random, peers);
    std::size_t estimated = 0;
    std::size_t encoded = 0;
    std::string_view name;
    for (unsigned round = 0; round < 200; ++round) {
      const Message message = sampler.message(type);
      name = type_name(message);
      ASSERT_TRUE(encode(message, peers, groups));  // from now on the group is a number
      const auto frame = encode(message, peers, groups);
      ASSERT_TRUE(frame);
      estimated += size_estimate(message);
      encoded += frame->size();
    }
    const double ratio = static_cast<double>(estimated) / static_cast<double>(encoded);
    EXPECT_GT(ratio, 0.6) << name;
    EXPECT_LT(ratio, 1.5) << name;
  }
}

TEST(Message, SizeEstimatesCountBodies) {
  const Message empty = Multicast{};
  const Message full = Multicast{.body = Buffer::copy_of(std::string(1000, 'b'))};
  EXPECT_EQ(size_estimate(full), size_estimate(empty) + 1000);
}

}  // namespace
}  // namespace canopy::wire
