#include "node/subscription_state.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/system_executor.hpp>

#include "node/open_request.hpp"
#include "node/presence_merge.hpp"

namespace canopy::detail {
namespace {

// A waiting payload smaller than this is copied out of the block that it was
// read into, so that it does not keep the whole block alive.
constexpr std::size_t small_payload = 1024;

std::size_t bytes_of(const Message& message) {
  std::size_t bytes = sizeof(Message) + message.group.name.size() + message.group.creator.size() +
                      message.payload.size();
  for (const auto& [key, value] : message.headers) bytes += key.size() + value.size() + 64;
  return bytes;
}

// From now on he is told if nobody waits for his reply any more.
void hand_out(Event& event) {
  auto* message = std::get_if<Message>(&event);
  if (!message || !message->request) return;
  message->request->handle->hand_out();
  if (message->request->handle->over() && !message->anycast) message->request.reset();
}

// One at least: a subscriber is to learn that there was something.
std::uint64_t messages_in(const Event& event) {
  if (const auto* lost = std::get_if<Lost>(&event)) return lost->count;
  if (std::holds_alternative<NoLast>(event)) return 0;
  const auto* gap = std::get_if<Gap>(&event);
  return gap && gap->last > gap->first ? gap->last - gap->first + 1 : 1;
}

}  // namespace

SubscriptionState::SubscriptionState(boost::asio::any_io_executor executor, GroupName group,
                                     JoinOptions options)
    : executor_(std::move(executor)), group_(std::move(group)), options_(options) {}

SubscriptionState::~SubscriptionState() { release(bytes_); }

void SubscriptionState::on_end(std::function<void()> ended) {
  std::lock_guard lock(mutex_);
  ended_ = std::move(ended);
}

void SubscriptionState::receive(std::size_t max_events, std::shared_ptr<Receive> operation) {
  std::lock_guard lock(mutex_);
  if (waiting_ && !waiting_->claimed()) {
    operation->fail(errc::busy);
  } else if (deliverable()) {
    answer(std::move(operation), max_events);
  } else if (over_) {
    operation->fail(errc::not_joined);
  } else {
    waiting_ = std::move(operation);
    waiting_max_ = max_events;
  }
}

void SubscriptionState::leave() {
  std::function<void()> ended;
  Fifo<Queued> dropped;
  Fifo<Queued> dropped_too;
  {
    std::lock_guard lock(mutex_);
    ended = std::exchange(ended_, nullptr);
    drained_ = nullptr;
    over_ = true;
    std::swap(dropped, queue_);
    std::swap(dropped_too, kept_);
    release(bytes_);
    lost_here_ = 0;
    presence_.reset();
    if (waiting_) waiting_->fail(errc::not_joined);
    waiting_.reset();
  }
  if (ended) ended();
}

void SubscriptionState::on_drained(std::function<void()> drained) {
  std::lock_guard lock(mutex_);
  drained_ = std::move(drained);
}

void SubscriptionState::push(Message message) {
  std::lock_guard lock(mutex_);
  if (over_) return;
  copy_if_it_waits(message);
  const std::size_t bytes = bytes_of(message);
  enqueue(queue_, std::move(message), bytes);
  shed();
  hand_over();
}

bool SubscriptionState::offer(Message message) {
  std::lock_guard lock(mutex_);
  if (over_) return true;
  const std::size_t bytes = bytes_of(message);
  if (!empty() && !fits(bytes)) {
    refused_ = true;
    return false;
  }
  copy_if_it_waits(message);
  enqueue(queue_, std::move(message), bytes);
  hand_over();
  return true;
}

bool SubscriptionState::take(Message& message) {
  std::lock_guard lock(mutex_);
  const std::size_t bytes = bytes_of(message);
  if (over_ || (!empty() && !fits(bytes))) return false;
  copy_if_it_waits(message);
  enqueue(kept_, std::move(message), bytes);
  hand_over();
  return true;
}

bool SubscriptionState::has_room() {
  std::lock_guard lock(mutex_);
  if (over_ || empty() || fits(sizeof(Event))) return true;
  refused_ = true;
  return false;
}

void SubscriptionState::miss(const Gap& gap) {
  lost_.fetch_add(messages_in(gap), std::memory_order_relaxed);
  push(gap);
}

bool SubscriptionState::fits(std::size_t bytes) const noexcept {
  const auto* room = options_.shared_room.get();
  return size() < options_.queue_messages_max && bytes_ + bytes <= options_.queue_bytes_max &&
         (!room || room->bytes_.load(std::memory_order_relaxed) + bytes <= room->bytes_max_);
}

void SubscriptionState::copy_if_it_waits(Message& message) const {
  const bool waits = !waiting_ || waiting_->claimed();
  if (waits && message.payload.size() < small_payload)
    message.payload = Payload(message.payload.view());
}

void SubscriptionState::push(const Gap& gap) {
  std::lock_guard lock(mutex_);
  if (over_) return;
  enqueue(queue_, gap, sizeof(Event));
  shed();
  hand_over();
}

void SubscriptionState::push(const Lost& lost) {
  std::lock_guard lock(mutex_);
  if (over_) return;
  enqueue(queue_, lost, sizeof(Event));
  shed();
  hand_over();
}

void SubscriptionState::push(const NoLast& none) {
  std::lock_guard lock(mutex_);
  if (over_) return;
  enqueue(kept_, none, sizeof(Event));
  hand_over();
}

void SubscriptionState::push(Presence presence) {
  std::lock_guard lock(mutex_);
  if (over_) return;
  if (presence_) {
    node::merge(*presence_, presence);
  } else {
    presence_ = std::make_unique<Presence>(std::move(presence));
  }
  // Whoever has seen no number yet has nothing to add names to.
  if (!presence_told_) *presence_ = {presence_->members, presence_->complete, {}, {}, 0, 0};
  hand_over();
}

void SubscriptionState::push(const RequestEnded& ended) {
  std::lock_guard lock(mutex_);
  if (over_) return;
  enqueue(kept_, ended, sizeof(Event));
  hand_over();
}

void SubscriptionState::enqueue(Fifo<Queued>& queue, Event event, std::size_t bytes) {
  occupy(bytes);
  queue.push({std::move(event), bytes, ++arrivals_});
}

// Not of empty ones.
Fifo<SubscriptionState::Queued>& SubscriptionState::next_queue() noexcept {
  if (queue_.empty()) return kept_;
  if (kept_.empty()) return queue_;
  return kept_.front().number < queue_.front().number ? kept_ : queue_;
}

// A request to this subscriber alone that nobody waits for any more.
bool SubscriptionState::is_idle(const Event& event) {
  const auto* message = std::get_if<Message>(&event);
  return message && message->anycast && message->request && message->request->handle->over();
}

bool SubscriptionState::deliverable() {
  while (!kept_.empty() && is_idle(kept_.front().event)) release(kept_.pop().bytes);
  return !empty() || lost_here_ != 0 || presence_;
}

void SubscriptionState::hand_over() {
  if (waiting_) answer(std::exchange(waiting_, nullptr), waiting_max_);
}

void SubscriptionState::occupy(std::size_t bytes) {
  bytes_ += bytes;
  if (options_.shared_room) options_.shared_room->bytes_ += bytes;
}

void SubscriptionState::release(std::size_t bytes) {
  bytes_ -= bytes;
  if (options_.shared_room) options_.shared_room->bytes_ -= bytes;
}

bool SubscriptionState::detach(boost::system::error_code reason) {
  std::lock_guard lock(mutex_);
  if (std::exchange(over_, true)) return false;
  ended_ = nullptr;
  drained_ = nullptr;
  enqueue(queue_, Detached{reason}, 0);
  hand_over();
  return true;
}

void SubscriptionState::shed() {
  while (!queue_.empty() && overfull()) {
    const Queued oldest = queue_.pop();
    const std::uint64_t lost = messages_in(oldest.event);
    release(oldest.bytes);
    lost_here_ += lost;
    lost_.fetch_add(lost, std::memory_order_relaxed);
  }
}

bool SubscriptionState::overfull() const noexcept {
  const auto* room = options_.shared_room.get();
  return size() > options_.queue_messages_max || bytes_ > options_.queue_bytes_max ||
         (room && room->bytes_.load(std::memory_order_relaxed) > room->bytes_max_);
}

// An operation that was cancelled meanwhile leaves the events where they are.
void SubscriptionState::answer(std::shared_ptr<Receive> operation, std::size_t max_events) {
  if (operation->claim()) operation->finish({}, take(max_events));
}

std::vector<Event> SubscriptionState::take(std::size_t max_events) {
  max_events = std::max<std::size_t>(max_events, 1);
  std::vector<Event> events;
  events.reserve(std::min(max_events, size() + 1));
  if (lost_here_ != 0) events.push_back(Lost{std::exchange(lost_here_, 0)});
  if (presence_ && events.size() < max_events) {
    presence_told_ = true;
    events.push_back(std::move(*std::exchange(presence_, nullptr)));
  }
  while (events.size() < max_events && !empty()) {
    Queued oldest = next_queue().pop();
    release(oldest.bytes);
    if (!events.empty() && is_idle(oldest.event)) continue;
    hand_out(oldest.event);
    events.push_back(std::move(oldest.event));
  }
  if (refused_ && size() <= options_.queue_messages_max / 2 &&
      bytes_ <= options_.queue_bytes_max / 2) {
    refused_ = false;
    if (drained_) drained_();
  }
  return events;
}

}  // namespace canopy::detail

namespace canopy {

Subscription::Subscription(std::shared_ptr<detail::SubscriptionState> state) noexcept
    : state_(std::move(state)) {}

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    leave();
    state_ = std::move(other.state_);
  }
  return *this;
}

Subscription::~Subscription() { leave(); }

void Subscription::leave() noexcept {
  if (state_) state_->leave();
}

GroupName Subscription::group() const { return state_ ? state_->group() : GroupName{}; }

GroupMode Subscription::mode() const noexcept {
  return state_ ? state_->mode() : GroupMode::best_effort;
}

std::uint64_t Subscription::lost() const noexcept { return state_ ? state_->lost() : 0; }

void Subscription::start_receive(const std::shared_ptr<detail::SubscriptionState>& state,
                                 std::size_t max_events,
                                 detail::Completion<std::vector<Event>> done) {
  using Receive = detail::SubscriptionState::Receive;
  if (state) {
    state->receive(max_events, Receive::start(state->executor(), std::move(done)));
  } else {
    Receive::start(boost::asio::system_executor(), std::move(done))->fail(errc::not_joined);
  }
}

}  // namespace canopy
