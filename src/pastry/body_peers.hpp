// The handles inside a routed message that waits in this node, for
// PeerTable::sweep.
#pragma once

#include <vector>

#include "wire/message.hpp"

namespace canopy::pastry {

void collect_body_peers(const wire::Routed& message, std::vector<PeerRef>& in_use);

}  // namespace canopy::pastry
