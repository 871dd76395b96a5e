// The access policy of a queue: a JSON document of statements, each allowing or
// denying principals actions under conditions. A denial beats every permission,
// and what nothing allows is refused. Plain values, safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/actions.hpp"

namespace canopy::queue {

// Who wants what, as conditions see it. `source_arn` is the topic or queue on
// whose behalf a service calls; empty if there is none.
struct AccessRequest {
  std::string_view action;  // "SendMessage"
  std::string_view account;
  std::string_view principal;
  std::string_view source_arn = {};
  std::string_view source_account = {};
};

class Policy {
 public:
  // Nothing if it is no policy document.
  static std::optional<Policy> parse(std::string_view json);

  bool allows(const AccessRequest& request, std::string_view queue_arn) const;

 private:
  struct Condition {
    std::string comparison;  // "ArnLike"
    std::string key;         // "aws:sourcearn"
    std::vector<std::string> values;
  };
  struct Statement {
    bool allow = false;
    bool not_principals = false;
    bool not_actions = false;
    std::vector<std::string> principals;
    std::vector<std::string> actions;
    std::vector<std::string> resources;  // none: every one
    std::vector<Condition> conditions;
  };

  static std::optional<Statement> parse_statement(const void* json_object);
  static bool matches(const Statement& statement, const AccessRequest& request,
                      std::string_view queue_arn);
  static bool holds(const Condition& condition, const AccessRequest& request);

  std::vector<Statement> statements_;
};

// With * for any characters and ? for one; ASCII letters of either case.
bool matches_pattern(std::string_view pattern, std::string_view text);

// AddPermission: the document with a statement more; `policy` may be empty.
// Nothing if it has one of this label.
std::optional<std::string> with_permission(std::string_view policy, const std::string& queue_arn,
                                           const std::string& label,
                                           const std::vector<AccountId>& accounts,
                                           const std::vector<std::string>& actions);

// RemovePermission: empty when no statement is left. Nothing if it has none of
// this label.
std::optional<std::string> without_permission(std::string_view policy, std::string_view label);

// Statements of a document; 0 for an empty one.
std::size_t statement_count(std::string_view policy);

}  // namespace canopy::queue
