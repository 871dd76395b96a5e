// The tokens that bridges show to join groups which are closed to others: of which
// file, and what is in it. Plain values and functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <canopy/gateway.hpp>
#include <canopy/message.hpp>

namespace canopy::node {

struct BridgeTokens {
  std::map<GroupName, std::string> of_groups;  // which have their creator
  std::string of_others;                       // empty: nothing is shown

  const std::string& of(const GroupName& group) const;
};

// "FILE" or "GROUP=FILE", as the option `bridge-token-file` gives it: the last '='
// divides. Nothing for any other text.
std::optional<BridgeTokenFile> parse_bridge_token_file(const std::string& text);

// Of GatewayOptions; `cluster` is the creator of groups that name none. Throws StartError
// for a file that cannot be read or has no token, and for two of one group.
BridgeTokens read_bridge_tokens(const std::vector<BridgeTokenFile>& files,
                                const std::string& cluster);

}  // namespace canopy::node
