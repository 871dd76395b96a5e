#include "node/gateway_core.hpp"

#include <future>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/option_value.hpp"
#include "gateway/http_server.hpp"
#include "gateway/queue_url.hpp"
#include "net/log.hpp"
#include "node/entropy.hpp"
#include "node/gateway_options.hpp"
#include "node/node_core.hpp"
#include "node/signal_guard.hpp"

namespace canopy::detail {

namespace {

// Bits of an incarnation that QueueHost needs for itself.
constexpr unsigned incarnation_shift = 16;

queue::SecretKey fresh_key() {
  queue::SecretKey key{};
  for (char& byte : key) byte = static_cast<char>(node::system_entropy());
  return key;
}

node::QueueServiceOptions service_options(const NodeCore& node, const GatewayOptions& options) {
  node::QueueServiceOptions service;
  service.directory = node.data_directory();
  // Queues are this peer's alone, whatever cluster it is in.
  service.owner = {{}, node.identity().store};
  service.memory_bytes = options.storage_memory_bytes;
  service.stored_bytes_max = options.queues_in_memory_bytes_max;
  service.request_bytes_max = options.waiting_bytes_max;
  service.host.create_on_first_use = options.create_on_first_use;
  queue::MachineConfig& machine = service.host.machine;
  machine.limits = node::to_limits(options);
  machine.origin = {node.identity().id.high64(), node.identity().incarnation << incarnation_shift};
  machine.cell = machine.origin.peer;
  machine.fresh_key = fresh_key();
  machine.seed = node::system_entropy();
  return service;
}

// Waits for the outcome of an action at start-up.
class Answer final : public gateway::Call {
 public:
  bool cancelled() const noexcept override { return false; }
  void done(queue::Outcome outcome) override { outcome_.set_value(std::move(outcome)); }
  queue::Outcome get() { return outcome_.get_future().get(); }

 private:
  std::promise<queue::Outcome> outcome_;
};

queue::Outcome ask(gateway::Service& service, const std::string& account, queue::Action action) {
  const auto answer = std::make_shared<Answer>();
  service.call({account, account}, std::move(action), answer);
  return answer->get();
}

}  // namespace

GatewayCore::GatewayCore(std::shared_ptr<NodeCore> node, boost::asio::any_io_executor executor,
                         GatewayOptions options)
    : node_(std::move(node)), options_(std::move(options)) {
  const node::SignalGuard guard;
  if (const std::string problem = node::problem_with(options_); !problem.empty())
    throw StartError(problem);
  try {
    gateway::Credentials credentials = node::read_credentials(options_);
    if (credentials.empty() && !options_.allow_anonymous)
      log::warn(
          "the gateway knows no access key, so it will refuse every request: give it "
          "credentials, or allow anonymous requests");
    queues_ = std::make_unique<node::QueueService>(service_options(*node_, options_));
    declare_queues();
    server_ = std::make_unique<gateway::HttpServer>(node::to_http_options(options_),
                                                    node::to_front_options(options_), *queues_);
    server_->set_credentials(std::move(credentials));
    build_bridges(std::move(executor));
  } catch (const StartError&) {
    throw;
  } catch (const std::exception& error) {
    throw StartError(error.what());
  }
}

GatewayCore::~GatewayCore() {
  bridges_->stop();
  server_.reset();
  const auto counted = queues_->counters();
  log::info("queues: {} commands were applied in {} batches; {} requests were refused",
            counted.host.commands, counted.host.batches, counted.host.refused + counted.refused);
}

void GatewayCore::build_bridges(boost::asio::any_io_executor executor) {
  const std::string& account = options_.default_account;
  bridges_ = std::make_shared<Bridges>(NodeRef(node_, executor), executor, *queues_,
                                       gateway::Place{options_.default_region, account, url()},
                                       node_->identity().cluster);
  bridges_->set_tokens(
      node::read_bridge_tokens(options_.bridge_token_files, node_->identity().cluster));
  const auto known = ask(*queues_, account, queue::ListBridges{});
  if (known.has_error()) throw StartError("the bridges cannot be read: " + known.error().message);
  bridges_->resume(std::get<queue::ListBridgesResult>(*known).bridges);
}

void GatewayCore::declare_queues() {
  const std::string& account = options_.default_account;
  for (const GatewayQueue& declared : options_.queues) {
    const queue::QueueName name{options_.default_region, account, declared.name};
    queue::Attributes attributes = declared.attributes;
    if (declared.name.ends_with(".fifo")) attributes.emplace("FifoQueue", "true");
    auto outcome = ask(*queues_, account, queue::CreateQueue{name, attributes, {}});
    if (outcome.has_error() && outcome.error().code == queue::ErrorCode::queue_name_exists) {
      attributes.erase("FifoQueue");
      outcome = ask(*queues_, account, queue::SetQueueAttributes{name, attributes});
    }
    if (outcome.has_error())
      throw StartError(
          fmt::format("the queue '{}' cannot be made: {}", declared.name, outcome.error().message));
  }
}

std::string GatewayCore::url() const {
  return fmt::format("{}://{}", options_.certificate_file.empty() ? "http" : "https",
                     format_endpoint(server_->endpoint()));
}

gateway::Shared& GatewayCore::shared() noexcept { return server_->shared(); }

bool GatewayCore::durable() const { return !node_->data_directory().empty(); }

void GatewayCore::reload_credentials() {
  try {
    node::BridgeTokens tokens =
        node::read_bridge_tokens(options_.bridge_token_files, node_->identity().cluster);
    server_->set_credentials(node::read_credentials(options_));
    bridges_->set_tokens(std::move(tokens));
  } catch (const std::exception& error) {
    throw StartError(error.what());
  }
}

bool GatewayCore::drain(std::chrono::milliseconds time_max) {
  bridges_->stop();
  return server_->drain(time_max);
}

}  // namespace canopy::detail

namespace canopy {

Gateway::Gateway(Node& node, GatewayOptions options)
    : core_(std::make_unique<detail::GatewayCore>(node.core_, node.get_executor(),
                                                  std::move(options))) {}

Gateway::~Gateway() = default;

std::string Gateway::url() const { return core_->url(); }
bool Gateway::durable() const { return core_->durable(); }
std::string Gateway::problem() const { return core_->problem(); }
void Gateway::reload_credentials() { core_->reload_credentials(); }
bool Gateway::drain(std::chrono::milliseconds time_max) { return core_->drain(time_max); }

BridgeCounts Gateway::bridge_counts() const { return core_->bridges()->counted(); }
std::vector<Counter> Gateway::counters() const { return core_->counters(); }
std::shared_ptr<detail::Bridges> Gateway::bridges() const { return core_->bridges(); }

void Gateway::start_add(const std::shared_ptr<detail::Bridges>& bridges, GroupName group,
                        const std::string& queue, detail::Completion<BridgeInfo> done) {
  bridges->add(std::move(group), queue, std::move(done));
}

void Gateway::start_remove(const std::shared_ptr<detail::Bridges>& bridges, GroupName group,
                           const std::string& queue, detail::Completion<> done) {
  bridges->remove(std::move(group), queue, std::move(done));
}

void Gateway::start_list(const std::shared_ptr<detail::Bridges>& bridges,
                         detail::Completion<std::vector<BridgeInfo>> done) {
  bridges->list(std::move(done));
}

}  // namespace canopy
