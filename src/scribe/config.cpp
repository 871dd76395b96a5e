#include "scribe/config.hpp"

namespace canopy::scribe {

Config Config::wan() {
  Config config;
  config.heartbeat_interval = 3s;
  config.join_retry_interval = 3s;
  config.join_retry_max = 24s;
  config.join_timeout = 60s;
  config.request_timeout = 15s;
  config.change_timeout = 30s;
  config.request_retry_interval = 3s;
  config.departure_timeout = 6s;
  config.root_search_timeout = 2s;
  config.history_age_max = 90s;
  config.refill_timeout = 30s;
  config.root_refill_timeout = 6s;
  config.tracked_timeout = 25s;
  config.reply_timeout = 30s;
  return config;
}

}  // namespace canopy::scribe
