// What a Gateway owns: the queue service on its thread, the HTTP server in front
// of it, and the bridges from groups into it.
//
// Thread-safe but for constructor and destructor.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <canopy/gateway.hpp>

#include "node/bridges.hpp"
#include "node/queue_service.hpp"

namespace canopy::gateway {
class HttpServer;
struct Shared;
}  // namespace canopy::gateway

namespace canopy::detail {

class NodeCore;

class GatewayCore {
 public:
  // Throws StartError.
  GatewayCore(std::shared_ptr<NodeCore> node, boost::asio::any_io_executor executor,
              GatewayOptions options);
  ~GatewayCore();

  std::string url() const;
  bool durable() const;
  std::string problem() const { return queues_->problem(); }
  void reload_credentials();
  bool drain(std::chrono::milliseconds time_max);
  std::vector<Counter> counters() const;

  // For what asks the queues from within the process.
  gateway::Shared& shared() noexcept;
  const std::shared_ptr<Bridges>& bridges() const noexcept { return bridges_; }

 private:
  void declare_queues();
  void build_bridges(boost::asio::any_io_executor executor);

  const std::shared_ptr<NodeCore> node_;  // holds the data directory's lock
  const GatewayOptions options_;
  std::unique_ptr<node::QueueService> queues_;
  std::unique_ptr<gateway::HttpServer> server_;
  std::shared_ptr<Bridges> bridges_;  // stops first
};

}  // namespace canopy::detail
