#include "gateway/pending_call.hpp"

#include <variant>

#include <boost/asio/post.hpp>

namespace canopy::gateway {

void Mailbag::ask(Ask ask) {
  asks_.push_back(std::move(ask));
  if (asks_.size() > 1) return;
  // Runs behind the handlers that are ready by now.
  boost::asio::post(*loop_, [mailbag = weak_from_this()] {
    if (const auto self = mailbag.lock()) self->send();
  });
}

void Mailbag::send() {
  std::erase_if(asks_, [](const Ask& ask) { return ask.call->cancelled(); });
  service_.call_all(asks_);
  asks_.clear();
}

void Mailbag::put(std::shared_ptr<PendingCall> call, queue::Outcome outcome) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    first = waiting_.empty();
    waiting_.emplace_back(std::move(call), std::move(outcome));
  }
  // The loop wakes at once, and would run into the lock.
  if (!first) return;
  boost::asio::post(*loop_, [mailbag = weak_from_this()] {
    if (const auto self = mailbag.lock()) self->run();
  });
}

void Mailbag::close() {
  std::vector<Entry> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(waiting_);
}

void Mailbag::run() {
  {
    const std::lock_guard lock(mutex_);
    batch_.swap(waiting_);
  }
  for (auto& [call, outcome] : batch_) call->deliver(std::move(outcome));
  batch_.clear();
}

void PendingCall::begin(Owner& owner, queue::Caller caller, queue::Action action) {
  owner_ = &owner;
  const auto* receive = std::get_if<queue::ReceiveMessage>(&action);
  received_from_ = receive ? std::optional(receive->queue) : std::nullopt;
  mailbag_->ask({std::move(caller), std::move(action), shared_from_this()});
}

void PendingCall::abandon() {
  owner_ = nullptr;
  cancelled_.store(true, std::memory_order_release);
  service_.cancelled(shared_from_this());
}

void PendingCall::deliver(queue::Outcome outcome) {
  if (Owner* owner = std::exchange(owner_, nullptr))
    owner->on_outcome(std::move(outcome));
  else
    give_back(outcome);
}

void PendingCall::give_back(const queue::Outcome& outcome) {
  if (!received_from_ || outcome.has_error()) return;
  const auto* received = std::get_if<queue::ReceiveMessageResult>(&*outcome);
  if (!received || received->messages.empty()) return;
  std::vector<std::string> handles;
  for (const queue::Message& message : received->messages)
    handles.push_back(message.receipt_handle);
  service_.give_back(*received_from_, std::move(handles));
}

}  // namespace canopy::gateway
