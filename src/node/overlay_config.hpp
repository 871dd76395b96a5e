// The constants of the protocol layers that a node's options amount to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <canopy/options.hpp>

#include "scribe/overlay_peer.hpp"

namespace canopy::node {

scribe::OverlayConfig overlay_config(const NodeOptions& options);

// What the user calls the times that leases depend on.
struct LeaseNames {
  std::string_view lease;
  std::string_view heartbeat;
  std::string_view probe_timeout;
};

// What is wrong with them together, if anything.
std::optional<std::string> lease_problem(const pastry::Config& ring, const LeaseNames& names);

// Nothing if the options can be used together; else what is wrong and what to
// do. For options that did not come through the option table.
std::string problem_with(const NodeOptions& options);

}  // namespace canopy::node
