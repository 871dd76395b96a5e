// A storage loop for tests, in virtual time: a machine, its log and its store.
// Commands are applied when settle() says so; restart() makes a new machine from
// the store and the log.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "queue/machine.hpp"
#include "queue/test_store.hpp"

namespace canopy::queue {

inline const Caller owner{"000000000000", "user"};

inline QueueName named(const std::string& name) { return {"us-east-1", owner.account, name}; }

using Texts = std::vector<std::string>;

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline bool has_all(const Texts& texts, const Texts& wanted) {
  return std::ranges::all_of(wanted, [&texts](const std::string& text) {
    return std::ranges::find(texts, text) != texts.end();
  });
}

inline Buffer text(std::string_view bytes) { return Buffer::copy_of(bytes); }

class Loop final : public Host {
 public:
  explicit Loop(Limits limits = {}) : limits_(limits) { start(); }

  // --- Asking. ---

  void put(Token token, Outcome outcome) {
    answered.push_back(token);
    answers.emplace(token, std::move(outcome));
  }

  // Prepares, and returns the token by which the answer will be found.
  Token begin(Action action, const Caller& caller = owner) {
    const Token token = ++last_token_;
    auto prepared = machine->prepare(std::move(action), caller, now(), token, *this);
    if (auto* outcome = std::get_if<Outcome>(&prepared)) {
      put(token, std::move(*outcome));
    } else if (auto* command = std::get_if<Command>(&prepared)) {
      pending.emplace_back(std::move(*command), token);
    }
    return token;
  }

  // Prepares, applies, and gives the answer; nothing if the request waits.
  std::optional<Outcome> try_ask(Action action, const Caller& caller = owner) {
    const Token token = begin(std::move(action), caller);
    settle();
    return take(token);
  }

  std::optional<Outcome> take(Token token) {
    auto node = answers.extract(token);
    return node ? std::optional(std::move(node.mapped())) : std::nullopt;
  }

  template <typename T>
  T ask(Action action, const Caller& caller = owner) {
    auto outcome = try_ask(std::move(action), caller);
    if (!outcome) throw std::runtime_error("no answer");
    return std::get<T>(std::move(outcome->value()));
  }

  Error fails(Action action, const Caller& caller = owner) {
    auto outcome = try_ask(std::move(action), caller);
    if (!outcome || *outcome) throw std::runtime_error("no error");
    return outcome->error();
  }

  // --- Shortcuts. ---

  void create(const std::string& name, Attributes attributes = {}) {
    if (name.ends_with(".fifo")) attributes.emplace("FifoQueue", "true");
    ask<CreateQueueResult>(CreateQueue{named(name), std::move(attributes), {}});
  }

  Sent send(const std::string& queue, std::string_view body, std::optional<std::string> group = {},
            std::optional<std::int64_t> delay = {}) {
    SendEntry entry;
    entry.body = text(body);
    entry.group_id = std::move(group);
    entry.delay_seconds = delay;
    if (queue.ends_with(".fifo")) entry.deduplication_id = "d" + std::to_string(++last_id_);
    return ask<Sent>(SendMessage{named(queue), std::move(entry)});
  }

  static ReceiveMessage receiving(const std::string& queue, std::int64_t max = 10,
                                  std::optional<std::int64_t> visibility = {},
                                  std::int64_t wait = 0) {
    ReceiveMessage action;
    action.queue = named(queue);
    action.messages_max = max;
    action.visibility_timeout = visibility;
    action.wait_time_seconds = wait;
    action.system_attribute_names = {"All"};
    action.message_attribute_names = {"All"};
    return action;
  }

  std::vector<Message> receive(const std::string& queue, std::int64_t max = 10,
                               std::optional<std::int64_t> visibility = {}) {
    const Token token = begin(receiving(queue, max, visibility));
    settle();
    auto outcome = take(token);
    // One that waits for its dead letters.
    for (int i = 0; i < 100 && !outcome; ++i) {
      advance(20);
      outcome = take(token);
    }
    return std::get<ReceiveMessageResult>(std::move(outcome->value())).messages;
  }

  std::vector<std::string> bodies(const std::string& queue, std::int64_t max = 10,
                                  std::optional<std::int64_t> visibility = {}) {
    std::vector<std::string> all;
    for (const Message& message : receive(queue, max, visibility)) {
      all.emplace_back(message.body.view());
    }
    return all;
  }

  void remove(const std::string& queue, const std::string& handle) {
    ask<Done>(DeleteMessage{named(queue), handle});
  }

  std::string attribute(const std::string& queue, const std::string& name) {
    auto result = ask<GetQueueAttributesResult>(GetQueueAttributes{named(queue), {name}});
    return result.attributes[name];
  }

  // Visible, in flight, delayed.
  std::vector<std::string> counts(const std::string& queue) {
    return {attribute(queue, "ApproximateNumberOfMessages"),
            attribute(queue, "ApproximateNumberOfMessagesNotVisible"),
            attribute(queue, "ApproximateNumberOfMessagesDelayed")};
  }

  // --- The loop. ---

  WallTime now() const { return WallTime(std::chrono::milliseconds(time)); }

  // Applies what is pending: one batch.
  void apply_pending() {
    if (pending.empty()) return;
    store::Batch batch;
    std::vector<std::pair<Token, Outcome>> outcomes;
    for (auto& [command, token] : std::exchange(pending, {})) {
      log.push_back(encode(command));
      Outcome outcome = machine->apply(std::move(command), log.size(), batch);
      if (token) outcomes.emplace_back(*token, std::move(outcome));
    }
    machine->finish(batch);
    store->apply(batch, log.size());
    for (auto& [token, outcome] : outcomes) put(token, std::move(outcome));
  }

  void settle() {
    for (int rounds = 0; rounds < 10'000; ++rounds) {
      apply_pending();
      machine->tick(now(), *this);
      const auto next = machine->next_deadline();
      if (pending.empty() && (!next || *next > now())) return;
    }
    throw std::runtime_error("does not come to rest");
  }

  void advance(Millis by) {
    time += by;
    settle();
  }

  // Everything that was pending fails.
  void fail_pending() {
    auto failed = std::exchange(pending, {});
    for (auto& [command, token] : failed) {
      machine->abandon(command);
      if (token) put(*token, Error{ErrorCode::service_unavailable, "disk"});
    }
  }

  // As if the process had ended. `snapshot`: what the store kept of it, with the
  // rest in the log.
  void restart(const TestStore* snapshot = nullptr) {
    pending.clear();
    if (snapshot != nullptr) *store = *snapshot;
    ++incarnation_;
    start();
  }

  void start() {
    MachineConfig config;
    config.limits = limits_;
    config.origin = {1, incarnation_};
    config.fresh_key.fill('k');
    config.seed = incarnation_;
    machine = std::make_unique<Machine>(config, *store);
    if (store->applied() < log.size()) {
      store::Batch batch;
      for (std::uint64_t index = store->applied(); index < log.size(); ++index) {
        machine->apply(decode_command(log[index]).value(), index + 1, batch);
      }
      machine->finish(batch);
      store->apply(batch, log.size());
    }
    machine->begin(now(), *this);
    settle();
  }

  // --- Host. ---

  void submit(Command command) override { pending.emplace_back(std::move(command), std::nullopt); }
  void submit(Command command, Token token) override {
    pending.emplace_back(std::move(command), token);
  }
  void answer(Token token, Outcome outcome) override { put(token, std::move(outcome)); }
  bool present(Token token) override { return !absent.contains(token); }

  Millis time = 1'700'000'000'000;
  std::unique_ptr<TestStore> store = std::make_unique<TestStore>();
  std::vector<Buffer> log;
  std::unique_ptr<Machine> machine;
  std::deque<std::pair<Command, std::optional<Token>>> pending;
  std::map<Token, Outcome> answers;
  std::vector<Token> answered;  // in the order of the answers
  std::set<Token> absent;

 private:
  Limits limits_;
  std::uint64_t incarnation_ = 1;
  Token last_token_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace canopy::queue
