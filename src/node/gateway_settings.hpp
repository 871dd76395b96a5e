// The daemon's options for its gateway, part of its one table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <canopy/gateway.hpp>

#include "base/option_table.hpp"
#include "base/peer.hpp"

namespace canopy::node {

struct GatewaySettings {
  std::optional<Endpoint> listen;               // none: no gateway
  std::vector<std::string> queues;              // "NAME ATTRIBUTE=VALUE ..."
  std::vector<std::string> bridge_token_files;  // "FILE" or "GROUP=FILE"
  GatewayOptions values;                        // what is bound as it is
};

// The settings must outlive the table.
void declare_gateway(OptionTable& table, GatewaySettings& settings);
void declare_queue_limits(OptionTable& table, GatewaySettings& settings);

// A queue as the option `queue` gives it; nothing if it is not of that form.
std::optional<GatewayQueue> parse_queue(const std::string& text);

// Of settings that have `listen`.
GatewayOptions to_gateway_options(const GatewaySettings& settings);

}  // namespace canopy::node
