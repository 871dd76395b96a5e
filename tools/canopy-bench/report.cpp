#include "canopy-bench/report.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/json_line.hpp"

namespace canopy::tools {

namespace {

constexpr const char* kind_names[] = {"send", "receive", "delete"};
constexpr std::pair<const char*, double> quantiles[] = {
    {"p50_ms", 0.5}, {"p95_ms", 0.95}, {"p99_ms", 0.99}, {"p999_ms", 0.999}};

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::send: return "send";
    case Mode::receive: return "receive";
    case Mode::mixed: return "mixed";
    case Mode::echo: return "echo";
  }
  return "";
}

std::string name_of(const Batch& batch) {
  return batch.min == batch.max ? std::to_string(batch.max)
                                : fmt::format("{}..{}", batch.min, batch.max);
}

double milliseconds(Latencies::Time time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// The requests of all kinds; its messages are those that came through to the
// end: deleted, or sent where nobody receives.
Tally total_of(const Counts& counts, Mode mode) {
  Tally total;
  for (const Tally& tally : counts.of) total.add(tally);
  const bool received = mode == Mode::receive || mode == Mode::mixed;
  total.messages = counts.of[received ? delete_kind : send_kind].messages;
  return total;
}

std::uint64_t errors_of(const Counts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [code, count] : counts.errors) sum += count;
  return sum;
}

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

void add_tally(JsonLine& line, const Tally& tally, double seconds) {
  line.add("messages", tally.messages);
  line.add("requests", tally.requests);
  line.add("messages_per_second", per_second(tally.messages, seconds), 1);
  line.add("requests_per_second", per_second(tally.requests, seconds), 1);
  for (const auto& [name, quantile] : quantiles)
    line.add(name, milliseconds(tally.latencies.quantile(quantile)), 3);
  line.add("max_ms", milliseconds(tally.latencies.max()), 3);
}

void print_tally(const char* name, const Tally& tally, double seconds) {
  std::string row =
      fmt::format("{:<8} {:>11.0f} {:>11.0f}", name, per_second(tally.messages, seconds),
                  per_second(tally.requests, seconds));
  for (const auto& quantile : quantiles)
    row += fmt::format(" {:>8.2f}", milliseconds(tally.latencies.quantile(quantile.second)));
  std::printf("%s %8.2f\n", row.c_str(), milliseconds(tally.latencies.max()));
}

void print_count(const char* what, std::uint64_t count) {
  if (count > 0) std::printf("%s: %llu\n", what, static_cast<unsigned long long>(count));
}

}  // namespace

void print_report(const LoadPlan& plan, const BenchSettings& settings, const BenchResult& result) {
  const Counts& counts = result.counts;
  std::printf("%s: %u connections, batches of %s, %zu bytes, %.1f s\n", name_of(settings.mode),
              plan.connections, name_of(settings.batch).c_str(), plan.size, counts.seconds);
  std::printf("%-8s %11s %11s %8s %8s %8s %8s %8s\n", "", "messages/s", "requests/s", "p50 ms",
              "p95 ms", "p99 ms", "p99.9 ms", "max ms");
  for (int kind = 0; kind < kinds; ++kind)
    if (counts.of[kind].requests > 0)
      print_tally(kind_names[kind], counts.of[kind], counts.seconds);
  print_tally("all", total_of(counts, settings.mode), counts.seconds);
  for (const auto& [code, count] : counts.errors)
    print_count(fmt::format("error {}", code).c_str(), count);
  print_count("requests whose time came while all connections were busy", counts.unsent);
  print_count("receives without a message", counts.empty_receives);
  print_count("messages received again", counts.duplicates);
  print_count("messages that were not sent", counts.foreign);
  if (plan.fifo) print_count("messages out of order", counts.disorder);
  if (result.reported && *result.reported != result.expected)
    std::printf("WRONG: %llu messages should be left, the server has %llu\n",
                static_cast<unsigned long long>(result.expected),
                static_cast<unsigned long long>(*result.reported));
}

void print_json(const LoadPlan& plan, const BenchSettings& settings, const BenchResult& result) {
  const Counts& counts = result.counts;
  JsonLine line;
  line.add("mode", name_of(settings.mode)).add("endpoint", plan.target.url);
  line.add("connections", std::uint64_t{plan.connections});
  line.add("threads", std::uint64_t{plan.threads});
  line.add("batch", name_of(settings.batch)).add("size", std::uint64_t{plan.size});
  line.add("queues", std::uint64_t{settings.queues}).add("fifo", plan.fifo);
  line.add("signed", plan.key.has_value()).add("prefetch", plan.prefetch);
  if (settings.rate) line.add("rate", *settings.rate, 1);
  line.add("seconds", counts.seconds, 3);
  add_tally(line, total_of(counts, settings.mode), counts.seconds);
  line.add("errors", errors_of(counts));
  JsonLine errors;
  for (const auto& [code, count] : counts.errors) errors.add(code, count);
  line.add("errors_by_code", errors);
  for (int kind = 0; kind < kinds; ++kind) {
    JsonLine object;
    add_tally(object, counts.of[kind], counts.seconds);
    if (counts.of[kind].requests > 0) line.add(kind_names[kind], object);
  }
  line.add("unsent", counts.unsent).add("empty_receives", counts.empty_receives);
  line.add("duplicates", counts.duplicates).add("foreign", counts.foreign);
  line.add("out_of_order", plan.fifo ? counts.disorder : 0);
  line.add("messages_left", result.expected);
  if (result.reported) line.add("messages_left_reported", *result.reported);
  line.add("right", !result.wrong(plan.fifo));
  std::puts(line.text().c_str());
}

}  // namespace canopy::tools
