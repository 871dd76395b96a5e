// canopy-bench queue and http-echo: what their command lines say.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "base/option_value.hpp"
#include "canopy-bench/commands.hpp"
#include "canopy-bench/echo_server.hpp"
#include "canopy-bench/ledger.hpp"
#include "canopy-bench/queue_bench.hpp"
#include "canopy-bench/report.hpp"
#include "common/whole_number.hpp"

namespace canopy::tools {

namespace {

struct QueueCommand {
  std::string endpoint;
  LoadPlan plan;
  BenchSettings settings;
  std::string batch = "1";
  bool is_signed = false;
  SigningKey key;
  bool json = false;
  unsigned server_threads = 1;
};

using Command = std::shared_ptr<QueueCommand>;

std::optional<unsigned> batch_size(const std::string& text) {
  const auto value = OptionValue<std::uint64_t>::parse(text);
  if (!value || *value < 1 || *value > batch_size_max) return std::nullopt;
  return static_cast<unsigned>(*value);
}

std::optional<Batch> parse_batch(const std::string& text) {
  const auto dots = text.find("..");
  const auto min = batch_size(text.substr(0, dots));
  const auto max = dots == text.npos ? min : batch_size(text.substr(dots + 2));
  if (!min || !max || *min > *max) return std::nullopt;
  return Batch{*min, *max};
}

std::string check_batch(const std::string& text) {
  return parse_batch(text) ? "" : fmt::format("'{}' is neither N nor N..M within 1 to 10", text);
}

void add_load_options(CLI::App& command, const Command& options) {
  command.add_option("--connections", options->plan.connections, "Connections, kept open")
      ->check(CLI::Range(1, 50'000))
      ->capture_default_str();
  command.add_option("--threads", options->plan.threads, "Threads that make the load")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--size", options->plan.size, "Bytes of a message's body")
      ->check(CLI::Range(body_size_min, std::size_t{batch_bytes_max}))
      ->capture_default_str();
  command.add_option("--seconds", options->settings.seconds, "How long it is measured")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--warm-up", options->settings.warm_up_seconds, "How long it runs before")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--rate", options->settings.rate,
                  "Messages a second to start, however slow the answers are; a request's latency "
                  "counts from the time at which it was due")
      ->check(CLI::PositiveNumber);
  command.add_flag("--json", options->json, "One object on one line");
}

void add_mode_options(CLI::App& command, const Command& options) {
  command.add_option("--endpoint", options->endpoint, "http://HOST:PORT")->required();
  command
      .add_option("--mode", options->settings.mode,
                  "send; receive (and delete); mixed: every second connection receives")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Mode>{
          {"send", Mode::send}, {"receive", Mode::receive}, {"mixed", Mode::mixed}}))
      ->default_str("send");
  command
      .add_option("--batch", options->batch,
                  "Messages a request, 1 to 10; 1..10 draws each time between both")
      ->check(check_batch)
      ->capture_default_str();
  command
      .add_option("--backlog", options->settings.backlog,
                  "Messages in the queues before it receives; in mode receive they are filled "
                  "again, uncounted, whenever they are empty. Without it, mode receive takes what "
                  "can be sent in --seconds, up to 100,000")
      ->check(counting_number);
  command.add_option("--queues", options->settings.queues, "Queues to spread the connections over")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command.add_flag("--fifo", options->plan.fifo,
                   "FIFO queues, with a message group for each connection; checks the order");
  command.add_flag("--prefetch", options->plan.prefetch,
                   "Receivers ask for the next messages together with deleting the last");
}

void add_signing_options(CLI::App& command, const Command& options) {
  command.add_flag("--signed", options->is_signed, "Sign every request (version 4)");
  command.add_option("--access-key", options->key.key_id, "Key id to sign with")
      ->envname("AWS_ACCESS_KEY_ID");
  command.add_option("--secret", options->key.secret, "Its secret")
      ->envname("AWS_SECRET_ACCESS_KEY");
  command.add_option("--region", options->key.region, "Region to sign for")->capture_default_str();
}

void check(QueueCommand& options) {
  options.settings.batch = *parse_batch(options.batch);
  options.plan.threads = std::min(options.plan.threads, options.plan.connections);
  if (options.plan.size * options.settings.batch.max > batch_bytes_max)
    throw CLI::ValidationError("--size", "a batch of these has more than 1,048,576 bytes");
  if (options.settings.mode == Mode::mixed && options.plan.connections < 2)
    throw CLI::ValidationError("--connections", "mode mixed takes at least 2");
  if (2 * options.settings.queues > std::max(2U, options.plan.connections))
    throw CLI::ValidationError("--queues", "each takes two connections");
  if (options.plan.prefetch && options.settings.rate)
    throw CLI::ValidationError("--prefetch", "does not go with --rate");
  if (options.is_signed && (options.key.key_id.empty() || options.key.secret.empty()))
    throw CLI::ValidationError("--signed", "needs --access-key and --secret");
  if (options.is_signed) options.plan.key = options.key;
}

int finish(const QueueCommand& options, const BenchResult& result) {
  const auto print = options.json ? print_json : print_report;
  print(options.plan, options.settings, result);
  return result.wrong(options.plan.fifo) ? 1 : 0;
}

int run_queue(QueueCommand& options) {
  check(options);
  options.plan.target = resolve(options.endpoint);
  return finish(options, run_queue_bench(options.plan, options.settings));
}

int run_echo(QueueCommand& options) {
  const EchoServer server(options.server_threads);
  options.settings.mode = Mode::echo;
  options.plan.threads = std::min(options.plan.threads, options.plan.connections);
  options.plan.queues = {"http://127.0.0.1/000000000000/echo"};
  options.plan.target = resolve(fmt::format("http://127.0.0.1:{}", server.port()));
  return finish(options, run_echo_bench(options.plan, options.settings));
}

}  // namespace

void add_queue_command(CLI::App& app, int& status) {
  const auto options = std::make_shared<QueueCommand>();
  CLI::App* command = app.add_subcommand(
      "queue",
      "Load an SQS endpoint and check what comes back. Creates queues of its own and deletes them "
      "in the end. The exit status is 1 if messages were lost or invented");
  add_mode_options(*command, options);
  add_load_options(*command, options);
  add_signing_options(*command, options);
  command->callback([options, &status] { status = run_queue(*options); });
}

void add_http_echo_command(CLI::App& app, int& status) {
  const auto options = std::make_shared<QueueCommand>();
  CLI::App* command = app.add_subcommand(
      "http-echo", "The same load on a bare HTTP server that answers with what it is sent");
  add_load_options(*command, options);
  command->add_option("--server-threads", options->server_threads, "Threads of the server")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->callback([options, &status] { status = run_echo(*options); });
}

}  // namespace canopy::tools
