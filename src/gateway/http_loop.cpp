#include "gateway/http_loop.hpp"

#include <utility>

#include "gateway/http_answer.hpp"

namespace canopy::gateway {

namespace {

// Deadlines are this coarse.
constexpr std::chrono::milliseconds tick_interval{500};

}  // namespace

std::int64_t wall_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void HttpCounts::connection_closed() {
  if (connections.fetch_sub(1) > 1) return;
  const std::lock_guard lock(mutex_);
  all_closed_.notify_all();
}

bool HttpCounts::wait_until_all_closed(std::chrono::milliseconds time_max) {
  std::unique_lock lock(mutex_);
  return all_closed_.wait_for(lock, time_max, [this] { return connections == 0; });
}

HttpLoop::HttpLoop(const HttpOptions& options_in, Shared& shared, HttpCounts& counts_in,
                   std::uint64_t seed)
    : context(std::make_shared<boost::asio::io_context>(1)),
      io(*context),
      options(options_in),
      counts(counts_in),
      front(shared, seed),
      service(shared.service),
      mailbag(std::make_shared<Mailbag>(context, shared.service)),
      work_(io.get_executor()),
      timer_(io) {
  tick();
}

void HttpLoop::add(std::shared_ptr<AnyConnection> connection) {
  connection->place = connections_.size();
  connections_.push_back(std::move(connection));
}

void HttpLoop::remove(AnyConnection& connection) {
  const std::size_t place = connection.place;
  if (place >= connections_.size() || connections_[place].get() != &connection) return;
  connections_.back()->place = place;
  std::swap(connections_[place], connections_.back());
  connections_.pop_back();
  counts.connection_closed();
}

bool HttpLoop::grow_buffer(std::ptrdiff_t bytes) noexcept {
  const auto change = static_cast<std::size_t>(bytes);
  const std::size_t total = counts.buffer_bytes.fetch_add(change) + change;
  if (bytes <= 0 || total <= options.arriving_bytes_max) return true;
  counts.buffer_bytes.fetch_sub(change);
  return false;
}

void HttpLoop::tick() {
  now_ = Clock::now();
  // Connections leave the list while it is walked: the last one comes in their
  // place, and has been seen.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    const auto connection = connections_[i];
    connection->on_tick(now_);
  }
  timer_.expires_after(tick_interval);
  timer_.async_wait([this](boost::system::error_code error) {
    // A wait that has ended is not cancelled any more.
    if (!error && !stopped_) tick();
  });
}

void HttpLoop::drain() {
  draining_ = true;
  for (std::size_t i = connections_.size(); i-- > 0;) {
    const auto connection = connections_[i];
    connection->drain();
  }
}

void HttpLoop::stop() {
  stopped_ = true;
  mailbag->close();
  for (std::size_t i = connections_.size(); i-- > 0;) {
    const auto connection = connections_[i];
    connection->abort();
  }
  timer_.cancel();
  work_.reset();
}

const std::string& HttpLoop::date() {
  const std::int64_t second = wall_seconds();
  if (second != date_second_) {
    date_second_ = second;
    date_ = format_http_date(second);
  }
  return date_;
}

}  // namespace canopy::gateway
