#include "pastry/config.hpp"

namespace canopy::pastry {

Config Config::wan() {
  Config config;
  config.heartbeat_interval = 17s;
  config.lease = 23s;
  config.probe_timeout = 1s;
  config.probe_retries = 5;
  config.hop_ack_timeout_min = 100ms;
  config.hop_ack_timeout_max = 3s;
  config.hop_patience = 60s;
  config.join_retry_interval = 10s;
  config.join_help_timeout = 15s;
  config.near_enough = 0s;
  return config;
}

}  // namespace canopy::pastry
