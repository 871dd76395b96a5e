// What a gateway counts, under the names that people see.
#include "gateway/http_server.hpp"
#include "node/gateway_core.hpp"

namespace canopy::detail {
namespace {

using Counters = std::vector<Counter>;

void add_http(Counters& all, const gateway::HttpCounters& http) {
  all.push_back({"gateway.accepted", http.accepted});
  all.push_back({"gateway.accepts_refused", http.refused});
  all.push_back({"gateway.requests", http.requests});
  all.push_back({"gateway.malformed", http.malformed});
  all.push_back({"gateway.shed", http.shed});
  all.push_back({"gateway.timed_out", http.timed_out});
  all.push_back({"gateway.hung_up", http.hung_up});
}

void add_actions(Counters& all, const gateway::Statistics& statistics) {
  std::uint64_t calls = 0, failures = 0;
  for (std::size_t action = 0; action < gateway::action_names.size(); ++action) {
    calls += statistics.of(action).calls;
    failures += statistics.of(action).failures;
  }
  all.push_back({"gateway.calls", calls});
  all.push_back({"gateway.calls_failed", failures});
}

void add_queues(Counters& all, const node::QueueService::Counters& queues) {
  all.push_back({"queue.commands", queues.host.commands});
  all.push_back({"queue.commands_repeated", queues.machine.retries});
  all.push_back({"queue.batches", queues.host.batches});
  all.push_back({"queue.refused", queues.host.refused + queues.refused});
  all.push_back({"queue.receives_not_waited", queues.machine.waiters_refused});
  all.push_back({"queue.recoveries", queues.host.restarts});
}

void add_bridges(Counters& all, const BridgeCounts& bridges) {
  for_each_count([&](const char* name, auto count) {
    all.push_back({std::string("bridge.") + name, bridges.*count});
  });
}

}  // namespace

std::vector<Counter> GatewayCore::counters() const {
  Counters all;
  add_http(all, server_->counters());
  add_actions(all, server_->statistics());
  add_queues(all, queues_->counters());
  add_bridges(all, bridges_->counted());
  return all;
}

}  // namespace canopy::detail
