#include "node/overlay_config.hpp"

#include <fmt/format.h>

#include "base/option_value.hpp"
#include "base/text.hpp"
#include "node/access_text.hpp"

namespace canopy::node {
namespace {

template <class Target, class Value>
void set(Target& target, const std::optional<Value>& value) {
  if (value) target = *value;
}

}  // namespace

scribe::OverlayConfig overlay_config(const NodeOptions& options) {
  const bool wan = options.profile == Profile::wan;
  scribe::OverlayConfig config{wan ? pastry::Config::wan() : pastry::Config::lan(),
                               wan ? scribe::Config::wan() : scribe::Config::lan()};
  config.pastry.b = options.digit_bits;
  config.pastry.leaf_set_size = options.leaf_set_size;
  config.pastry.walk_peers_max = options.walk_peers_max;
  const Tuning& tuning = options.tuning;
  set(config.pastry.heartbeat_interval, tuning.leaf_heartbeat);
  set(config.pastry.lease, tuning.lease);
  set(config.pastry.probe_timeout, tuning.probe_timeout);
  set(config.pastry.probe_retries, tuning.probe_retries);
  set(config.pastry.probes_per_second, tuning.probes_per_second);
  set(config.pastry.entry_probe_min, tuning.entry_probe_min);
  set(config.pastry.entry_probe_max, tuning.entry_probe_max);
  set(config.scribe.heartbeat_interval, tuning.parent_heartbeat);
  set(config.scribe.heartbeats_missed, tuning.parent_heartbeats_missed);
  set(config.scribe.child_refresh_interval, tuning.child_refresh);
  set(config.scribe.child_expiry, tuning.child_expiry);
  set(config.scribe.request_timeout, tuning.request_timeout);
  set(config.scribe.root_replicas, tuning.root_replicas);
  set(config.scribe.children_entries_max, tuning.children_max);
  set(config.scribe.path_collapse, tuning.path_collapse);
  if (!options.group_creators.everybody) {
    config.scribe.creators = std::make_shared<const wire::Grant>(to_wire(options.group_creators));
  }
  config.scribe.keeps_states = !options.data_directory.empty();
  config.scribe.child_entries_max = options.child_entries_max;
  config.scribe.publish_messages_max = options.publish_messages_per_second;
  config.scribe.publish_bytes_max = options.publish_bytes_per_second;
  config.scribe.history_bytes_max = options.history_bytes_max;
  config.scribe.history_node_bytes_max = options.history_node_bytes_max;
  config.scribe.last_bytes_max = options.last_bytes_max;
  return config;
}

std::optional<std::string> lease_problem(const pastry::Config& ring, const LeaseNames& names) {
  if (ring.lease >= ring.heartbeat_interval + ring.probe_timeout) return std::nullopt;
  return fmt::format(
      "{} must be at least {} and {} together: it would run out before it is renewed", names.lease,
      names.heartbeat, names.probe_timeout);
}

std::string problem_with(const NodeOptions& options) {
  if (!is_valid_name(options.name))
    return fmt::format("the node's name '{}' cannot be used: give 1 to 255 bytes of printable text",
                       options.name);
  if (!is_valid_name(options.cluster))
    return "the cluster's name cannot be used: give 1 to 255 bytes of printable text";
  if (options.zone.size() > max_name_size || !is_printable(options.zone))
    return "the zone cannot be used: give at most 255 bytes of printable text";
  if (options.digit_bits < 1 || options.digit_bits > 8 || Id::bits % options.digit_bits != 0)
    return fmt::format("digits of {} bits cannot be used: give 1, 2, 4, 5 or 8",
                       options.digit_bits);
  if (options.leaf_set_size < 2 || options.leaf_set_size > 128 || options.leaf_set_size % 2 != 0)
    return fmt::format("a leaf set of {} peers cannot be used: give an even number from 2 to 128",
                       options.leaf_set_size);
  if (!parse_endpoint(options.listen))
    return fmt::format("cannot listen on '{}': give HOST:PORT", options.listen);
  for (const std::string& address : options.advertise)
    if (auto endpoint = parse_endpoint(address); !endpoint || endpoint->port == 0)
      return fmt::format("cannot advertise '{}': give HOST:PORT", address);
  for (const std::string& address : options.join)
    if (auto endpoint = parse_endpoint(address); !endpoint || endpoint->port == 0)
      return fmt::format("cannot join through '{}': give HOST:PORT", address);
  const pastry::Config ring = overlay_config(options).pastry;
  if (ring.probes_per_second == 0) return "tuning.probes_per_second must be at least 1";
  if (ring.entry_probe_min > ring.entry_probe_max)
    return "tuning.entry_probe_min must be at most tuning.entry_probe_max";
  constexpr LeaseNames names{"tuning.lease", "tuning.leaf_heartbeat", "tuning.probe_timeout"};
  return lease_problem(ring, names).value_or("");
}

}  // namespace canopy::node
