// The command lines about access, taken apart: of `canopy access`, `delete` and
// `token`, and what others share with them.
#pragma once

#include <string>
#include <vector>

#include <canopy/access.hpp>

#include "common/cli.hpp"

namespace canopy::tools {

// What --allow-... and --deny-... say, in their order for each right.
struct AccessChanges {
  struct Right {
    std::vector<std::string> allow;
    std::vector<std::string> deny;
    bool empty() const noexcept { return allow.empty() && deny.empty(); }
  };
  Right publish;
  Right join;
  Right manage;
  bool empty() const noexcept { return publish.empty() && join.empty() && manage.empty(); }

  // Throws Failure: somebody that is not there is taken out.
  void apply(AccessList& list) const;
};

struct AccessCommand {
  std::string group;
  AccessChanges changes;  // none: shows
  std::string token;
};
struct DeleteCommand {
  std::string group;
  std::string token;
};
struct TokenCommand {
  std::string file;  // of a token whose key is to be shown; empty: makes one
};

// Whom the options name.
extern const char* const who_footer;

void add_allow_options(cli::Command command, AccessChanges& changes);
void add_deny_options(cli::Command command, AccessChanges& changes);
void add_token_option(cli::Command command, std::string& file);
// Throws UsageError for somebody who cannot be.
void check(const AccessChanges& changes);
// That in the file; without one, that in CANOPY_TOKEN, or none. Throws UsageError.
std::string presented_token(const std::string& file);

}  // namespace canopy::tools
