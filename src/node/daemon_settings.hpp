// The settings of the daemon, and their options: flags, environment, file and
// help come from this one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <canopy/options.hpp>

#include "base/option_table.hpp"
#include "base/peer.hpp"
#include "node/gateway_settings.hpp"
#include "scribe/overlay_peer.hpp"

namespace canopy::node {

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error };

struct DaemonSettings {
  std::string name;  // empty: the machine's
  Endpoint listen{"127.0.0.1", 7400};
  std::vector<Endpoint> advertise;
  std::vector<Endpoint> join;
  bool found = false;
  std::string cluster = "canopy";
  std::string data;     // empty: nothing is kept
  std::string control;  // empty: see control_path.hpp
  std::string config;
  bool check_config = false;
  std::string check_store;  // empty: run
  bool json = false;
  GatewaySettings gateway;
  Profile profile = Profile::lan;
  std::string zone;
  LogLevel log_level = LogLevel::info;
  unsigned digit_bits = 4;
  unsigned leaf_set_size = 16;
  scribe::OverlayConfig overlay{pastry::Config::lan(), scribe::Config::lan()};
  std::size_t payload_max = std::size_t{1} << 20;
  std::size_t mailbox_max = std::size_t{64} << 20;
  Duration departure_time_max = std::chrono::seconds(5);
  std::vector<std::string> group_creators;  // empty: anyone
  std::size_t groups_joined_max = 100'000;
};

// Declares every option of the daemon. The settings must outlive the table.
void declare_options(OptionTable& table, DaemonSettings& settings);

// The machine's host name where no name is given.
std::string node_name(const DaemonSettings& settings);

// The socket given, or where the canopy command looks without being told.
std::string control_path(const DaemonSettings& settings);

NodeOptions to_node_options(const DaemonSettings& settings);

}  // namespace canopy::node
