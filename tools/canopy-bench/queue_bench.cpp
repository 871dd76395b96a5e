#include "canopy-bench/queue_bench.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_to.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "canopy-bench/load.hpp"
#include "canopy-bench/sqs_request.hpp"

namespace canopy::tools {

namespace {

namespace json = boost::json;

constexpr std::uint64_t usual_backlog_max = 100'000;
constexpr double filling_seconds_max = 3'600;
// What is left in the end is not worth filling the queues for.
constexpr double round_seconds_min = 0.001;
// Longer than any run leaves a message with its receiver.
constexpr const char* visibility_seconds = "3600";
// In mixed mode receivers wait for messages as real ones do.
constexpr std::chrono::seconds long_poll{1};
// A server may count its messages with a delay.
constexpr auto count_patience = std::chrono::seconds(2);

json::object call_json(const LoadPlan& plan, std::string_view action, const json::object& body) {
  const std::string answer = call(plan.target, plan.key, action, json::serialize(body));
  return answer.empty() ? json::object() : json::parse(answer).as_object();
}

// Its queues, for as long as it lives.
class Queues {
 public:
  // By way of the other constructor: so those made before one that fails are deleted.
  Queues(const LoadPlan& plan, unsigned count) : Queues(plan) {
    json::object attributes{{"VisibilityTimeout", visibility_seconds}};
    if (plan.fifo) attributes["FifoQueue"] = "true";
    for (unsigned i = 0; i < count; ++i) {
      const std::string name =
          fmt::format("canopy-bench-{}-{}{}", ::getpid(), i, plan.fifo ? ".fifo" : "");
      const auto answer =
          call_json(plan, "CreateQueue", {{"QueueName", name}, {"Attributes", attributes}});
      urls_.push_back(json::value_to<std::string>(answer.at("QueueUrl")));
    }
  }
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  ~Queues() {
    for (const std::string& url : urls_) try {
        call_json(plan_, "DeleteQueue", {{"QueueUrl", url}});
      } catch (const std::exception&) {
        // The server is gone, and what went wrong before is being said.
      }
  }

  const std::vector<std::string>& urls() const { return urls_; }

  // Nothing if the server does not say.
  std::optional<std::uint64_t> messages() const {
    std::uint64_t sum = 0;
    for (const std::string& url : urls_) {
      const auto answer = call_json(plan_, "GetQueueAttributes",
                                    {{"QueueUrl", url}, {"AttributeNames", json::array{"All"}}});
      const auto* attributes = answer.if_contains("Attributes");
      for (const char* kind : {"", "NotVisible", "Delayed"}) {
        const auto* count = attributes ? attributes->as_object().if_contains(
                                             fmt::format("ApproximateNumberOfMessages{}", kind))
                                       : nullptr;
        if (!count) return std::nullopt;
        sum += std::stoull(json::value_to<std::string>(*count));
      }
    }
    return sum;
  }

 private:
  explicit Queues(const LoadPlan& plan) : plan_(plan) {}

  const LoadPlan& plan_;
  std::vector<std::string> urls_;
};

class Bench {
 public:
  Bench(const LoadPlan& plan, const BenchSettings& settings)
      : plan_(plan), settings_(settings), load_(plan) {
    phase_.mode = settings.mode;
    phase_.batch = settings.batch;
    phase_.rate = settings.rate;
    load_.ledger().allow(unlimited);
  }

  BenchResult run() {
    if (settings_.blocked > 0) block_head();
    if (settings_.mode == Mode::receive) {
      receive_rounds();
    } else {
      if (settings_.mode == Mode::mixed) {
        phase_.wait = long_poll;
        if (settings_.backlog) fill();
        load_.ledger().allow(unlimited);
      }
      load_.run("warming up", phase_, settings_.warm_up_seconds);
      measure(settings_.seconds);
    }
    result_.expected = blocked_ + load_.ledger().sent() - load_.ledger().removed();
    return std::move(result_);
  }

 private:
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;

  // Filled again whenever it is empty, with the clock stopped.
  void receive_rounds() {
    phase_.until_empty = true;
    for (double left = settings_.seconds; left > round_seconds_min && !load_.interrupted();
         left = settings_.seconds - result_.counts.seconds) {
      fill();
      if (load_.ledger().empty()) throw std::runtime_error("no message could be sent");
      measure(left);
    }
  }

  void fill() {
    load_.ledger().allow(static_cast<std::int64_t>(settings_.backlog.value_or(usual_backlog_max)));
    load_.run("filling", filling(), settings_.backlog ? filling_seconds_max : settings_.seconds);
  }

  // A group at the head of the queues that waits for its first message, which nobody deletes.
  void block_head() {
    Phase phase = filling();
    phase.one_group = true;
    load_.ledger().allow(static_cast<std::int64_t>(settings_.blocked));
    load_.run("filling a blocked group", phase, filling_seconds_max);
    for (const std::string& url : plan_.queues)
      call_json(plan_, "ReceiveMessage", {{"QueueUrl", url}, {"MaxNumberOfMessages", 1}});
    blocked_ = load_.ledger().sent();
    load_.ledger().set_aside();
  }

  Phase filling() const {
    Phase phase;
    phase.mode = Mode::send;
    phase.until_sent = true;
    const auto fitting = static_cast<unsigned>(batch_bytes_max / plan_.size);
    phase.batch.min = phase.batch.max = std::clamp(fitting, 1U, batch_size_max);
    return phase;
  }

  void measure(double seconds_max) {
    result_.counts.append(load_.run("measuring", phase_, seconds_max));
  }

  const LoadPlan& plan_;
  const BenchSettings& settings_;
  Load load_;
  Phase phase_;
  std::uint64_t blocked_ = 0;
  BenchResult result_;
};

// Looks until they are as many as expected, for a while.
std::optional<std::uint64_t> count_messages(const Queues& queues, std::uint64_t expected) {
  const auto limit = Clock::now() + count_patience;
  for (;;) {
    const auto messages = queues.messages();
    if (!messages || *messages == expected || Clock::now() > limit) return messages;
  }
}

}  // namespace

bool BenchResult::wrong(bool fifo) const {
  const bool lost_or_invented = reported && *reported != expected;
  return lost_or_invented || counts.foreign > 0 ||
         (fifo && (counts.duplicates > 0 || counts.disorder > 0));
}

BenchResult run_queue_bench(LoadPlan plan, const BenchSettings& settings) {
  const Queues queues(plan, settings.queues);
  plan.queues = queues.urls();
  BenchResult result = Bench(plan, settings).run();
  result.reported = count_messages(queues, result.expected);
  return result;
}

BenchResult run_echo_bench(const LoadPlan& plan, const BenchSettings& settings) {
  return Bench(plan, settings).run();
}

}  // namespace canopy::tools
