// Under which addresses a node tells others to reach it. Plain functions.
#pragma once

#include <string>
#include <vector>

#include "base/peer.hpp"

namespace canopy::node {

// Those given, or else the address listened on. A wildcard is no address to
// dial: it stands for this machine's address on the way to the first seed that
// is given as a number, or else to its default route, or else for the loopback.
// Sends nothing and resolves no names.
std::vector<Endpoint> advertised(const std::vector<std::string>& given, const Endpoint& listening,
                                 const std::vector<std::string>& seeds);

}  // namespace canopy::node
