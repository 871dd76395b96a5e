#include "node/gateway_options.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <canopy/options.hpp>

#include "base/option_value.hpp"
#include "node/bridge_tokens.hpp"
#include "node/gateway_settings.hpp"

namespace canopy::node {

queue::Limits to_limits(const GatewayOptions& options) {
  const QueueLimits& given = options.limits;
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  const auto millis = [](std::chrono::seconds span) {
    return std::chrono::milliseconds(span).count();
  };
  queue::Limits limits;
  const auto set_max = [](queue::Range& range, std::int64_t max) {
    range.max = max;
    range.min = std::min(range.min, max);
    range.usual = std::min(range.usual, max);
  };
  set_max(limits.maximum_message_size, number(given.message_bytes_max));
  limits.batch_bytes_max = given.batch_bytes_max;
  limits.batch_entries_max = number(given.batch_entries_max);
  set_max(limits.visibility_timeout_s, given.visibility_timeout_max.count());
  set_max(limits.delay_s, given.delay_max.count());
  set_max(limits.retention_s, given.retention_max.count());
  limits.retention_s.min = given.retention_min.count();
  limits.retention_s.usual = std::max(limits.retention_s.usual, limits.retention_s.min);
  set_max(limits.wait_s, given.wait_max.count());
  limits.in_flight_max = given.in_flight_max;
  limits.in_flight_fifo_max = given.in_flight_fifo_max;
  limits.message_attributes_max = given.attributes_max;
  limits.tags_max = given.tags_max;
  limits.deduplication_ms = millis(given.deduplication);
  limits.purge_interval_ms = millis(given.purge_interval);
  limits.deleted_recently_ms = millis(given.deleted_recently);
  limits.waiters_max = options.receives_waiting_max;
  return limits;
}

gateway::HttpOptions to_http_options(const GatewayOptions& options) {
  gateway::HttpOptions http;
  http.listen = parse_endpoint(options.listen).value();
  // The storage loop and its writer need cores, too.
  const unsigned usual = std::clamp(std::thread::hardware_concurrency() / 2, 1U, 4U);
  http.threads = options.threads == 0 ? usual : options.threads;
  http.limits.body_bytes_max = options.request_bytes_max;
  http.connections_max = options.connections_max;
  http.arriving_bytes_max = options.arriving_bytes_max;
  http.certificate_file = options.certificate_file;
  http.key_file = options.key_file;
  return http;
}

gateway::FrontOptions to_front_options(const GatewayOptions& options) {
  gateway::FrontOptions front;
  front.access.allow_anonymous = options.allow_anonymous;
  front.access.default_account = options.default_account;
  front.access.default_region = options.default_region;
  front.batch_entries_max = options.limits.batch_entries_max;
  return front;
}

gateway::Credentials read_credentials(const GatewayOptions& options) {
  if (options.credentials_file.empty())
    return gateway::Credentials::from_environment(options.default_account);
  return gateway::Credentials::load(options.credentials_file, options.default_account);
}

std::string problem_with(const GatewayOptions& options) {
  GatewaySettings settings;
  OptionTable table("canopyd");
  declare_gateway(table, settings);
  table.heading("limit", "Limits");
  declare_queue_limits(table, settings);
  settings.listen = parse_endpoint(options.listen);
  settings.values = options;
  if (!settings.listen)
    return fmt::format("the gateway cannot listen on '{}': give HOST:PORT, such as 127.0.0.1:9324",
                       options.listen);
  return fmt::format("{}", fmt::join(table.problems(), "; "));
}

std::string problem_with_files(const GatewayOptions& options, const std::string& cluster) {
  try {
    read_credentials(options);
    read_bridge_tokens(options.bridge_token_files, cluster);
    gateway::check_tls(to_http_options(options));
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace canopy::node
