#include "queue/machine.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "queue/administration.hpp"
#include "queue/bridging.hpp"
#include "queue/housekeeping.hpp"
#include "queue/keys.hpp"
#include "queue/move_tasks.hpp"
#include "queue/moving.hpp"
#include "queue/receiving.hpp"
#include "queue/removing.hpp"
#include "queue/sending.hpp"

namespace canopy::queue {

namespace {

template <typename T, typename... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

Millis millis(WallTime time) { return time.time_since_epoch().count(); }

}  // namespace

struct Machine::Parts {
  Parts(MachineConfig config, const store::Reader& reader) : state(std::move(config), reader) {}

  Outcome begin_term(const Command& command, const command::Begin& begin) {
    ++state.service.term;
    if (state.service.key_id == 0) {
      state.service.key_id = 1;
      state.service.key = begin.secret;
    }
    if (command.origin == state.config.origin && leads) {
      state.term = state.service.term;
      receiving.wake_all();
    }
    return Done{};
  }

  State state;
  Administration administration{state};
  Sending sending{state};
  Moving moving{state, sending};
  Bridging bridging{state, sending};
  Receiving receiving{state, moving};
  Removing removing{state};
  MoveTasks move_tasks{state, moving};
  Housekeeping housekeeping{state};
  bool leads = false;
  bool in_batch = false;
  std::uint64_t commands = 0;
  std::uint64_t retries = 0;
};

Machine::Machine(MachineConfig config, const store::Reader& reader)
    : parts_(std::make_unique<Parts>(std::move(config), reader)) {}

Machine::~Machine() = default;

void Machine::begin(WallTime now, Host& host) {
  parts_->leads = true;
  parts_->state.advance(millis(now));
  parts_->moving.start();
  parts_->move_tasks.start();
  parts_->state.emit(command::Begin{parts_->state.config.fresh_key});
  hand_out(host);
}

void Machine::hand_out(Host& host) {
  State& state = parts_->state;
  for (Command& command : std::exchange(state.own, {})) {
    host.submit(state.hand_out(std::move(command)));
  }
}

// --- Requests. ---

Prepared Machine::prepare(Action action, const Caller& caller, WallTime now, Token token,
                          Host& host) {
  State& state = parts_->state;
  state.advance(millis(now));
  auto prepared = std::visit(
      [&](auto& request) -> Prepared {
        using T = std::decay_t<decltype(request)>;
        if constexpr (std::is_same_v<T, ReceiveMessage>) {
          return parts_->receiving.prepare(std::move(request), caller, token);
        } else if constexpr (std::is_same_v<T, PeekMessage>) {
          return parts_->receiving.peek(request, caller);
        } else if constexpr (is_one_of<T, SendMessage, SendMessageBatch>) {
          return parts_->sending.prepare(std::move(request), caller);
        } else if constexpr (is_one_of<T, DeleteMessage, DeleteMessageBatch,
                                       ChangeMessageVisibility, ChangeMessageVisibilityBatch>) {
          return parts_->removing.prepare(std::move(request), caller);
        } else if constexpr (is_one_of<T, StartMessageMoveTask, CancelMessageMoveTask>) {
          return parts_->move_tasks.prepare(std::move(request), caller);
        } else if constexpr (std::is_same_v<T, ListMessageMoveTasks>) {
          return parts_->move_tasks.answer(request, caller);
        } else if constexpr (is_one_of<T, AddBridge, RemoveBridge, SendMulticasts>) {
          return parts_->bridging.prepare(std::move(request), caller);
        } else if constexpr (std::is_same_v<T, ListBridges>) {
          return parts_->bridging.answer(request);
        } else if constexpr (is_one_of<T, GetQueueUrl, ListQueues, GetQueueAttributes,
                                       ListQueueTags, ListDeadLetterSourceQueues>) {
          return parts_->administration.answer(request, caller);
        } else {
          return parts_->administration.prepare(std::move(request), caller);
        }
      },
      action);
  hand_out(host);
  if (auto* command = std::get_if<Command>(&prepared)) {
    return state.hand_out(std::move(*command));
  }
  return prepared;
}

void Machine::cancel(Token token) { parts_->state.waiters.cancel(token); }

void Machine::give_back(const QueueName& queue, const std::vector<std::string>& handles,
                        WallTime now, Host& host) {
  parts_->state.advance(millis(now));
  parts_->receiving.give_back(queue, handles);
  hand_out(host);
}

// --- Commands. ---

Outcome Machine::apply(Command command, std::uint64_t, store::Batch& batch) {
  State& state = parts_->state;
  if (!parts_->in_batch) state.tx.begin(batch);
  parts_->in_batch = true;
  if (!state.service.take(command)) {
    ++parts_->retries;
    return Done{};
  }
  ++parts_->commands;
  state.advance(command.time);
  Outcome outcome = apply_body(command);
  state.service.time = std::max(state.service.time, command.time);
  return outcome;
}

Outcome Machine::apply_body(Command& command) {
  return std::visit(
      [&](auto& body) -> Outcome {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, command::Begin>) {
          return parts_->begin_term(command, body);
        } else if constexpr (std::is_same_v<T, command::Send>) {
          return parts_->sending.apply(command, body);
        } else if constexpr (std::is_same_v<T, command::Receive>) {
          return parts_->receiving.apply(command, body);
        } else if constexpr (is_one_of<T, command::Remove, command::SetVisibility>) {
          return parts_->removing.apply(command, body);
        } else if constexpr (std::is_same_v<T, command::NoteReceives>) {
          parts_->receiving.apply(body);
          return Done{};
        } else if constexpr (std::is_same_v<T, command::PlaceGroup>) {
          parts_->receiving.apply(command, body);
          return Done{};
        } else if constexpr (std::is_same_v<T, command::MoveOut>) {
          parts_->move_tasks.moved(body, parts_->moving.apply(command, body));
          return Done{};
        } else if constexpr (std::is_same_v<T, command::Deliver>) {
          parts_->moving.apply(command, body);
          return Done{};
        } else if constexpr (std::is_same_v<T, command::Delivered>) {
          parts_->moving.apply(body);
          return Done{};
        } else if constexpr (std::is_same_v<T, command::Housekeeping>) {
          parts_->housekeeping.apply(command, body);
          return Done{};
        } else if constexpr (is_one_of<T, command::StartTask, command::EndTask>) {
          return parts_->move_tasks.apply(command, body);
        } else if constexpr (is_one_of<T, command::AddBridge, command::RemoveBridge,
                                       command::SendMulticasts>) {
          return parts_->bridging.apply(command, body);
        } else if constexpr (std::is_same_v<T, command::DeleteQueue>) {
          parts_->bridging.queue_goes(body.queue);
          return parts_->administration.apply(command, body);
        } else {
          return parts_->administration.apply(command, body);
        }
      },
      command.body);
}

void Machine::finish(store::Batch& batch) {
  State& state = parts_->state;
  if (!parts_->in_batch) state.tx.begin(batch);
  state.catalogue.write_counters();
  state.tx.put_unread(keys::of(keys::service), encode(state.service));
  state.tx.end();
  parts_->in_batch = false;
}

void Machine::abandon(const Command& command) {
  std::visit(
      [&](const auto& body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, command::Receive>) {
          parts_->receiving.abandon(command, body);
        } else if constexpr (is_one_of<T, command::Remove, command::SetVisibility>) {
          parts_->removing.abandon(body);
        } else if constexpr (std::is_same_v<T, command::PlaceGroup>) {
          parts_->receiving.abandon(body);
        } else if constexpr (std::is_same_v<T, command::MoveOut>) {
          parts_->moving.abandon(body);
          parts_->move_tasks.abandon(body);
        } else if constexpr (std::is_same_v<T, command::Deliver>) {
          parts_->moving.abandon_delivery();
        } else if constexpr (std::is_same_v<T, command::EndTask>) {
          parts_->move_tasks.abandon(body);
        } else if constexpr (std::is_same_v<T, command::Housekeeping>) {
          parts_->housekeeping.abandon(body);
        } else if constexpr (std::is_same_v<T, command::Begin>) {
          // Without a term nothing is received.
          parts_->state.emit(body);
        }
      },
      command.body);
}

// --- Time. ---

void Machine::tick(WallTime now, Host& host) {
  State& state = parts_->state;
  state.advance(millis(now));
  if (parts_->leads) {
    parts_->housekeeping.tick();
    parts_->move_tasks.tick();
    parts_->moving.tick();
  }
  hand_out(host);
  parts_->receiving.serve(host);
  hand_out(host);
  state.catalogue.shrink([&state](QueueNumber number) { return !state.waiters.any(number); });
}

std::optional<WallTime> Machine::next_deadline() const {
  const State& state = parts_->state;
  if (!state.own.empty() || !state.stirred.empty() || parts_->moving.has_work()) {
    return WallTime();
  }
  Millis first = std::numeric_limits<Millis>::max();
  const auto consider = [&first](std::optional<Millis> time) {
    if (time) first = std::min(first, *time);
  };
  consider(state.waiters.next_deadline());
  consider(parts_->move_tasks.next_deadline());
  if (parts_->leads) consider(parts_->housekeeping.next_deadline());
  if (first == std::numeric_limits<Millis>::max()) return std::nullopt;
  return WallTime(std::chrono::milliseconds(first));
}

WallTime Machine::now() const { return WallTime(std::chrono::milliseconds(parts_->state.now)); }

Machine::Statistics Machine::statistics() const {
  return {parts_->state.catalogue.loaded(), parts_->state.waiters.size(),
          parts_->receiving.waiters_refused(), parts_->commands, parts_->retries};
}

}  // namespace canopy::queue
