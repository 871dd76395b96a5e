#include "canopy/access_arguments.hpp"

#include <cstdlib>

#include "canopy/failure.hpp"
#include "node/access_text.hpp"

namespace canopy::tools {

namespace {

constexpr const char* token_variable = "CANOPY_TOKEN";

// First who is taken off: `--deny-join anyone --allow-join peer:b` leaves b.
void apply_to(Grant& grant, const AccessChanges::Right& right, const std::string& name) {
  for (const std::string& who : right.deny) {
    if (const std::string problem = remove_from(grant, who); !problem.empty())
      throw UsageError("--deny-" + name + ": " + problem);
  }
  for (const std::string& who : right.allow) {
    if (const std::string problem = add_to(grant, who); !problem.empty())
      throw UsageError("--allow-" + name + ": " + problem);
  }
}

}  // namespace

const char* const who_footer =
    "WHO is one of\n"
    "  anyone           everybody\n"
    "  nobody           nobody\n"
    "  peer:NAME        the daemon of this name; id:HEX by its id of 40 digits\n"
    "  token:FILE       whoever has the token in this file; token:@VARIABLE, in a variable of the\n"
    "                   environment; key:HEX by its public half, as `canopy token FILE` tells it\n"
    "Options may be repeated. Naming somebody makes a list of what was open to anyone. Daemons do\n"
    "not prove who they are to each other: where you do not trust the network, use tokens.";

void AccessChanges::apply(AccessList& list) const {
  apply_to(list.publish, publish, "publish");
  apply_to(list.join, join, "join");
  apply_to(list.manage, manage, "manage");
  const bool changed = !manage.allow.empty() || !manage.deny.empty();
  if (changed && list.manage == Grant{.everybody = false})
    throw UsageError(
        "nobody could change or delete the group any more: leave somebody who may manage it");
}

void add_allow_options(cli::Command command, AccessChanges& changes) {
  const auto add = [&](const char* name, std::vector<std::string>& who, const char* help) {
    command.option(name, who, help).value_name("WHO").repeatable();
  };
  add("--allow-publish", changes.publish.allow, "Who may publish to the group");
  add("--allow-join", changes.join.allow, "Who may join it");
  add("--allow-manage", changes.manage.allow, "Who may change this, and delete the group");
}

void add_deny_options(cli::Command command, AccessChanges& changes) {
  const auto add = [&](const char* name, std::vector<std::string>& who, const char* help) {
    command.option(name, who, help).value_name("WHO").repeatable();
  };
  add("--deny-publish", changes.publish.deny, "Takes somebody off the list of publishers");
  add("--deny-join", changes.join.deny, "Off the list of members, who are put out at once");
  add("--deny-manage", changes.manage.deny, "Off the list of managers");
}

void add_token_option(cli::Command command, std::string& file) {
  command
      .option("--token-file", file,
              "File with the token that gives the right, if this daemon has it not by itself; "
              "without it, CANOPY_TOKEN holds the token")
      .value_name("FILE");
}

void check(const AccessChanges& changes) {
  AccessList list;
  AccessChanges named = changes;
  named.publish.deny = named.join.deny = named.manage.deny = {};
  named.apply(list);
}

std::string presented_token(const std::string& file) {
  const char* const value = std::getenv(token_variable);
  if (file.empty() && (value == nullptr || *value == '\0')) return {};
  node::TokenText read =
      file.empty() ? node::token_of_variable(token_variable) : node::read_token(file);
  if (!read.problem.empty()) throw UsageError(read.problem);
  return std::move(read.token);
}

}  // namespace canopy::tools
