#include "node/bridge_tokens.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "node/access_text.hpp"

namespace canopy::node {

const std::string& BridgeTokens::of(const GroupName& group) const {
  const auto own = of_groups.find(group);
  return own == of_groups.end() ? of_others : own->second;
}

std::optional<BridgeTokenFile> parse_bridge_token_file(const std::string& text) {
  const std::size_t divide = text.rfind('=');
  if (divide == std::string::npos) {
    return text.empty() ? std::nullopt : std::optional(BridgeTokenFile{{}, text});
  }
  const std::string group_text = text.substr(0, divide);
  GroupName group = GroupName::parse(group_text);
  const bool named =
      is_valid_name(group.name) &&
      (group.creator.empty() ? !group_text.ends_with('@') : is_valid_name(group.creator));
  std::string file = text.substr(divide + 1);
  if (!named || file.empty()) return std::nullopt;
  return BridgeTokenFile{std::move(group), std::move(file)};
}

BridgeTokens read_bridge_tokens(const std::vector<BridgeTokenFile>& files,
                                const std::string& cluster) {
  BridgeTokens tokens;
  for (const BridgeTokenFile& one : files) {
    TokenText read = read_token(one.file);
    if (!read.problem.empty()) throw StartError("the token of bridges: " + read.problem);
    if (!one.group) {
      if (!tokens.of_others.empty())
        throw StartError("bridges have two tokens for all groups: give one, or say of which group");
      tokens.of_others = std::move(read.token);
      continue;
    }
    GroupName group = *one.group;
    if (group.creator.empty()) group.creator = cluster;
    if (!tokens.of_groups.emplace(group, std::move(read.token)).second)
      throw StartError(fmt::format("bridges have two tokens for the group {}: give one",
                                   group.to_string(cluster)));
  }
  return tokens;
}

}  // namespace canopy::node
