#include "node/gateway_settings.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/option_value.hpp"
#include "gateway/queue_url.hpp"
#include "node/bridge_tokens.hpp"
#include "node/gateway_options.hpp"
#include "queue/attributes.hpp"
#include "queue/message_checks.hpp"

namespace canopy::node {
namespace {

using namespace std::chrono_literals;

std::optional<std::string> check_account(const std::string& text) {
  if (gateway::is_account(text)) return std::nullopt;
  return "give twelve digits";
}

std::optional<std::string> check_region(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), fits))
    return std::nullopt;
  return "give lower-case letters, digits and dashes, such as us-east-1";
}

std::optional<std::string> check_file(const std::string& path) {
  if (!path.empty()) return std::nullopt;
  return "give a file, or leave the option out";
}

std::optional<std::string> check_bridge_token_file(const std::string& text) {
  if (parse_bridge_token_file(text)) return std::nullopt;
  return "give a file for all groups, or GROUP=FILE, with NAME or NAME@CREATOR for the group";
}

std::optional<std::string> check_queue(const std::string& text) {
  if (parse_queue(text)) return std::nullopt;
  return "give a name, and behind spaces ATTRIBUTE=VALUE, as in 'jobs VisibilityTimeout=60'";
}

// In a file that several peers share they may stand for those with a gateway.
std::optional<std::string> useless_flag(const OptionTable& table, const GatewaySettings& settings) {
  if (settings.listen) return std::nullopt;
  for (const std::string_view name :
       {"credentials", "allow-anonymous", "account", "region", "queue", "create-on-first-use",
        "bridge-token-file", "gateway-certificate", "gateway-key", "gateway-threads"}) {
    const Option* option = table.find(name);
    CANOPY_ASSERT(option != nullptr);
    if (option->source() == OptionSource::flag)
      return fmt::format("--{} is for a gateway: give --gateway HOST:PORT, too", name);
  }
  return std::nullopt;
}

// What can be told without a look at the queues that there are.
std::optional<std::string> refused_queue(const GatewaySettings& settings) {
  if (!settings.listen) return std::nullopt;
  const GatewayOptions options = to_gateway_options(settings);
  const queue::Limits limits = to_limits(options);
  for (const GatewayQueue& queue : options.queues) {
    const bool fifo = queue.name.ends_with(".fifo");
    if (!queue::is_queue_name(queue.name, fifo, limits))
      return fmt::format(
          "the queue '{}' cannot be made: its name has 1 to {} letters, digits, - and _",
          queue.name, limits.queue_name_max);
    queue::Attributes attributes = queue.attributes;
    if (fifo) attributes.emplace("FifoQueue", "true");
    if (const auto error = queue::check_attributes(attributes, fifo, true, limits))
      return fmt::format("the queue '{}' cannot be made: {}", queue.name, error->message);
  }
  return std::nullopt;
}

}  // namespace

void declare_gateway(OptionTable& table, GatewaySettings& settings) {
  table.add("gateway", settings.listen,
            "serve the Amazon SQS API here; port 0 lets the system choose");
  table
      .add("credentials", settings.values.credentials_file,
           "access keys that requests are checked against, as in ~/.aws/credentials; read anew at "
           "SIGHUP")
      .value_name("FILE")
      .check(check_file);
  table
      .add("bridge-token-file", settings.bridge_token_files,
           "token that bridges show where a group lets not everybody join, of all groups or, as "
           "GROUP=FILE, of one; read anew at SIGHUP; several are separated by ; in the environment")
      .value_name("[GROUP=]FILE")
      .separated_by(";")
      .check(check_bridge_token_file);
  table.add("allow-anonymous", settings.values.allow_anonymous,
            "accept unsigned requests and unknown keys, unverified");
  table.add("account", settings.values.default_account, "account of requests that name none")
      .check(check_account);
  table.add("region", settings.values.default_region, "region of requests that name none")
      .check(check_region);
  table
      .add("queue", settings.queues,
           "queue that is there from the start, with its attributes: 'NAME ATTRIBUTE=VALUE ...'; "
           "several are separated by ; in the environment")
      .value_name("QUEUE")
      .separated_by(";")
      .check(check_queue);
  table.add("create-on-first-use", settings.values.create_on_first_use,
            "make queues when they are first sent to, received from or asked about");
  table
      .add("gateway-certificate", settings.values.certificate_file,
           "certificate chain in PEM, for TLS at the gateway")
      .value_name("FILE")
      .check(check_file);
  table.add("gateway-key", settings.values.key_file, "the certificate's key in PEM")
      .value_name("FILE")
      .check(check_file);
  table
      .add("gateway-threads", settings.values.threads,
           "threads for the gateway's connections; 0: by the number of cores, up to four")
      .range(0, 64);
  table.check([&settings]() -> std::optional<std::string> {
    const GatewayOptions& values = settings.values;
    if (values.certificate_file.empty() == values.key_file.empty()) return std::nullopt;
    return "gateway-certificate and gateway-key go together: give both or none";
  });
  table.check([&table, &settings] { return useless_flag(table, settings); });
}

void declare_queue_limits(OptionTable& table, GatewaySettings& settings) {
  QueueLimits& limits = settings.values.limits;
  table.add("limit.connections", settings.values.connections_max, "connections of the gateway")
      .range(1, 1'000'000);
  table.add("limit.request", settings.values.request_bytes_max, "body of a request at the gateway")
      .bytes()
      .range(std::size_t{64} << 10, std::size_t{256} << 20);
  table
      .add("limit.requests-arriving", settings.values.arriving_bytes_max,
           "requests that are still arriving, over all connections")
      .bytes()
      .range(std::size_t{16} << 20, std::size_t{1} << 40);
  table
      .add("limit.requests-waiting", settings.values.waiting_bytes_max,
           "requests on their way to the queues")
      .bytes()
      .range(std::size_t{1} << 20, std::size_t{1} << 32);
  table
      .add("limit.receives-waiting", settings.values.receives_waiting_max,
           "long polls; more are answered at once")
      .range(0, 1'000'000);
  table
      .add("limit.storage-memory", settings.values.storage_memory_bytes,
           "memory of the store of queues: write buffers and cache")
      .bytes()
      .range(std::uint64_t{8} << 20, std::uint64_t{1} << 40);
  table
      .add("limit.queues-in-memory", settings.values.queues_in_memory_bytes_max,
           "messages of queues without a data directory; more are refused")
      .bytes()
      .range(std::uint64_t{1} << 20, std::uint64_t{1} << 40);
  table.heading("sqs", "Queues (Amazon's limits by default)");
  table.add("sqs.message-size", limits.message_bytes_max, "largest message, with its attributes")
      .bytes()
      .range(1'024, std::size_t{8} << 20);
  table.add("sqs.batch-size", limits.batch_bytes_max, "largest batch of messages")
      .bytes()
      .range(1'024, std::size_t{8} << 20);
  table.add("sqs.batch-entries", limits.batch_entries_max, "messages of a batch or a receive")
      .range(1, 1'000);
  table.add("sqs.visibility-timeout-max", limits.visibility_timeout_max, "of a message received")
      .range(1s, 24h * 365);
  table.add("sqs.delay-max", limits.delay_max, "of a message sent").range(0s, 24h * 365);
  table.add("sqs.retention-min", limits.retention_min, "of messages that nobody deletes")
      .range(1s, 24h * 365);
  table.add("sqs.retention-max", limits.retention_max, "of messages that nobody deletes")
      .range(1s, 24h * 3650);
  table.add("sqs.wait-max", limits.wait_max, "of a receive").range(0s, 1h);
  table.add("sqs.in-flight", limits.in_flight_max, "messages received and not deleted, a queue")
      .range(1, 10'000'000);
  table.add("sqs.in-flight-fifo", limits.in_flight_fifo_max, "the same of a FIFO queue")
      .range(1, 10'000'000);
  table.add("sqs.attributes", limits.attributes_max, "attributes of a message").range(0, 1'000);
  table.add("sqs.tags", limits.tags_max, "tags of a queue").range(0, 1'000);
  table.add("sqs.deduplication", limits.deduplication, "memory for deduplication ids")
      .range(1s, 24h);
  table.add("sqs.purge-interval", limits.purge_interval, "between two purges of a queue")
      .range(0s, 1h);
  table
      .add("sqs.deleted-recently", limits.deleted_recently,
           "before a deleted queue's name can be used again; Amazon has 60s")
      .range(0s, 1h);
  table.check([&settings]() -> std::optional<std::string> {
    // One that never fits would be tried again and again.
    if (2 * settings.values.request_bytes_max <= settings.values.arriving_bytes_max)
      return std::nullopt;
    return "limit.requests-arriving must be at least twice limit.request: raise the one or lower "
           "the other";
  });
  table.check([&limits]() -> std::optional<std::string> {
    if (limits.retention_min <= limits.retention_max) return std::nullopt;
    return "sqs.retention-min must not be longer than sqs.retention-max";
  });
  table.check([&settings] { return refused_queue(settings); });
}

std::optional<GatewayQueue> parse_queue(const std::string& text) {
  std::istringstream words(text);
  GatewayQueue queue;
  if (!(words >> queue.name) || queue.name.find('=') != std::string::npos) return std::nullopt;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) return std::nullopt;
    queue.attributes[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return queue;
}

GatewayOptions to_gateway_options(const GatewaySettings& settings) {
  GatewayOptions options = settings.values;
  options.listen = format_endpoint(settings.listen.value());
  for (const std::string& text : settings.queues)
    options.queues.push_back(parse_queue(text).value());
  for (const std::string& text : settings.bridge_token_files)
    options.bridge_token_files.push_back(parse_bridge_token_file(text).value());
  return options;
}

}  // namespace canopy::node
