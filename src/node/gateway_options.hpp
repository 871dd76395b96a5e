// GatewayOptions, from canopyd or an embedder: what is wrong with them, and what
// they mean to the parts of a gateway. Plain functions.
#pragma once

#include <string>

#include <canopy/gateway.hpp>

#include "gateway/credentials.hpp"
#include "gateway/front.hpp"
#include "gateway/http_server.hpp"
#include "queue/limits.hpp"

namespace canopy::node {

// In canopyd's words, which has the same ranges; empty: nothing. Does not look at
// files.
std::string problem_with(const GatewayOptions& options);
// Likewise: what is wrong with the files that they name, which it reads. `cluster`: the
// node's.
std::string problem_with_files(const GatewayOptions& options, const std::string& cluster);

// Of options that have no problem.
queue::Limits to_limits(const GatewayOptions& options);
gateway::HttpOptions to_http_options(const GatewayOptions& options);
gateway::FrontOptions to_front_options(const GatewayOptions& options);
// From the file or the environment. Throws std::runtime_error.
gateway::Credentials read_credentials(const GatewayOptions& options);

}  // namespace canopy::node
