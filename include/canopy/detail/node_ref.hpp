// A weak reference to a running node, by which its operations start: they stay
// safe to start when the Node is gone, and fail then. Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <canopy/access.hpp>
#include <canopy/detail/initiate.hpp>
#include <canopy/inspect.hpp>
#include <canopy/publish.hpp>
#include <canopy/request.hpp>
#include <canopy/subscription.hpp>

namespace canopy::detail {

class NodeCore;

class NodeRef {
 public:
  NodeRef(std::weak_ptr<NodeCore> core, boost::asio::any_io_executor executor) noexcept;

  void start(Completion<> done) const;
  void stop(Completion<> done) const;
  void wait(Completion<> done) const;
  void create(GroupName group, GroupMode mode, Completion<> done) const;
  void create_with(GroupName group, CreateOptions options, Completion<CreateResult> done) const;
  void access(GroupName group, Completion<GroupDefinition> done) const;
  void set_access(GroupName group, std::uint64_t version, AccessList access, std::string secret,
                  Completion<GroupDefinition> done) const;
  void delete_group(GroupName group, std::string secret, Completion<> done) const;
  void join(GroupName group, JoinOptions options, Completion<Subscription> done) const;
  void publish(GroupName group, Payload payload, PublishOptions options,
               Completion<PublishResult> done) const;
  void anycast(GroupName group, Payload payload, AnycastOptions options,
               Completion<AnycastResult> done) const;
  void request(GroupName group, Payload payload, RequestOptions options,
               Completion<RequestResult> done) const;
  void reply(std::shared_ptr<OpenRequest> request, Payload payload, ReplyOptions options,
             Completion<> done) const;
  void status(Completion<NodeStatus> done) const;
  void ring(Completion<Ring> done) const;
  void route(Key key, Completion<Route> done) const;
  void tree(GroupName group, std::string secret, Completion<Tree> done) const;
  void member_count(GroupName group, std::string secret, Completion<MemberCount> done) const;
  void groups(Completion<std::vector<GroupInfo>> done) const;

 private:
  std::weak_ptr<NodeCore> core_;
  boost::asio::any_io_executor executor_;  // completes operations of a node that is gone
};

}  // namespace canopy::detail
