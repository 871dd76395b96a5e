// The constants of the protocol layers that a node's options amount to.
#pragma once

#include <canopy/options.hpp>

#include "scribe/overlay_peer.hpp"

namespace canopy::node {

scribe::OverlayConfig overlay_config(const NodeOptions& options);

// Nothing if the options can be used together; else what is wrong and what to
// do. For options that did not come through the option table.
std::string problem_with(const NodeOptions& options);

}  // namespace canopy::node
