// The bridges of a gateway: subscribes to their groups, and hands what comes to
// their queues. Which bridges there are, what they have sent and what they count
// is the queues' to know (queue/bridging.hpp); here is only what a process does
// about it, which begins anew with each.
//
//   join -> receive a batch -> send it, in parts if it is large -> receive ...
//
// One part of a bridge is on its way at a time; meanwhile its subscription keeps
// what comes, up to its bounds, and counts what it drops. A part that finds the
// queue unavailable is sent again until it is taken: what a command has sent
// already is left out. A group that cannot be joined is tried again, too.
//
// Thread-safe. Nothing blocks. Handlers run on the node's executor, which has to
// outlive this, and count as its work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <canopy/bridge.hpp>
#include <canopy/detail/node_ref.hpp>

#include "gateway/queue_url.hpp"
#include "gateway/service.hpp"
#include "net/log_limit.hpp"
#include "node/bridge_tokens.hpp"
#include "node/operation.hpp"
#include "queue/actions.hpp"

namespace canopy::detail {

class Bridges : public std::enable_shared_from_this<Bridges> {
 public:
  // `place` says whose queues are meant by a name, and what their URLs begin with;
  // `cluster` the creator of groups that name none.
  Bridges(NodeRef node, boost::asio::any_io_executor executor, gateway::Service& service,
          gateway::Place place, std::string cluster);
  ~Bridges();

  // What they show from the next join on.
  void set_tokens(node::BridgeTokens tokens);
  // Those that there were before this process.
  void resume(const std::vector<queue::Bridge>& known);

  void add(GroupName group, const std::string& queue, Completion<BridgeInfo> done);
  void remove(GroupName group, const std::string& queue, Completion<> done);
  void list(Completion<std::vector<BridgeInfo>> done);

  // By all, since construction.
  BridgeCounts counted() const;

  // The queues are not called from now on, and what waits for them is given up.
  void stop();

 private:
  struct Bridge;
  using BridgePtr = std::shared_ptr<Bridge>;
  using Add = node::Operation<BridgeInfo>;

  // --- With the lock. ---
  template <class Use>
  auto bound(const BridgePtr& bridge, Use use);
  template <class Then>
  void ask(queue::Action action, Then then);
  std::optional<queue::BridgeName> name_of(const GroupName& group, const std::string& queue) const;

  BridgePtr ensure(const queue::Bridge& known);
  void reconcile(const std::vector<queue::Bridge>& known);
  void end(const queue::BridgeName& name);
  BridgeInfo info(const Bridge& bridge) const;

  void join(const BridgePtr& bridge);
  void joined(const BridgePtr& bridge, boost::system::error_code error, Subscription subscription);
  void receive(const BridgePtr& bridge);
  void received(const BridgePtr& bridge, boost::system::error_code error,
                std::vector<Event> events);
  void send(const BridgePtr& bridge);
  void sent(const BridgePtr& bridge, const queue::Outcome& outcome);
  void go_on(const BridgePtr& bridge);
  void later(const BridgePtr& bridge, std::chrono::milliseconds pause,
             void (Bridges::*step)(const BridgePtr&));
  void lose(Bridge& bridge, std::uint64_t count);

  const NodeRef node_;
  const boost::asio::any_io_executor executor_;
  const boost::asio::any_io_executor in_order_;  // of the queues' outcomes
  const gateway::Place place_;
  const std::string cluster_;

  mutable std::mutex mutex_;
  gateway::Service* service_;  // none: stopped
  node::BridgeTokens tokens_;
  std::map<queue::BridgeName, BridgePtr> bridges_;
  BridgeCounts counted_;
  net::LogLimit log_;
};

}  // namespace canopy::detail
