#include "canopy/queue_client.hpp"

#include <memory>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "canopy/output.hpp"

namespace canopy::tools {

namespace control = wire::control;
namespace json = boost::json;

namespace {

constexpr unsigned first_failing_status = 400;

json::object parse(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object())
    throw Failure("the daemon's answer is no JSON object: is it of this version?");
  return std::move(value.get_object());
}

bool is_url(std::string_view queue) { return queue.find('/') != std::string_view::npos; }

struct HostAndPort {
  std::string_view host;
  std::string_view port;
};

HostAndPort split(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.ends_with(']')) return {host, {}};
  return {host.substr(0, colon), host.substr(colon + 1)};
}

bool is_wildcard(std::string_view host) { return host == "0.0.0.0" || host == "[::]"; }

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || is_wildcard(host);
}

// {"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "..."}
Failure failure_of(const std::string& queue, const std::string& json) {
  const json::object object = parse(json);
  const std::string type = text_of(object, "__type");
  const std::string code = type.substr(type.find('#') + 1);
  const std::string name = name_of(queue);
  if (code == "QueueDoesNotExist" && !host_of(queue).empty())
    return {fmt::format("{} is no queue of this daemon, which is asked whatever host a URL names: "
                        "`canopy queue ls` lists those that there are",
                        queue),
            code};
  if (code == "QueueDoesNotExist" && !name.empty())
    return {fmt::format("there is no queue {0}: `canopy queue ls` lists those that there are, "
                        "`canopy queue create {0}` makes it",
                        name),
            code};
  if (code == "UnknownOperationException")
    return {"there is no such action: AWS's documentation of Amazon SQS lists them", code};
  if (code == "AccessDeniedException" && is_url(queue))
    return {fmt::format("{} belongs to another account: give --account", queue), code};
  const std::string message = text_of(object, "message");
  return {fmt::format("{}{}{} ({})", queue, queue.empty() ? "" : ": ",
                      message.empty() ? "refused" : message, code),
          code};
}

}  // namespace

json::object QueueReply::object() const {
  if (failure) throw Failure(*failure);
  return parse(json);
}

QueueClient::QueueClient(Context& context, const QueueCommand& command, std::string queue)
    : context_(context), command_(command), queue_(std::move(queue)) {}

json::object QueueClient::parameters() const {
  json::object parameters;
  parameters["QueueUrl"] = is_url(queue_) ? queue_ : "/queue/" + queue_;
  return parameters;
}

void QueueClient::start(std::string_view action, std::string json,
                        std::function<void(QueueReply)> done) {
  if (json.size() > control::queue_call_bytes_max)
    throw Failure(
        fmt::format("the message has {} bytes as JSON, more than the {} that fit a "
                    "request: send less",
                    json.size(), control::queue_call_bytes_max));
  control::QueueCall call{std::string(action), command_.account, command_.region,
                          Buffer::copy_of(json)};
  auto whole = std::make_shared<std::string>();
  context_.client.start(std::move(call), [queue = queue_, whole, done = std::move(done)](
                                             control::Answer answer, bool more) {
    if (const auto* failure = std::get_if<control::Failure>(&answer))
      return done({{}, Failure(failure->text, failure->error)});
    const auto* part = std::get_if<control::QueueAnswer>(&answer);
    if (part) whole->append(part->body.view());
    if (more) return;
    if (!part)
      throw Failure("the daemon gave another answer than expected: is it of this version?");
    if (part->status >= first_failing_status) return done({{}, failure_of(queue, *whole)});
    done({std::move(*whole), std::nullopt});
  });
}

void QueueClient::start(std::string_view action, const json::object& parameters,
                        std::function<void(QueueReply)> done) {
  start(action, json::serialize(parameters), std::move(done));
}

json::object QueueClient::ask(std::string_view action, const json::object& parameters,
                              Duration wait) {
  return ask(action, json::serialize(parameters), wait).object();
}

QueueReply QueueClient::ask(std::string_view action, std::string json, Duration wait) {
  std::optional<QueueReply> reply;
  start(action, std::move(json), [&](QueueReply came) { reply = std::move(came); });
  const Client::Deadline deadline = *context_.deadline() + wait;
  if (!context_.client.run([&] { return reply.has_value(); }, deadline))
    throw Failure("no answer in time: try a longer --timeout");
  return *std::move(reply);
}

std::string name_of(std::string_view queue) {
  return std::string(queue.substr(queue.rfind('/') + 1));
}

std::string_view host_of(std::string_view queue) {
  const std::size_t scheme = queue.find("://");
  if (scheme == std::string_view::npos) return {};
  queue.remove_prefix(scheme + 3);
  return queue.substr(0, queue.find('/'));
}

void tell_of_another_host(std::string_view queue, std::string_view own_url) {
  const HostAndPort asked = split(host_of(queue));
  const HostAndPort gateway = split(host_of(own_url));
  const bool same = asked.host == gateway.host || is_wildcard(gateway.host) ||
                    (is_this_machine(asked.host) && is_this_machine(gateway.host));
  if (asked.host.empty() || (same && asked.port == gateway.port)) return;
  complain(fmt::format("note: {} is not asked: a queue of this daemon's gateway, {}, is meant",
                       host_of(queue), host_of(own_url)));
}

std::string text_of(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

}  // namespace canopy::tools
