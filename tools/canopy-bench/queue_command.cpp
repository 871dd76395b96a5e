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

void add_load_options(cli::Command command, const Command& options) {
  command.option("--connections", options->plan.connections, "Connections, kept open")
      .range(1, 50'000)
      .show_default();
  command.option("--threads", options->plan.threads, "Threads that make the load")
      .range(1, 64)
      .show_default();
  command.option("--size", options->plan.size, "Bytes of a message's body")
      .range(body_size_min, std::size_t{batch_bytes_max})
      .show_default();
  command.option("--seconds", options->settings.seconds, "How long it is measured")
      .positive()
      .show_default();
  command.option("--warm-up", options->settings.warm_up_seconds, "How long it runs before")
      .not_negative()
      .show_default();
  command
      .option("--rate", options->settings.rate,
              "Messages a second to start, however slow the answers are; a request's latency "
              "counts from the time at which it was due")
      .positive();
  command.flag("--json", options->json, "One object on one line");
}

void add_mode_options(cli::Command command, const Command& options) {
  command.option("--endpoint", options->endpoint, "http://HOST:PORT").required();
  command
      .choice<Mode>("--mode", options->settings.mode,
                    {{"send", Mode::send}, {"receive", Mode::receive}, {"mixed", Mode::mixed}},
                    "send; receive (and delete); mixed: every second connection receives")
      .show_default("send");
  command
      .option("--batch", options->batch,
              "Messages a request, 1 to 10; 1..10 draws each time between both")
      .check(check_batch)
      .show_default();
  command
      .option("--backlog", options->settings.backlog,
              "Messages in the queues before it receives; in mode receive they are filled "
              "again, uncounted, whenever they are empty. Without it, mode receive takes what "
              "can be sent in --seconds, up to 100,000")
      .check(counting_number);
  command.option("--queues", options->settings.queues, "Queues to spread the connections over")
      .range(1, 1'000)
      .show_default();
  command.flag("--fifo", options->plan.fifo,
               "FIFO queues, with a message group for each connection; checks the order");
  command
      .option("--blocked", options->settings.blocked,
              "With --fifo: messages of one more group before all others, which wait as its first "
              "is being received")
      .check(counting_number);
  command.flag("--prefetch", options->plan.prefetch,
               "Receivers ask for the next messages together with deleting the last");
}

void add_signing_options(cli::Command command, const Command& options) {
  command.flag("--signed", options->is_signed, "Sign every request (version 4)");
  command.option("--access-key", options->key.key_id, "Key id to sign with")
      .environment("AWS_ACCESS_KEY_ID");
  command.option("--secret", options->key.secret, "Its secret")
      .environment("AWS_SECRET_ACCESS_KEY");
  command.option("--region", options->key.region, "Region to sign for").show_default();
}

void check(QueueCommand& options) {
  options.settings.batch = *parse_batch(options.batch);
  options.plan.threads = std::min(options.plan.threads, options.plan.connections);
  if (options.plan.size * options.settings.batch.max > batch_bytes_max)
    throw cli::Mistake("--size: a batch of these has more than 1,048,576 bytes");
  if (options.settings.mode == Mode::mixed && options.plan.connections < 2)
    throw cli::Mistake("--connections: mode mixed takes at least 2");
  if (2 * options.settings.queues > std::max(2U, options.plan.connections))
    throw cli::Mistake("--queues: each takes two connections");
  if (options.settings.blocked > 0 && !options.plan.fifo)
    throw cli::Mistake("--blocked: needs --fifo");
  if (options.plan.prefetch && options.settings.rate)
    throw cli::Mistake("--prefetch: does not go with --rate");
  if (options.is_signed && (options.key.key_id.empty() || options.key.secret.empty()))
    throw cli::Mistake("--signed: needs --access-key and --secret");
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

void add_queue_command(cli::Command program, int& status) {
  const auto options = std::make_shared<QueueCommand>();
  cli::Command command = program.command(
      "queue",
      "Load an SQS endpoint and check what comes back. Creates queues of its own and deletes them "
      "in the end. The exit status is 1 if messages were lost or invented");
  add_mode_options(command, options);
  add_load_options(command, options);
  add_signing_options(command, options);
  command.action([options, &status] { status = run_queue(*options); });
}

void add_http_echo_command(cli::Command program, int& status) {
  const auto options = std::make_shared<QueueCommand>();
  cli::Command command = program.command(
      "http-echo", "The same load on a bare HTTP server that answers with what it is sent");
  add_load_options(command, options);
  command.option("--server-threads", options->server_threads, "Threads of the server")
      .range(1, 64)
      .show_default();
  command.action([options, &status] { status = run_echo(*options); });
}

}  // namespace canopy::tools
