#include "node/daemon_settings.hpp"

#include <sys/un.h>

#include <fmt/format.h>
#include <unistd.h>

#include "base/option_value.hpp"
#include "base/text.hpp"
#include "node/access_text.hpp"
#include "node/control_path.hpp"
#include "node/overlay_config.hpp"

namespace canopy::node {
namespace {

using namespace std::chrono_literals;

std::optional<std::string> check_name(const std::string& name) {
  if (is_valid_name(name)) return std::nullopt;
  return "give 1 to 255 bytes of printable text";
}

std::optional<std::string> check_directory(const std::string& path) {
  if (!path.empty()) return std::nullopt;
  return "give a directory, or leave the option out to keep nothing";
}

std::optional<std::string> check_peer(const Endpoint& endpoint) {
  if (endpoint.port != 0) return std::nullopt;
  return "give the port that the peer listens on";
}

std::optional<std::string> check_socket_path(const std::string& path) {
  if (!path.empty() && path.size() < sizeof(sockaddr_un::sun_path)) return std::nullopt;
  return fmt::format("a socket's path has 1 to {} bytes", sizeof(sockaddr_un::sun_path) - 1);
}

void declare_place(OptionTable& table, DaemonSettings& settings) {
  table
      .add("name", settings.name,
           "the peer's name, unique in its cluster; the machine's host name if not given")
      .check(check_name);
  table.add("listen", settings.listen, "address for other peers; port 0 lets the system choose");
  table
      .add("advertise", settings.advertise,
           "address under which other peers reach this one, where it differs from --listen")
      .check(check_peer);
  table.add("join", settings.join, "a peer of the cluster to join by; any that answers will do")
      .check(check_peer);
  table.add("found", settings.found, "found a new cluster if no peer given by --join answers");
  table.add("cluster", settings.cluster, "the cluster's name").check(check_name);
  table
      .add("data", settings.data,
           "directory that keeps the peer's identity, some peers, created groups and its queues "
           "across restarts")
      .value_name("DIR")
      .check(check_directory);
  table
      .add("control", settings.control,
           "socket for the canopy command; " + default_control_path() + " if not given")
      .value_name("SOCKET")
      .check(check_socket_path);
  table.add("config", settings.config, "file with options in TOML")
      .value_name("FILE")
      .not_in_file();
  table
      .add("check-config", settings.check_config,
           "check the options, print what is in force, and exit")
      .flag_only();
  table
      .add(
          "check-store", settings.check_store,
          "verify the queues and groups in this data directory, and exit: with 0 if all is well, 1 "
          "if not, 2 if it cannot be checked")
      .value_name("DIR")
      .check(check_directory)
      .flag_only();
  table.add("json", settings.json, "with --check-store: print one JSON object").flag_only();
  table.add("profile", settings.profile, "network that timeouts are meant for")
      .choice("lan", Profile::lan)
      .choice("wan", Profile::wan);
  table.profiles("profile");
  table.add(
      "zone", settings.zone,
      "label of the site that this peer is in: routes prefer peers with the same one, then those "
      "that answer sooner");
  table.add("log-level", settings.log_level, "how much goes to standard error")
      .choice("trace", LogLevel::trace)
      .choice("debug", LogLevel::debug)
      .choice("info", LogLevel::info)
      .choice("warning", LogLevel::warning)
      .choice("error", LogLevel::error);
}

std::optional<std::string> check_creators(const std::vector<std::string>& creators) {
  Grant grant;
  for (const std::string& creator : creators) {
    if (const std::string problem = add_to(grant, creator); !problem.empty())
      return "group-creators: " + problem;
  }
  return std::nullopt;
}

void declare_access(OptionTable& table, DaemonSettings& settings) {
  table
      .add("group-creators", settings.group_creators,
           "who may create groups that this peer is the root of: peer:NAME, id:HEX, key:HEX, "
           "token:FILE or anyone, which is the default; joining founds none where not anyone may")
      .value_name("WHO");
  table.check([&settings] { return check_creators(settings.group_creators); });
}

void declare_cluster(OptionTable& table, DaemonSettings& settings) {
  table.add("digit-bits", settings.digit_bits, "bits of a digit of ids (b); one for the cluster")
      .check([](unsigned b) -> std::optional<std::string> {
        if (b >= 1 && b <= 8 && Id::bits % b == 0) return std::nullopt;
        return "give 1, 2, 4, 5 or 8";
      });
  table.add("leaf-set", settings.leaf_set_size, "size of leaf sets (|L|); one for the cluster")
      .range(2, 128)
      .check([](unsigned size) -> std::optional<std::string> {
        if (size % 2 == 0) return std::nullopt;
        return "give an even number";
      });
}

void declare_tuning(OptionTable& table, DaemonSettings& settings) {
  const pastry::Config wan_pastry = pastry::Config::wan();
  const scribe::Config wan_scribe = scribe::Config::wan();
  auto& pastry = settings.overlay.pastry;
  auto& scribe = settings.overlay.scribe;
  table.heading("pastry", "Ring");
  table.add("pastry.heartbeat", pastry.heartbeat_interval, "between signs of life to a neighbour")
      .range(10ms, 1h)
      .in_profile("wan", wan_pastry.heartbeat_interval);
  table
      .add("pastry.lease", pastry.lease,
           "that a neighbour grants: so long it leaves a silent peer's keys alone")
      .range(10ms, 1h)
      .in_profile("wan", wan_pastry.lease);
  table.add("pastry.probe-timeout", pastry.probe_timeout, "for the answer to a probe")
      .range(10ms, 1h)
      .in_profile("wan", wan_pastry.probe_timeout);
  table.add("pastry.probe-retries", pastry.probe_retries, "before a silent peer is held for dead")
      .range(0, 10)
      .in_profile("wan", wan_pastry.probe_retries);
  table
      .add("pastry.probes-per-second", pastry.probes_per_second,
           "that this peer sends, and half as many more at once after a pause; others wait, the "
           "least important for longest")
      .range(1, 100'000);
  table
      .add("pastry.entry-probe-min", pastry.entry_probe_min,
           "between probes of a silent peer of the routing table, at least: how long it is follows "
           "from how often peers fail")
      .range(1s, 24h);
  table.add("pastry.entry-probe-max", pastry.entry_probe_max, "the same, at most").range(1s, 24h);
  table.check([&pastry]() -> std::optional<std::string> {
    if (pastry.entry_probe_min <= pastry.entry_probe_max) return std::nullopt;
    return "pastry.entry-probe-min must be at most pastry.entry-probe-max";
  });
  table.check([&pastry] {
    return lease_problem(pastry, {"pastry.lease", "pastry.heartbeat", "pastry.probe-timeout"});
  });
  table.heading("scribe", "Trees");
  table.add("scribe.heartbeat", scribe.heartbeat_interval, "between a parent's signs of life")
      .range(10ms, 1h)
      .in_profile("wan", wan_scribe.heartbeat_interval);
  table
      .add("scribe.heartbeats-missed", scribe.heartbeats_missed,
           "before a child looks for another parent")
      .range(1, 100)
      .in_profile("wan", wan_scribe.heartbeats_missed);
  table
      .add("scribe.child-refresh", scribe.child_refresh_interval, "between a child's signs of life")
      .range(100ms, 24h)
      .in_profile("wan", wan_scribe.child_refresh_interval);
  table.add("scribe.child-expiry", scribe.child_expiry, "before a silent child is dropped")
      .range(200ms, 48h)
      .in_profile("wan", wan_scribe.child_expiry);
  table
      .add("scribe.request-timeout", scribe.request_timeout,
           "for the answer to a create, publish or anycast")
      .range(10ms, 1h)
      .in_profile("wan", wan_scribe.request_timeout);
  table
      .add("scribe.root-replicas", scribe.root_replicas,
           "peers that know of a group, its root included")
      .range(1, 32)
      .in_profile("wan", wan_scribe.root_replicas);
  table
      .add("scribe.children", scribe.children_entries_max,
           "children over all groups; a peer with more moves some below their siblings; 0 for any "
           "number")
      .range(0, 1'000'000);
  table.add("scribe.path-collapse", scribe.path_collapse,
            "a peer that is no member of a group and has one child leaves its tree; on, unless "
            "said =false");
  table.check([&scribe]() -> std::optional<std::string> {
    if (scribe.child_expiry > scribe.child_refresh_interval) return std::nullopt;
    return "scribe.child-expiry must be longer than scribe.child-refresh: raise the one or lower "
           "the other";
  });
}

void declare_limits(OptionTable& table, DaemonSettings& settings) {
  table.heading("limit", "Limits");
  table.add("limit.payload", settings.payload_max, "largest payload of a message")
      .bytes()
      .range(1, std::size_t{1} << 20);
  table.add("limit.mailbox", settings.mailbox_max, "messages on their way to be published")
      .bytes()
      .range(std::size_t{1} << 20, std::size_t{1} << 32);
  auto& scribe = settings.overlay.scribe;
  table.add("limit.groups", settings.groups_joined_max, "groups that clients of this peer join")
      .range(1, 10'000'000);
  table
      .add("limit.child-entries", scribe.child_entries_max,
           "groups in which one other peer gets messages from this one; 0 for any number")
      .range(0, 100'000'000);
  table
      .add(
          "limit.publish-messages", scribe.publish_messages_max,
          "messages a second, requests included, that one peer publishes to groups of this root; 0 "
          "for any number")
      .range(0, 100'000'000);
  table.add("limit.publish-bytes", scribe.publish_bytes_max, "the same in bytes; 0 for any number")
      .bytes()
      .range(0, std::uint64_t{1} << 40);
  table
      .add("limit.history", scribe.history_bytes_max,
           "messages of an ordered group, of the last 30 s, kept for who missed them")
      .bytes()
      .range(std::size_t{64} << 10, std::size_t{1} << 40);
  table.add("limit.histories", scribe.history_node_bytes_max, "the same of all groups together")
      .bytes()
      .range(std::size_t{64} << 10, std::size_t{1} << 40);
  table.check([&scribe]() -> std::optional<std::string> {
    if (scribe.history_node_bytes_max >= scribe.history_bytes_max) return std::nullopt;
    return "limit.histories must not be less than limit.history: raise the one or lower the other";
  });
  table
      .add("limit.last-messages", scribe.last_bytes_max,
           "latest messages of all groups, kept for who joins; 0 for none")
      .bytes()
      .range(0, std::size_t{1} << 40);
  table.add("limit.departure", settings.departure_time_max, "for handing over before the end")
      .range(100ms, 10min);
}

}  // namespace

void declare_options(OptionTable& table, DaemonSettings& settings) {
  declare_place(table, settings);
  declare_gateway(table, settings.gateway);
  declare_access(table, settings);
  declare_cluster(table, settings);
  declare_tuning(table, settings);
  declare_limits(table, settings);
  declare_queue_limits(table, settings.gateway);
}

std::string node_name(const DaemonSettings& settings) {
  if (!settings.name.empty()) return settings.name;
  char host[256] = {};
  return ::gethostname(host, sizeof host - 1) == 0 ? host : "localhost";
}

std::string control_path(const DaemonSettings& settings) {
  return settings.control.empty() ? default_control_path() : settings.control;
}

NodeOptions to_node_options(const DaemonSettings& settings) {
  NodeOptions options;
  options.name = node_name(settings);
  options.listen = format_endpoint(settings.listen);
  for (const Endpoint& address : settings.advertise)
    options.advertise.push_back(format_endpoint(address));
  for (const Endpoint& address : settings.join) options.join.push_back(format_endpoint(address));
  options.found = settings.found;
  options.cluster = settings.cluster;
  options.data_directory = settings.data;
  options.profile = settings.profile;
  options.zone = settings.zone;
  options.digit_bits = settings.digit_bits;
  options.leaf_set_size = settings.leaf_set_size;
  const scribe::OverlayConfig& overlay = settings.overlay;
  options.tuning.leaf_heartbeat = overlay.pastry.heartbeat_interval;
  options.tuning.lease = overlay.pastry.lease;
  options.tuning.probe_timeout = overlay.pastry.probe_timeout;
  options.tuning.probe_retries = overlay.pastry.probe_retries;
  options.tuning.probes_per_second = overlay.pastry.probes_per_second;
  options.tuning.entry_probe_min = overlay.pastry.entry_probe_min;
  options.tuning.entry_probe_max = overlay.pastry.entry_probe_max;
  options.tuning.parent_heartbeat = overlay.scribe.heartbeat_interval;
  options.tuning.parent_heartbeats_missed = overlay.scribe.heartbeats_missed;
  options.tuning.child_refresh = overlay.scribe.child_refresh_interval;
  options.tuning.child_expiry = overlay.scribe.child_expiry;
  options.tuning.request_timeout = overlay.scribe.request_timeout;
  options.tuning.root_replicas = overlay.scribe.root_replicas;
  options.tuning.children_max = overlay.scribe.children_entries_max;
  options.tuning.path_collapse = overlay.scribe.path_collapse;
  for (const std::string& creator : settings.group_creators)
    add_to(options.group_creators, creator);
  options.groups_joined_max = settings.groups_joined_max;
  options.child_entries_max = overlay.scribe.child_entries_max;
  options.publish_messages_per_second = overlay.scribe.publish_messages_max;
  options.publish_bytes_per_second = overlay.scribe.publish_bytes_max;
  options.history_bytes_max = overlay.scribe.history_bytes_max;
  options.history_node_bytes_max = overlay.scribe.history_node_bytes_max;
  options.last_bytes_max = overlay.scribe.last_bytes_max;
  options.payload_bytes_max = settings.payload_max;
  options.mailbox_bytes_max = settings.mailbox_max;
  options.departure_time_max =
      std::chrono::duration_cast<std::chrono::milliseconds>(settings.departure_time_max);
  return options;
}

}  // namespace canopy::node
