#include "canopy-bench/load_worker.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <sys/epoll.h>
#include <utility>

#include <fmt/format.h>

#include "canopy-bench/sqs_answer.hpp"

namespace canopy::tools {

namespace {

constexpr std::size_t buffer_size = 256 * 1024;
constexpr int events_max = 256;
constexpr unsigned lost_max = 1'000;
// How long other threads' end of a phase may go unnoticed.
constexpr auto patience_max = std::chrono::milliseconds(10);
constexpr auto last_answers_max = std::chrono::seconds(5);

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

LoadWorker::LoadWorker(const LoadPlan& plan, Ledger& ledger, unsigned number)
    : plan_(plan),
      ledger_(ledger),
      signer_(plan.key.value_or(SigningKey())),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      buffer_(std::make_unique<char[]>(buffer_size)),
      random_(number) {
  if (epoll_.fd() < 0) fail("epoll");
  for (const std::string& queue : plan.queues)
    requests_.push_back(
        std::make_unique<QueueRequests>(plan, plan.key ? &signer_ : nullptr, queue));
  for (unsigned i = number; i < plan.connections; i += plan.threads) {
    auto connection = std::make_unique<Connection>();
    connection->number = i;
    // Neighbours share a queue, so that in mixed mode each queue has both.
    connection->requests = requests_[i / 2 % requests_.size()].get();
    open(*connection);
    connections_.push_back(std::move(connection));
  }
}

void LoadWorker::open(Connection& connection) {
  connection.socket = connect_to(plan_.target);
  ++connection.opened;
  connection.unsent.clear();
  connection.unread.clear();
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLET;
  event.data.ptr = &connection;
  if (::epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, connection.socket.fd(), &event) < 0) fail("epoll");
}

// The server closes behind the answer to the first request, which is still to be looked at:
// those that were sent after it get none.
void LoadWorker::reopen(Connection& connection) {
  const std::size_t behind = connection.pending.size() - 1;
  if (behind > 0) counts_.errors["connection closed"] += behind;
  connection.pending.erase(connection.pending.begin() + 1, connection.pending.end());
  open(connection);
}

// The phase.

Counts LoadWorker::run(const Phase& phase, std::stop_token stop) {
  start(phase);
  Clock::time_point now = Clock::now();
  for (; !over(now) && !stop.stop_requested(); now = Clock::now()) {
    start_due(now);
    turn(std::min<Clock::duration>({patience_max, phase.end - now, time_to_next(now)}));
  }
  stopping_ = true;
  const Clock::time_point finished = std::min(now, phase.end);
  counts_.seconds = std::chrono::duration<double>(finished - phase.start).count();
  count_unsent(finished);
  drain();
  return std::exchange(counts_, {});
}

void LoadWorker::start(const Phase& phase) {
  phase_ = &phase;
  stopping_ = false;
  idle_.clear();
  next_due_ = phase.start;
  signer_.set_time(::time(nullptr));
  for (const auto& connection : connections_) {
    connection->receives =
        phase.mode == Mode::receive || (phase.mode == Mode::mixed && connection->number % 2 == 1);
    next(*connection, phase.start);
  }
}

bool LoadWorker::over(Clock::time_point now) const {
  return now >= phase_->end || (phase_->until_empty && ledger_.empty()) ||
         (phase_->until_sent && ledger_.exhausted());
}

void LoadWorker::turn(Clock::duration patience) {
  const auto nanoseconds = std::max<std::int64_t>(0, Latencies::Time(patience).count());
  const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  epoll_event events[events_max];
  const int count = ::epoll_pwait2(epoll_.fd(), events, events_max, &timeout, nullptr);
  if (count < 0 && errno != EINTR) fail("epoll");
  signer_.set_time(::time(nullptr));
  for (int i = 0; i < count; ++i) {
    Connection& connection = *static_cast<Connection*>(events[i].data.ptr);
    flush(connection);
    read(connection);
  }
}

void LoadWorker::drain() {
  const auto limit = Clock::now() + last_answers_max;
  while (has_pending() && Clock::now() < limit) turn(patience_max);
  give_up_pending();
}

bool LoadWorker::has_pending() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return !connection->pending.empty(); });
}

void LoadWorker::give_up_pending() {
  for (const auto& connection : connections_)
    if (!connection->pending.empty()) lose(*connection, "no answer in time");
}

// Pacing.

bool LoadWorker::paced(const Connection& connection) const {
  return phase_->rate && (phase_->mode != Mode::mixed || !connection.receives);
}

Clock::duration LoadWorker::interval(unsigned messages) const {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(messages / *phase_->rate));
}

Clock::duration LoadWorker::time_to_next(Clock::time_point now) const {
  return idle_.empty() ? patience_max : next_due_ - now;
}

void LoadWorker::start_due(Clock::time_point now) {
  while (!idle_.empty() && next_due_ <= now && next_due_ < phase_->end) {
    Connection& connection = *idle_.back();
    idle_.pop_back();
    const unsigned messages = draw_batch();
    begin(connection, messages, next_due_);
    next_due_ += interval(messages);
  }
}

// Requests that were held back by slow answers have waited at least so long.
void LoadWorker::count_unsent(Clock::time_point now) {
  if (!phase_->rate) return;
  const Kind kind = phase_->mode == Mode::receive ? receive_kind : send_kind;
  for (; next_due_ < now; next_due_ += interval(draw_batch())) {
    counts_.of[kind].latencies.record(now - next_due_);
    ++counts_.unsent;
  }
}

// Requests.

unsigned LoadWorker::draw_batch() {
  const Batch& batch = phase_->batch;
  if (batch.min == batch.max) return batch.max;
  return batch.min + static_cast<unsigned>(random_.below(batch.max - batch.min + 1));
}

void LoadWorker::next(Connection& connection, Clock::time_point now) {
  if (stopping_) return;
  if (paced(connection))
    idle_.push_back(&connection);
  else
    begin(connection, draw_batch(), now);
}

void LoadWorker::begin(Connection& connection, unsigned messages, Clock::time_point now) {
  if (connection.receives) {
    receive(connection, messages, now);
    return;
  }
  const unsigned granted = ledger_.grant(messages);
  if (granted == 0) return;
  const unsigned sender = phase_->one_group ? nobody : connection.number;
  request(connection, {send_kind, granted, 0, now},
          connection.requests->send(ledger_.number(granted), sender, granted, in_batches()));
}

void LoadWorker::receive(Connection& connection, unsigned messages, Clock::time_point now) {
  request(connection, {receive_kind, messages, 0, now},
          connection.requests->receive(messages, phase_->wait));
}

void LoadWorker::request(Connection& connection, const Pending& pending, std::string_view bytes) {
  connection.pending.push_back(pending);
  if (connection.unsent.empty()) {
    const ssize_t sent =
        ::send(connection.socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  // An error shows again when the rest is sent.
  connection.unsent += bytes;
}

void LoadWorker::flush(Connection& connection) {
  std::string& rest = connection.unsent;
  while (!rest.empty()) {
    const ssize_t sent =
        ::send(connection.socket.fd(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return lose(connection, std::strerror(errno));
    rest.erase(0, static_cast<std::size_t>(sent));
  }
}

void LoadWorker::read(Connection& connection) {
  const unsigned opened = connection.opened;
  while (connection.opened == opened) {
    const ssize_t received =
        ::recv(connection.socket.fd(), buffer_.get(), buffer_size, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (received < 0) return lose(connection, std::strerror(errno));
    if (received == 0) return lose(connection, "connection closed");
    const auto size = static_cast<std::size_t>(received);
    on_bytes(connection, {buffer_.get(), size}, Clock::now());
    if (size < buffer_size) return;
  }
}

// Connects again. A server may close what is idle: that is no error.
void LoadWorker::lose(Connection& connection, const std::string& why) {
  const bool busy = !connection.pending.empty();
  if (busy) counts_.errors[why] += static_cast<unsigned>(connection.pending.size());
  connection.pending.clear();
  if (++lost_ > lost_max) throw std::runtime_error("too many connections ended: " + why);
  open(connection);
  if (busy) next(connection, Clock::now());
}

// Answers.

void LoadWorker::on_bytes(Connection& connection, std::string_view bytes, Clock::time_point now) {
  std::string joined;
  if (!connection.unread.empty()) {
    joined = std::exchange(connection.unread, {});
    joined += bytes;
    bytes = joined;
  }
  const unsigned opened = connection.opened;
  try {
    while (!connection.pending.empty() && connection.opened == opened) {
      const auto answer = scan_answer(bytes, unchunked_);
      if (!answer) break;
      bytes.remove_prefix(answer->size);
      if (answer->closes) reopen(connection);
      on_answer(connection, *answer, now);
    }
  } catch (const BadHttp& bad) {
    lose(connection, bad.what());
  }
  if (connection.opened == opened) connection.unread = bytes;
}

void LoadWorker::on_answer(Connection& connection, const HttpAnswer& answer,
                           Clock::time_point now) {
  const Pending pending = connection.pending.front();
  connection.pending.pop_front();
  if (pending.kind == receive_kind && answer.status == 200)
    return on_messages(connection, pending, answer.body, now);
  unsigned good = successes(pending, answer);
  if (pending.kind == delete_kind) good = std::min(good, pending.fresh);
  if (pending.kind == send_kind) ledger_.sent(good);
  if (pending.kind == delete_kind) ledger_.removed(good);
  count(pending, good, now);
  if (connection.pending.empty()) next(connection, now);
}

unsigned LoadWorker::successes(const Pending& pending, const HttpAnswer& answer) {
  if (answer.status != 200) {
    ++counts_.errors[error_code(answer.status, answer.body)];
    return 0;
  }
  if (phase_->mode != Mode::echo) return successes(pending, answer.body);
  return answer.body.ends_with('}') ? pending.messages : 0;
}

unsigned LoadWorker::successes(const Pending& pending, std::string_view body) {
  if (pending.kind == delete_kind && !in_batches()) return 1;
  codes_.clear();
  if (body.find(R"("Failed")") != body.npos) find_texts(body, R"("Code")", codes_);
  for (const std::string_view code : codes_) ++counts_.errors[std::string(code)];
  const auto failed = static_cast<unsigned>(codes_.size());
  // Only those that succeeded have a MessageId, but every entry has an Id.
  unsigned good = count_members(body, pending.kind == send_kind ? R"("MessageId")" : R"("Id")");
  if (pending.kind == delete_kind) good -= std::min(good, failed);
  if (good + failed == pending.messages) return good;
  ++counts_.errors["incomplete answer"];
  return std::min(good, pending.messages);
}

void LoadWorker::on_messages(Connection& connection, const Pending& pending, std::string_view body,
                             Clock::time_point now) {
  find_texts(body, R"("ReceiptHandle")", handles_);
  if (handles_.empty()) {
    ++counts_.empty_receives;
    return next(connection, now);
  }
  find_texts(body, R"("Body")", bodies_);
  if (bodies_.size() != handles_.size() || handles_.size() > pending.messages) {
    ++counts_.errors["incomplete answer"];
    return next(connection, now);
  }
  const unsigned fresh = count_arrivals();
  count(pending, fresh, now);
  request(connection, {delete_kind, static_cast<unsigned>(handles_.size()), fresh, now},
          connection.requests->remove(handles_, in_batches()));
  if (plan_.prefetch && !stopping_) receive(connection, draw_batch(), now);
}

unsigned LoadWorker::count_arrivals() {
  unsigned fresh = 0;
  for (const std::string_view body : bodies_) {
    const Arrival arrival = ledger_.arrived(body);
    if (arrival == Arrival::duplicate) ++counts_.duplicates;
    if (arrival == Arrival::foreign) ++counts_.foreign;
    if (arrival == Arrival::disorder) ++counts_.disorder;
    if (arrival == Arrival::fresh || arrival == Arrival::disorder) ++fresh;
  }
  return fresh;
}

void LoadWorker::count(const Pending& pending, unsigned messages, Clock::time_point now) {
  Tally& tally = counts_.of[pending.kind];
  tally.latencies.record(now - pending.start);
  if (stopping_ || now > phase_->end) return;
  ++tally.requests;
  tally.messages += messages;
}

}  // namespace canopy::tools
