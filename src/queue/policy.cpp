#include "queue/policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/json.hpp>

namespace canopy::queue {

namespace {

namespace json = boost::json;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

std::optional<json::object> parse_document(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

// A text, or a list of texts. Nothing for anything else.
std::optional<std::vector<std::string>> texts_of(const json::value& value) {
  std::vector<std::string> texts;
  if (value.is_string()) {
    texts.emplace_back(value.get_string().data(), value.get_string().size());
    return texts;
  }
  if (value.is_bool()) {
    texts.emplace_back(value.get_bool() ? "true" : "false");
    return texts;
  }
  if (!value.is_array()) return std::nullopt;
  for (const json::value& item : value.get_array()) {
    if (!item.is_string()) return std::nullopt;
    texts.emplace_back(item.get_string().data(), item.get_string().size());
  }
  return texts;
}

// "*", or a map of kinds of principal.
std::optional<std::vector<std::string>> principals_of(const json::value& value) {
  if (!value.is_object()) return texts_of(value);
  std::vector<std::string> all;
  for (const auto& [kind, names] : value.get_object()) {
    const auto texts = texts_of(names);
    if (!texts) return std::nullopt;
    for (const std::string& text : *texts) all.push_back(text);
  }
  return all;
}

// The account of "arn:aws:iam::ACCOUNT:root" and of a plain account.
std::string_view account_of(std::string_view principal) {
  if (!principal.starts_with("arn:")) return principal;
  for (int i = 0; i < 4; ++i) {
    const auto colon = principal.find(':');
    if (colon == std::string_view::npos) return {};
    principal.remove_prefix(colon + 1);
  }
  const auto colon = principal.find(':');
  return colon == std::string_view::npos ? std::string_view() : principal.substr(0, colon);
}

bool is_principal(const std::string& named, const AccessRequest& request) {
  if (named == "*") return true;
  if (!request.principal.empty() && named == request.principal) return true;
  const bool whole_account = !named.starts_with("arn:") || named.ends_with(":root");
  if (whole_account) return account_of(named) == request.account;
  // A user's ARN: the principal is its last part.
  const auto slash = named.rfind('/');
  return account_of(named) == request.account && slash != std::string::npos &&
         std::string_view(named).substr(slash + 1) == request.principal;
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::ranges::any_of(
      patterns, [text](const std::string& pattern) { return matches_pattern(pattern, text); });
}

bool is_action(const std::vector<std::string>& patterns, std::string_view action) {
  return std::ranges::any_of(patterns, [action](const std::string& pattern) {
    if (pattern == "*") return true;
    const auto colon = pattern.find(':');
    return colon != std::string::npos && lowered(pattern.substr(0, colon)) == "sqs" &&
           matches_pattern(std::string_view(pattern).substr(colon + 1), action);
  });
}

std::string statement_id(const json::value& statement) {
  if (!statement.is_object()) return {};
  const json::value* id = statement.get_object().if_contains("Sid");
  if (id == nullptr || !id->is_string()) return {};
  return {id->get_string().data(), id->get_string().size()};
}

// A single statement need not be in a list.
json::array statements_of(const json::object& document) {
  const json::value* statements = document.if_contains("Statement");
  if (statements == nullptr) return {};
  if (statements->is_array()) return statements->get_array();
  return json::array{*statements};
}

// One value stands for itself, as Amazon writes it.
json::value one_or_list(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return json::string(texts.front());
  json::array list;
  for (const std::string& text : texts) list.emplace_back(json::string(text));
  return list;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || lower(pattern[p]) == lower(text[t]))) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::optional<Policy::Statement> Policy::parse_statement(const void* json_object) {
  const auto& object = *static_cast<const json::object*>(json_object);
  Statement statement;
  const auto read = [&object](const char* name, auto parse, std::vector<std::string>& into) {
    const json::value* value = object.if_contains(name);
    if (value == nullptr) return false;
    const auto texts = parse(*value);
    if (texts) into = *texts;
    return texts.has_value();
  };
  const json::value* effect = object.if_contains("Effect");
  if (effect == nullptr || (*effect != "Allow" && *effect != "Deny")) return std::nullopt;
  statement.allow = *effect == "Allow";

  if (!read("Principal", principals_of, statement.principals)) {
    statement.not_principals = read("NotPrincipal", principals_of, statement.principals);
    if (!statement.not_principals) return std::nullopt;
  }
  if (!read("Action", texts_of, statement.actions)) {
    statement.not_actions = read("NotAction", texts_of, statement.actions);
    if (!statement.not_actions) return std::nullopt;
  }
  if (object.contains("Resource") && !read("Resource", texts_of, statement.resources)) {
    return std::nullopt;
  }
  const json::value* conditions = object.if_contains("Condition");
  if (conditions == nullptr) return statement;
  if (!conditions->is_object()) return std::nullopt;
  for (const auto& [comparison, keys] : conditions->get_object()) {
    if (!keys.is_object()) return std::nullopt;
    for (const auto& [key, values] : keys.get_object()) {
      const auto texts = texts_of(values);
      if (!texts) return std::nullopt;
      statement.conditions.push_back({std::string(comparison), lowered(key), *texts});
    }
  }
  return statement;
}

std::optional<Policy> Policy::parse(std::string_view text) {
  const auto document = parse_document(text);
  if (!document || !document->contains("Statement")) return std::nullopt;
  Policy policy;
  for (const json::value& item : statements_of(*document)) {
    if (!item.is_object()) return std::nullopt;
    auto statement = parse_statement(&item.get_object());
    if (!statement) return std::nullopt;
    policy.statements_.push_back(std::move(*statement));
  }
  return policy;
}

bool Policy::holds(const Condition& condition, const AccessRequest& request) {
  std::string_view actual;
  if (condition.key == "aws:sourcearn") {
    actual = request.source_arn;
  } else if (condition.key == "aws:sourceaccount") {
    actual = request.source_account;
  } else if (condition.key == "aws:principalaccount") {
    actual = request.account;
  }
  std::string_view comparison = condition.comparison;
  constexpr std::string_view if_exists = "IfExists";
  if (comparison.ends_with(if_exists)) {
    if (actual.empty()) return true;
    comparison.remove_suffix(if_exists.size());
  }
  // What is not known holds no condition, so it neither allows nor denies.
  if (actual.empty()) return false;
  const auto equals = [&](const std::string& value) { return value == actual; };
  if (comparison == "StringEquals") return std::ranges::any_of(condition.values, equals);
  if (comparison == "StringNotEquals") return std::ranges::none_of(condition.values, equals);
  if (comparison == "ArnEquals" || comparison == "ArnLike" || comparison == "StringLike" ||
      comparison == "StringEqualsIgnoreCase") {
    return any_matches(condition.values, actual);
  }
  if (comparison == "ArnNotEquals" || comparison == "ArnNotLike" || comparison == "StringNotLike") {
    return !any_matches(condition.values, actual);
  }
  return false;
}

bool Policy::matches(const Statement& statement, const AccessRequest& request,
                     std::string_view queue_arn) {
  const bool principal = std::ranges::any_of(
      statement.principals,
      [&request](const std::string& named) { return is_principal(named, request); });
  if (principal == statement.not_principals) return false;
  if (is_action(statement.actions, request.action) == statement.not_actions) return false;
  if (!statement.resources.empty() && !any_matches(statement.resources, queue_arn)) return false;
  return std::ranges::all_of(statement.conditions, [&request](const Condition& condition) {
    return holds(condition, request);
  });
}

bool Policy::allows(const AccessRequest& request, std::string_view queue_arn) const {
  bool allowed = false;
  for (const Statement& statement : statements_) {
    if (!matches(statement, request, queue_arn)) continue;
    if (!statement.allow) return false;
    allowed = true;
  }
  return allowed;
}

std::optional<std::string> with_permission(std::string_view policy, const std::string& queue_arn,
                                           const std::string& label,
                                           const std::vector<AccountId>& accounts,
                                           const std::vector<std::string>& actions) {
  json::object document = parse_document(policy).value_or(
      json::object{{"Version", "2008-10-17"},
                   {"Id", json::string(queue_arn + "/SQSDefaultPolicy")},
                   {"Statement", json::array()}});
  json::array statements = statements_of(document);
  for (const json::value& statement : statements) {
    if (statement_id(statement) == label) return std::nullopt;
  }
  std::vector<std::string> principals;
  const std::string partition = queue_arn.substr(0, queue_arn.find(":sqs:"));
  for (const AccountId& account : accounts)
    principals.push_back(partition + ":iam::" + account + ":root");
  std::vector<std::string> named;
  for (const std::string& action : actions) named.push_back("SQS:" + action);
  statements.push_back(json::object{{"Sid", json::string(label)},
                                    {"Effect", "Allow"},
                                    {"Principal", json::object{{"AWS", one_or_list(principals)}}},
                                    {"Action", one_or_list(named)},
                                    {"Resource", json::string(queue_arn)}});
  document["Statement"] = std::move(statements);
  return json::serialize(document);
}

std::optional<std::string> without_permission(std::string_view policy, std::string_view label) {
  auto document = parse_document(policy);
  if (!document) return std::nullopt;
  json::array kept;
  const json::array statements = statements_of(*document);
  for (const json::value& statement : statements) {
    if (statement_id(statement) != label) kept.push_back(statement);
  }
  if (kept.size() == statements.size()) return std::nullopt;
  if (kept.empty()) return std::string();
  (*document)["Statement"] = std::move(kept);
  return json::serialize(*document);
}

std::size_t statement_count(std::string_view policy) {
  const auto document = parse_document(policy);
  return document ? statements_of(*document).size() : 0;
}

}  // namespace canopy::queue
