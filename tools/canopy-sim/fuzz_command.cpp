#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/json_line.hpp"
#include "base/rare.hpp"
#include "canopy-sim/commands.hpp"
#include "canopy-sim/trace_file.hpp"
#include "common/progress_bar.hpp"
#include "sim/fuzz_run.hpp"

namespace canopy::tools {

namespace {

struct SeedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// "A..B", both included, or one seed.
bool parse_seeds(const std::string& text, SeedRange& range) {
  const auto dots = text.find("..");
  const std::string first = text.substr(0, dots);
  const std::string last = dots == std::string::npos ? first : text.substr(dots + 2);
  const auto number = [](const std::string& digits, std::uint64_t& value) {
    if (digits.empty() || digits.size() > 18) return false;
    if (digits.find_first_not_of("0123456789") != std::string::npos) return false;
    value = std::stoull(digits);
    return true;
  };
  return number(first, range.first) && number(last, range.last) && range.first <= range.last;
}

std::string command_line(const FuzzCommand& command, std::uint64_t seed) {
  return fmt::format("canopy-sim fuzz --seeds {0}..{0}{1}{2}", seed, command.hard ? " --hard" : "",
                     command.encode ? " --encode" : "");
}

// A failed assertion aborts: its seed is said first.
char abort_text[256];

void say_seed_and_abort(int /*signal*/) {
  std::size_t length = 0;
  while (length < sizeof abort_text && abort_text[length] != '\0') ++length;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, abort_text, length);
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void prepare_for_abort(const FuzzCommand& command, std::uint64_t seed) {
  const std::string text =
      fmt::format("seed {} aborts; again with: {}\n", seed, command_line(command, seed));
  text.copy(abort_text, sizeof abort_text - 1);
  abort_text[std::min(text.size(), sizeof abort_text - 1)] = '\0';
}

void print_failure(const FuzzCommand& command, std::uint64_t seed, const sim::Findings& findings) {
  std::fprintf(stderr, "seed %llu fails:\n", static_cast<unsigned long long>(seed));
  for (const std::string& finding : findings) std::fprintf(stderr, "  %s\n", finding.c_str());
  std::fprintf(stderr, "again with: %s\n", command_line(command, seed).c_str());
}

struct Totals {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  double virtual_seconds = 0;
  std::uint64_t ordered_deliveries = 0;
  std::uint64_t ordered_gaps = 0;
  std::uint64_t tracked_answers = 0;
  std::uint64_t tracked_complete = 0;
  std::uint64_t anycasts_taken = 0;
  std::uint64_t replies = 0;

  void add(const sim::FuzzOutcome& outcome) {
    ++seeds;
    events += outcome.events;
    virtual_seconds += std::chrono::duration<double>(outcome.virtual_time).count();
    ordered_deliveries += outcome.ordered_deliveries;
    ordered_gaps += outcome.ordered_gaps;
    tracked_answers += outcome.tracked_answers;
    tracked_complete += outcome.tracked_complete;
    anycasts_taken += outcome.anycasts_taken;
    replies += outcome.replies;
  }
};

void print_summary(const FuzzCommand& command, const Totals& totals, const std::uint64_t* failed) {
  if (!command.json) {
    if (failed == nullptr) {
      fmt::print(
          "{} seeds without a finding: {:.1f} virtual hours, {} events, {} messages and {} "
          "gaps in ordered groups, {} of {} tracked publishes complete, {} anycasts taken, {} "
          "replies to requests\n",
          totals.seeds, totals.virtual_seconds / 3600, totals.events, totals.ordered_deliveries,
          totals.ordered_gaps, totals.tracked_complete, totals.tracked_answers,
          totals.anycasts_taken, totals.replies);
    }
    return;
  }
  JsonLine line;
  line.add("seeds", totals.seeds)
      .add("events", totals.events)
      .add("virtual_seconds", totals.virtual_seconds, 3)
      .add("ordered_deliveries", totals.ordered_deliveries)
      .add("ordered_gaps", totals.ordered_gaps)
      .add("tracked_answers", totals.tracked_answers)
      .add("tracked_complete", totals.tracked_complete)
      .add("anycasts_taken", totals.anycasts_taken)
      .add("replies", totals.replies);
  if (failed != nullptr) line.add("failed_seed", *failed);
  std::puts(line.text().c_str());
}

// Whether all of them were taken.
bool judge_rare_branches(const FuzzCommand& command) {
  bool all = true;
  for (const RareBranch* branch : RareBranch::all()) {
    if (!command.json) fmt::print("{:>12}  {}\n", branch->times(), branch->what());
    if (branch->times() != 0) continue;
    all = false;
    fmt::print(stderr, "canopy-sim: never taken: {}\n", branch->what());
  }
  return all;
}

}  // namespace

int run(const FuzzCommand& command) {
  SeedRange range;
  if (!parse_seeds(command.seeds, range)) {
    std::fprintf(stderr, "canopy-sim: --seeds %s: give a range as 1..100, or one seed as 7\n",
                 command.seeds.c_str());
    return 2;
  }
  if (!command.trace.empty() && range.first != range.last) {
    std::fprintf(stderr, "canopy-sim: --trace is for one seed: give --seeds N..N\n");
    return 2;
  }
  TraceFile trace(command.trace);
  if (!trace.open()) return 2;
  std::signal(SIGABRT, say_seed_and_abort);
  ProgressBar bar;
  Totals totals;
  for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
    const double of_all = static_cast<double>(range.last - range.first + 1);
    bar.show("fuzzing", static_cast<double>(seed - range.first) / of_all);
    prepare_for_abort(command, seed);
    sim::FuzzOutcome outcome = sim::run_fuzz({seed, command.hard, command.encode, trace.stream()});
    if (command.twice && outcome.findings.empty()) {
      const auto again = sim::run_fuzz({seed, command.hard, command.encode, nullptr});
      if (again.trace_hash != outcome.trace_hash) {
        outcome.findings.emplace_back("a second run has another trace hash");
      }
    }
    totals.add(outcome);
    if (command.hashes) {
      bar.clear();
      std::printf("%llu %016llx\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(outcome.trace_hash));
    }
    if (outcome.findings.empty()) continue;
    bar.clear();
    print_failure(command, seed, outcome.findings);
    print_summary(command, totals, &seed);
    return 1;
  }
  bar.clear();
  print_summary(command, totals, nullptr);
  const bool reached = !command.rare || judge_rare_branches(command);
  return trace.close() && reached ? 0 : 1;
}

}  // namespace canopy::tools
