#include "node/queue_host.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/system/system_error.hpp>
#include <fmt/format.h>

#include <canopy/error.hpp>

#include "base/assert.hpp"
#include "net/log.hpp"
#include "store/damage.hpp"

namespace canopy::node {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds retry_pause{100};
constexpr milliseconds recovery_pause{1000};
// Of one batch: the store takes it whole, and the answers wait for it.
constexpr std::size_t batch_commands_max = 4'096;

template <typename T, typename... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

// Of what clients ask for: commands that leave more in the store than before.
bool takes_room(const queue::Command& command) {
  return std::visit(
      [](const auto& body) {
        using T = std::decay_t<decltype(body)>;
        return is_one_of<T, queue::command::Send, queue::command::CreateQueue,
                         queue::command::SetAttributes, queue::command::SetTags,
                         queue::command::AddPermission, queue::command::AddBridge,
                         queue::command::SendMulticasts>;
      },
      command.body);
}

// The queue that this action would have made.
const queue::QueueName* made_by_use(const queue::Action& action) {
  return std::visit(
      [](const auto& used) -> const queue::QueueName* {
        using T = std::decay_t<decltype(used)>;
        if constexpr (is_one_of<T, queue::SendMessage, queue::SendMessageBatch,
                                queue::ReceiveMessage, queue::PeekMessage, queue::GetQueueUrl,
                                queue::GetQueueAttributes>)
          return &used.queue;
        else
          return nullptr;
      },
      action);
}

}  // namespace

// The creation of a queue for a request, which comes again after it.
class QueueHost::FirstUse final : public gateway::Call {
 public:
  FirstUse(QueueHost& host, gateway::Ask request) : host_(host), request_(std::move(request)) {}
  bool cancelled() const noexcept override { return false; }
  void done(queue::Outcome outcome) override {
    if (outcome.has_error()) return request_.call->done(outcome.error());
    host_.again_.push_back(std::move(request_));
  }

 private:
  QueueHost& host_;
  gateway::Ask request_;
};

QueueHost::QueueHost(QueueHostOptions options) : options_(std::move(options)) {}
QueueHost::~QueueHost() = default;

// --- Start-up ---

void QueueHost::make_machine() {
  queue::MachineConfig config = options_.machine;
  config.origin.incarnation += counters_.restarts;
  config.seed += counters_.restarts;
  machine_ = std::make_unique<queue::Machine>(config, *disk_.store);
}

void QueueHost::start(store::Opened opened) {
  disk_ = std::move(opened);
  make_machine();
  replay();
  persisted_ = disk_.log->last();
}

void QueueHost::replay() {
  std::uint64_t last = 0;
  std::uint64_t replayed = 0;
  std::size_t count = 0;
  const auto write = [&] {
    if (count == 0) return;
    machine_->finish(batch_);
    if (const auto error = disk_.store->apply(batch_, last))
      throw store::Damage("the queue store", "cannot be written to: " + error.message());
    batch_.clear();
    replayed += std::exchange(count, 0);
  };
  store::replay(*disk_.store, *disk_.log, [&](std::uint64_t index, std::string_view record) {
    auto command = queue::decode_command(Buffer::copy_of(record));
    if (!command)
      throw store::Damage(fmt::format("record {} of the log", index),
                          "is no command that this version knows");
    machine_->apply(*std::move(command), index, batch_);
    last = index;
    if (++count == batch_commands_max) write();
  });
  write();
  if (replayed > 0) log::info("queues: {} commands of the log were applied again", replayed);
}

WallTime QueueHost::time() const { return machine_->now(); }

void QueueHost::begin(WallTime now) {
  now_ = now;
  begun_ = guarded([&] { machine_->begin(now, *this); });
  settle_refused();
}

// --- Requests ---

void QueueHost::take(gateway::Ask request) {
  if (!ready()) return refuse(request.call);
  if (options_.create_on_first_use && creates_first(request)) return;
  prepare(request.caller, std::move(request.action), std::move(request.call));
}

void QueueHost::prepare(const queue::Caller& caller, queue::Action action, CallPtr call) {
  if (!ready()) return refuse(call);  // the request before this one may have lost the machine
  const queue::Token token = ++last_token_;
  std::optional<queue::Prepared> prepared;
  if (!guarded(
          [&] { prepared = machine_->prepare(std::move(action), caller, now_, token, *this); }))
    return refuse(call);
  if (auto* outcome = std::get_if<queue::Outcome>(&*prepared)) {
    call->done(std::move(*outcome));
  } else if (auto* command = std::get_if<queue::Command>(&*prepared)) {
    put(std::move(*command), std::move(call));
  } else {
    tokens_.emplace(call.get(), token);
    waiting_.emplace(token, std::move(call));
  }
  settle_refused();
}

bool QueueHost::creates_first(gateway::Ask& request) {
  const queue::QueueName* name = made_by_use(request.action);
  if (name == nullptr || request.caller.account != name->account) return false;
  bool missing = false;
  guarded([&] {
    const auto found =
        machine_->prepare(queue::GetQueueUrl{*name}, request.caller, now_, ++last_token_, *this);
    const auto* outcome = std::get_if<queue::Outcome>(&found);
    missing = outcome != nullptr && outcome->has_error() &&
              outcome->error().code == queue::ErrorCode::queue_does_not_exist;
  });
  if (!missing || !ready()) return false;
  queue::CreateQueue create{*name, {}, {}};
  if (name->name.ends_with(".fifo")) create.attributes["FifoQueue"] = "true";
  const queue::Caller caller = request.caller;
  prepare(caller, std::move(create), std::make_shared<FirstUse>(*this, std::move(request)));
  return true;
}

QueueHost::CallPtr QueueHost::forget(queue::Token token) {
  auto node = waiting_.extract(token);
  if (node.empty()) return nullptr;
  tokens_.erase(node.mapped().get());
  return std::move(node.mapped());
}

void QueueHost::cancel(const gateway::Call* call) {
  const auto found = tokens_.find(call);
  if (found == tokens_.end()) return;
  const queue::Token token = found->second;
  forget(token);
  if (machine_ && !batch_waits_) machine_->cancel(token);
}

void QueueHost::give_back(const queue::QueueName& queue, const std::vector<std::string>& handles) {
  if (!ready()) return;  // their visibility timeout gives them back
  guarded([&] { machine_->give_back(queue, handles, now_, *this); });
  settle_refused();
}

void QueueHost::refuse(const CallPtr& call) {
  if (!call) return;
  ++counters_.refused;
  call->done(unavailable());
}

// With the reason, which /health tells as well.
queue::Error QueueHost::unavailable() const {
  const std::string why = problem();
  return {queue::ErrorCode::service_unavailable,
          fmt::format("The service cannot do this at the moment{}{}. Try again.",
                      why.empty() ? "" : ": ", why)};
}

// --- queue::Host ---

void QueueHost::submit(queue::Command command) { put(std::move(command), nullptr); }

void QueueHost::submit(queue::Command command, queue::Token token) {
  put(std::move(command), forget(token));
}

void QueueHost::answer(queue::Token token, queue::Outcome outcome) {
  if (const CallPtr call = forget(token)) call->done(std::move(outcome));
}

bool QueueHost::present(queue::Token token) {
  const auto found = waiting_.find(token);
  return found != waiting_.end() && !found->second->cancelled();
}

// --- The log ---

bool QueueHost::refuses(const queue::Command& command) const {
  return !store_problem_.empty() || (!room_problem_.empty() && takes_room(command));
}

// What comes after a refused command was prepared as if that were on its way.
void QueueHost::put(queue::Command command, CallPtr call) {
  if (refused_.empty() && !refuses(command)) {
    Buffer record = queue::encode(command);
    const auto index = disk_.log->submit(record);
    if (index.has_value()) {
      pending_.push_back({*index, std::move(command), std::move(record), std::move(call)});
      return;
    }
    look_at_log();
  }
  refuse(call);
  refused_.push_back({0, std::move(command), {}, nullptr});
}

// Not from within the machine, which hands out commands while it walks its own lists.
void QueueHost::settle_refused() {
  for (const Pending& refused : std::exchange(refused_, {})) {
    if (!refused.foreign && machine_) guarded([&] { machine_->abandon(refused.command); });
  }
}

void QueueHost::persisted(std::uint64_t index) { persisted_ = index; }

void QueueHost::failed(std::uint64_t first, boost::system::error_code error) {
  auto at = pending_.begin();
  while (at != pending_.end() && at->index < first) ++at;
  for (auto lost = at; lost != pending_.end(); ++lost) {
    refuse(std::exchange(lost->call, nullptr));
    refused_.push_back(std::move(*lost));
  }
  pending_.erase(at, pending_.end());
  log::error("queues: the log cannot be written: {}", error.message());
  look_at_log();
}

void QueueHost::look_at_log() {
  const boost::system::error_code fault = disk_.log->fault();
  if (fault && !log_fault_)
    log::error("queues: changes are refused until the log can be written again: {}",
               fault.message());
  if (!fault && log_fault_) log::info("queues: the log can be written again");
  log_fault_ = fault;
}

// --- Applying ---

void QueueHost::apply(WallTime now) {
  now_ = now;
  if (log_fault_) look_at_log();
  if (batch_waits_ && now_ >= retry_) write_batch();
  if (batch_waits_) return;
  if (!machine_) recover();
  if (!machine_) return;
  settle_refused();
  apply_persisted();
  // After what the machine before it left in the log.
  if (machine_ && !begun_ && pending_.empty() && !batch_waits_) {
    begin(now_);
    if (begun_) {
      problem_.clear();
      log::info("queues: they are served again");
    }
  }
}

void QueueHost::apply_persisted() {
  while (machine_ && !batch_waits_) {
    std::size_t count = 0;
    while (count < std::min(pending_.size(), batch_commands_max) &&
           pending_[count].index <= persisted_)
      ++count;
    if (count == 0) return;
    if (!guarded([&] { apply_first(count); })) return;
    write_batch();
  }
}

void QueueHost::apply_first(std::size_t count) {
  outcomes_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Pending& pending = pending_[i];
    if (pending.foreign) pending.command = queue::decode_command(pending.record).value();
    unflushed_bytes_ += pending.record.size();
    outcomes_.push_back(machine_->apply(std::move(pending.command), pending.index, batch_));
  }
  machine_->finish(batch_);
}

// With the outcomes of as many commands as the batch has.
void QueueHost::write_batch() {
  const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(outcomes_.size());
  if (const auto error = disk_.store->apply(batch_, std::prev(end)->index)) {
    problem_ = "the store cannot be written: " + error.message();
    if (!std::exchange(batch_waits_, true))
      log::error("queues: {}: nothing is served until it can", problem_);
    retry_ = now_ + retry_pause;
    return;
  }
  batch_waits_ = false;
  if (begun_) problem_.clear();
  ++counters_.batches;
  counters_.commands += outcomes_.size();
  for (std::size_t i = 0; i < outcomes_.size(); ++i)
    if (pending_[i].call) pending_[i].call->done(std::move(outcomes_[i]));
  pending_.erase(pending_.begin(), end);
  outcomes_.clear();
  batch_.clear();
  tick_due_ = true;
  tidy_disk();
}

void QueueHost::tidy_disk() {
  const std::uint64_t kept = disk_.store->persisted();
  if (kept > cut_) disk_.log->cut_before(kept + 1);
  cut_ = std::max(cut_, kept);
  if (unflushed_bytes_ < options_.flush_bytes) return;
  unflushed_bytes_ = 0;
  disk_.store->flush();
}

// --- Turns ---

void QueueHost::finish_turn() {
  if (!ready()) return;
  for (gateway::Ask& request : std::exchange(again_, {}))
    prepare(request.caller, std::move(request.action), std::move(request.call));
  if (!ready()) return;
  const auto next = machine_->next_deadline();
  const bool due = next && *next <= now_ && now_ >= retry_;
  if (!std::exchange(tick_due_, false) && !due) return;
  guarded([&] { machine_->tick(now_, *this); });
  if (!refused_.empty()) retry_ = now_ + retry_pause;
  settle_refused();
}

std::optional<WallTime> QueueHost::next_turn() const {
  if (!ready()) return std::max(retry_, now_ + retry_pause);
  const bool troubled = log_fault_.failed() || !store_problem_.empty();
  auto next = machine_->next_deadline();
  if (!again_.empty()) next = now_;
  // Else what is refused would be tried all the time.
  if (next) next = std::max(*next, retry_);
  if (troubled) next = std::min(next.value_or(now_ + retry_pause), now_ + retry_pause);
  return next;
}

std::string QueueHost::problem() const {
  if (!problem_.empty()) return problem_;
  if (log_fault_) return "the log cannot be written: " + log_fault_.message();
  if (!store_problem_.empty()) return store_problem_;
  return room_problem_;
}

void QueueHost::set_store_problem(std::string problem) {
  if (!problem.empty() && store_problem_.empty())
    log::error("queues: changes are refused: {}", problem);
  if (problem.empty() && !store_problem_.empty())
    log::info("queues: the store can be written again");
  store_problem_ = std::move(problem);
}

void QueueHost::set_room_problem(std::string problem) {
  if (!problem.empty() && room_problem_.empty()) log::error("queues: {}", problem);
  if (problem.empty() && !room_problem_.empty()) log::info("queues: there is room again");
  room_problem_ = std::move(problem);
}

void QueueHost::close() {
  for (auto& [token, call] : std::exchange(waiting_, {})) call->done(unavailable());
  tokens_.clear();
}

queue::Machine::Statistics QueueHost::statistics() const {
  return machine_ ? machine_->statistics() : queue::Machine::Statistics{};
}

// --- A store that cannot be read ---

template <class Use>
bool QueueHost::guarded(Use use) {
  try {
    use();
    return true;
  } catch (const boost::system::system_error& error) {
    lose_machine(error.what());
    return false;
  }
}

// The store's own words name the file.
std::string QueueHost::explain(const std::string& failure) const {
  const std::string why = disk_.store ? disk_.store->problem() : std::string();
  return why.empty() ? failure : why + " (canopyd --check-store tells more)";
}

// It may have stopped half way through a change.
void QueueHost::lose_machine(const std::string& reason) {
  problem_ = "the store cannot be read: " + explain(reason);
  log::error("queues: {}: nothing is served until it can", problem_);
  close();
  for (Pending& pending : pending_) {
    refuse(std::exchange(pending.call, nullptr));
    pending.foreign = true;
  }
  refused_.clear();
  outcomes_.clear();
  batch_.clear();
  machine_.reset();
  begun_ = false;
  ++counters_.restarts;
  retry_ = now_ + recovery_pause;
}

void QueueHost::recover() {
  if (now_ < retry_) return;
  guarded([&] { make_machine(); });
}

}  // namespace canopy::node
