#include "gateway/front.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/uuid.hpp"
#include "gateway/json_request.hpp"
#include "gateway/json_writer.hpp"
#include "gateway/percent.hpp"
#include "gateway/query_request.hpp"
#include "gateway/xml_writer.hpp"

namespace canopy::gateway {

namespace {

constexpr std::string_view sqs_target = "AmazonSQS.";
constexpr std::string_view sts_target = "AWSSecurityTokenServiceV20110615.";
constexpr std::string_view peek_path = "/_aws/sqs/messages";
constexpr std::string_view trace_field = "x-amzn-trace-id";

// Looking at a queue without an SDK shows this many messages.
constexpr std::int64_t peek_messages_max = 1'000;

std::size_t index_of(std::string_view action) { return action_index(action).value(); }

// Actions that are not about the queue whose URL they are sent to.
bool is_about_no_queue(std::string_view action) {
  return action == "CreateQueue" || action == "ListQueues";
}

bool wants_json(const Request& request) {
  return request.field("accept").find(plain_json_type) != std::string_view::npos;
}

// A request that is signed, as of `aws s3`, says for which service.
bool is_for_others(const Request& request) {
  const std::string_view signed_by = request.field("authorization");
  return signed_by.find("/aws4_request") != std::string_view::npos &&
         signed_by.find("/sqs/aws4_request") == std::string_view::npos;
}

}  // namespace

void KeyRing::set(Credentials credentials) {
  const std::lock_guard lock(mutex_);
  credentials_ = std::make_shared<const Credentials>(std::move(credentials));
  version_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const Credentials> KeyRing::get() const {
  const std::lock_guard lock(mutex_);
  return credentials_;
}

Front::Taken Front::take(const Request& request, std::int64_t now) {
  const std::string_view path = request.path();
  if (path == "/health") return health();
  if (path == "/_localstack/health") return emulator_health();
  if (path.starts_with(peek_path)) return take_peek(request, path.substr(peek_path.size()), now);
  const std::string_view target = request.field("x-amz-target");
  return target.empty() ? take_query(request, now) : take_json(request, target, now);
}

Front::Taken Front::take_json(const Request& request, std::string_view target, std::int64_t now) {
  std::string_view name;
  for (const std::string_view prefix : {sqs_target, sts_target})
    if (target.starts_with(prefix)) name = target.substr(prefix.size());
  if (name.empty()) return fail(Protocol::json, other_service());
  const auto action = action_index(name);
  if (!action) return fail(Protocol::json, unknown_operation());
  shared_.statistics.count_call(*action);
  const auto who = identify(request, now);
  if (who.has_error()) return fail(Protocol::json, *action, who.error());
  ReadContext context{place_of(request, *who), std::nullopt, shared_.options.batch_entries_max};
  context.path_queue = parse_queue_url(request.path(), context.place);
  context.trace = request.field(trace_field);
  return take_action(*action, request.body, *who, std::move(context));
}

Front::Taken Front::take_call(std::string_view name, std::string_view body, const Identity& who,
                              std::string origin) {
  const auto action = action_index(name);
  if (!action) return fail(Protocol::json, unknown_operation());
  shared_.statistics.count_call(*action);
  return take_action(*action, body, who,
                     {{who.region, who.caller.account, std::move(origin)},
                      std::nullopt,
                      shared_.options.batch_entries_max});
}

Front::Taken Front::take_action(std::size_t action, std::string_view body, const Identity& who,
                                ReadContext context) {
  if (auto own = answer_own(Protocol::json, action, who)) return *std::move(own);
  auto read = read_json_request(action_names[action], body, context);
  if (read.has_error()) return fail(Protocol::json, action, read.error());
  return Work{who.caller, *std::move(read), {Protocol::json, action, std::move(context.place)}};
}

Front::Taken Front::take_query(const Request& request, std::int64_t now) {
  const Protocol protocol = wants_json(request) ? Protocol::query_json : Protocol::query;
  QueryTree parameters;
  if (!parameters.add(request.query()) ||
      (request.method == "POST" && !parameters.add(request.body)))
    return fail(protocol, invalid_parameter("", "Action", "Too many parameters."));
  const auto* node = parameters.root().child("Action");
  if (!node || !node->value)
    return fail(Protocol::query, is_for_others(request) ? other_service() : unknown_operation());
  const std::string_view name = *node->value;
  const auto action = action_index(name);
  if (!action) return fail(protocol, invalid_action(name));
  shared_.statistics.count_call(*action);
  const auto who = identify(request, now);
  if (who.has_error()) return fail(protocol, *action, who.error());
  if (auto own = answer_own(protocol, *action, *who)) return *std::move(own);
  ReadContext context{place_of(request, *who), std::nullopt, shared_.options.batch_entries_max};
  context.path_queue = parse_queue_url(request.path(), context.place);
  context.trace = request.field(trace_field);
  if (context.path_queue && is_about_no_queue(name))
    return fail(protocol, *action, invalid_action(name));
  auto read = read_query_request(name, parameters, context);
  if (read.has_error()) return fail(protocol, *action, read.error());
  return Work{who->caller, *std::move(read), {protocol, *action, std::move(context.place)}};
}

// /_aws/sqs/messages?QueueUrl=URL or /_aws/sqs/messages/REGION/ACCOUNT/NAME;
// also a receive of an SDK that has it for an endpoint, so that it peeks.
Front::Taken Front::take_peek(const Request& request, std::string_view rest, std::int64_t now) {
  const std::string_view target = request.field("x-amz-target");
  const bool sdk = !target.empty();
  const Protocol protocol = sdk                   ? Protocol::json
                            : wants_json(request) ? Protocol::peek_json
                                                  : Protocol::query;
  const std::size_t action = index_of("PeekMessage");
  shared_.statistics.count_call(action);
  const auto who = identify(request, now);
  if (who.has_error()) return fail(protocol, action, who.error());
  ReadContext context{place_of(request, *who), std::nullopt, shared_.options.batch_entries_max};
  if (rest.size() > 1)
    context.path_queue = parse_queue_url("/queue" + std::string(rest), context.place);
  QueryTree parameters;
  if (!parameters.add(request.query()) ||
      (request.method == "POST" && !sdk && !parameters.add(request.body)))
    return fail(protocol, action, invalid_parameter("", "Action", "Too many parameters."));
  const auto value_of = [&parameters](std::string_view name) {
    const auto* node = parameters.root().child(name);
    return node ? node->value.value_or("") : std::string_view();
  };
  const std::string_view asked = value_of("Action");
  const bool receives =
      sdk ? target.ends_with(".ReceiveMessage") : asked.empty() || asked == "ReceiveMessage";
  if (!receives) return fail(protocol, action, not_a_receive());
  if (!sdk && !context.path_queue && value_of("QueueUrl").empty())
    return fail(protocol, action, no_queue());
  auto read = sdk ? read_json_request("PeekMessage", request.body, context)
                  : read_query_request("PeekMessage", parameters, context);
  if (read.has_error()) return fail(protocol, action, read.error());
  std::get<queue::PeekMessage>(*read).messages_max = peek_messages_max;
  return Work{who->caller, *std::move(read), {protocol, action, std::move(context.place)}};
}

Answer Front::finish(const Reply& reply, const queue::Outcome& outcome) {
  if (outcome.has_error()) return fail(reply.protocol, reply.action, failure_of(outcome.error()));
  // A peek answers in the shape of a receive, which is what its callers read.
  std::string_view action = action_names[reply.action];
  if (action == "PeekMessage") action = "ReceiveMessage";
  return write_result(reply.protocol, action, *outcome, reply.place, request_id());
}

Front::Taken Front::health() {
  Answer answer;
  const std::string problem = shared_.service.problem();
  answer.status = problem.empty() ? 200 : 503;
  answer.content_type = plain_json_type;
  append_json_object(answer.body, [&](JsonWriter& writer) {
    writer.text("status", problem.empty() ? "ok" : "failing");
    if (!problem.empty()) writer.text("reason", problem);
  });
  return answer;
}

Front::Taken Front::emulator_health() {
  Answer answer;
  answer.content_type = plain_json_type;
  const char* state = shared_.service.problem().empty() ? "running" : "error";
  answer.body = fmt::format(
      R"({{"services":{{"sqs":"{0}","sts":"{0}"}},"edition":"canopy","version":"{1}"}})", state,
      CANOPY_VERSION);
  return answer;
}

boost::system::result<Identity, Failure> Front::identify(const Request& request, std::int64_t now) {
  if (const std::uint64_t version = shared_.keys.version(); version != keys_version_) {
    authenticator_.set_credentials(shared_.keys.get());
    keys_version_ = version;
  }
  return authenticator_.identify(request, now);
}

Place Front::place_of(const Request& request, const Identity& identity) const {
  const std::string_view host = request.field("host");
  std::string origin(request.secure ? "https://" : "http://");
  origin += host.empty() ? std::string_view(shared_.options.usual_host) : host;
  return {identity.region, identity.caller.account, std::move(origin)};
}

std::optional<Answer> Front::answer_own(Protocol protocol, std::size_t action,
                                        const Identity& who) {
  const std::string_view name = action_names[action];
  if (name == "GetCallerIdentity") return caller_identity(protocol, who);
  if (name == "GetAPIStats") return api_stats(protocol);
  if (name != "HealthCheck") return std::nullopt;
  if (const std::string problem = shared_.service.problem(); !problem.empty())
    return fail(protocol, action, failure(queue::ErrorCode::service_unavailable, problem));
  return write_result(protocol, name, queue::Done{}, {}, request_id());
}

Answer Front::caller_identity(Protocol protocol, const Identity& who) {
  const std::string& account = who.caller.account;
  const std::string arn =
      who.caller.principal == account
          ? fmt::format("arn:aws:iam::{}:root", account)
          : fmt::format("arn:aws:iam::{}:user/{}", account, who.caller.principal);
  Answer answer;
  answer.request_id = request_id();
  const auto write = [&](auto& writer) {
    writer.text("UserId", who.caller.principal);
    writer.text("Account", account);
    writer.text("Arn", arn);
  };
  if (protocol == Protocol::json) {
    answer.content_type = "application/x-amz-json-1.1";
    append_json_object(answer.body, write);
    return answer;
  }
  std::string members;
  XmlWriter writer(members);
  write(writer);
  answer.content_type = "text/xml";
  answer.body = wrap_in_xml("GetCallerIdentity", sts_namespace, members, true, answer.request_id);
  return answer;
}

Answer Front::api_stats(Protocol protocol) {
  std::map<std::string_view, std::uint64_t> calls, failures;
  for (std::size_t i = 0; i < action_names.size(); ++i) {
    calls[action_names[i]] = shared_.statistics.of(i).calls.load(std::memory_order_relaxed);
    failures[action_names[i]] = shared_.statistics.of(i).failures.load(std::memory_order_relaxed);
  }
  const auto write = [](auto& writer, const auto& counts) {
    for (const auto& [name, count] : counts)
      if (count) writer.number(name, static_cast<std::int64_t>(count));
  };
  const std::pair<std::string_view, std::map<std::string_view, std::uint64_t>> parts[] = {
      {"CallStats", calls}, {"CallFailureStats", failures}};
  Answer answer;
  answer.request_id = request_id();
  std::string members;
  for (const auto& part : parts) {
    if (protocol == Protocol::query) {
      XmlWriter writer(members);
      writer.open(part.first);
      write(writer, part.second);
      writer.close(part.first);
    } else {
      members += fmt::format("{}\"{}\":", members.empty() ? "" : ",", part.first);
      append_json_object(members, [&](JsonWriter& writer) { write(writer, part.second); });
    }
  }
  const bool xml = protocol == Protocol::query;
  answer.content_type = xml ? "text/xml" : "application/x-amz-json-1.0";
  answer.body = xml ? wrap_in_xml("GetAPIStats", sqs_namespace, members, true, answer.request_id)
                    : "{" + members + "}";
  return answer;
}

Answer Front::fail(Protocol protocol, const Failure& failure) {
  return write_failure(protocol, failure, request_id());
}

Answer Front::fail(Protocol protocol, std::size_t action, const Failure& failure) {
  shared_.statistics.count_failure(action);
  return fail(protocol, failure);
}

std::string Front::request_id() {
  const std::uint64_t high = random_.next();
  return Uuid::from_random_bits(high, random_.next()).to_string();
}

}  // namespace canopy::gateway
