#include "node/queue_service.hpp"

#include <algorithm>
#include <chrono>
#include <sys/statvfs.h>
#include <utility>
#include <variant>

#include <boost/system/system_error.hpp>

#include <canopy/options.hpp>

#include "net/clock.hpp"
#include "net/thread.hpp"
#include "node/signal_guard.hpp"
#include "store/damage.hpp"
#include "store/memory_log.hpp"

namespace canopy::node {

namespace {

// For the answers to what is in the log at the end.
constexpr Duration farewell_max = std::chrono::seconds(3);
constexpr Duration farewell_pause = std::chrono::milliseconds(10);

// For deletes: segments of the log, and files of the store until others can go.
constexpr std::uint64_t room_kept_max = std::uint64_t{256} << 20;
constexpr std::uint64_t room_kept_share = 10;  // of a small disk: a tenth
constexpr Duration look_interval = std::chrono::seconds(1);

std::size_t bytes_of(const queue::SendEntry& entry) {
  std::size_t bytes = entry.body.size();
  for (const auto& [name, attribute] : entry.attributes)
    bytes += name.size() + attribute.type.size() + attribute.value.size();
  return bytes;
}

std::size_t bytes_of(const queue::Multicast& multicast) {
  std::size_t bytes = sizeof multicast + multicast.body.size();
  for (const auto& [key, value] : multicast.headers) bytes += key.size() + value.size();
  return bytes;
}

// What a request keeps in memory, roughly.
std::size_t bytes_of(const queue::Action& action) {
  std::size_t bytes = sizeof(gateway::Ask);
  if (const auto* send = std::get_if<queue::SendMessage>(&action)) bytes += bytes_of(send->entry);
  if (const auto* batch = std::get_if<queue::SendMessageBatch>(&action))
    for (const queue::SendEntry& entry : batch->entries) bytes += bytes_of(entry);
  if (const auto* send = std::get_if<queue::SendMulticasts>(&action))
    for (const queue::Multicast& multicast : send->multicasts) bytes += bytes_of(multicast);
  return bytes;
}

}  // namespace

QueueService::QueueService(const QueueServiceOptions& options)
    : directory_(options.directory),
      stored_bytes_max_(options.stored_bytes_max),
      requests_max_(options.requests_max),
      request_bytes_max_(options.request_bytes_max),
      host_(options.host) {
  const SignalGuard guard;
  try {
    host_.start(open(options));
  } catch (const store::Damage& damage) {
    throw StartError(damage.what());
  } catch (const boost::system::system_error& error) {
    throw StartError(options.directory + ": " + host_.explain(error.what()));
  }
  clock_.emplace(host_.time(), net::mono_now(), net::wall_now());
  host_.begin(now());
  thread_ = std::thread([this] { run(); });
}

QueueService::~QueueService() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    asleep_ = false;
  }
  wake_.notify_one();
  thread_.join();
}

store::Opened QueueService::open(const QueueServiceOptions& options) {
  if (options.directory.empty()) {
    auto in_memory = std::make_unique<store::MemoryStore>();
    in_memory_ = in_memory.get();
    return {std::move(in_memory), std::make_unique<store::MemoryLog>(host_, post())};
  }
  store::Options store;
  store.owner = options.owner;
  store.log.begin_thread = [] { net::begin_serving_thread("canopy-log"); };
  store.store.memory_bytes = options.memory_bytes;
  store.store.on_problem = [this](const std::string& problem) {
    hand_over([&](Incoming& incoming) {
      incoming.posted.emplace_back([this, problem] { host_.set_store_problem(problem); });
    });
  };
  return store::open(options.directory, std::move(store), host_, post());
}

WallTime QueueService::now() { return clock_->at(net::mono_now(), net::wall_now()); }

// --- From other threads ---

template <class Add>
void QueueService::hand_over(Add add) {
  bool asleep = false;
  {
    const std::lock_guard lock(mutex_);
    add(incoming_);
    asleep = std::exchange(asleep_, false);
  }
  if (asleep) wake_.notify_one();
}

store::Post QueueService::post() {
  return [this](std::function<void()> call) {
    hand_over([&](Incoming& incoming) { incoming.posted.push_back(std::move(call)); });
  };
}

void QueueService::call(queue::Caller caller, queue::Action action,
                        std::shared_ptr<gateway::Call> call) {
  std::vector<gateway::Ask> one;
  one.push_back({std::move(caller), std::move(action), std::move(call)});
  call_all(one);
}

void QueueService::call_all(std::vector<gateway::Ask>& asks) {
  // Those that find no room keep their call.
  hand_over([&](Incoming& incoming) {
    for (gateway::Ask& ask : asks) {
      if (!fits(incoming, ask)) continue;
      incoming.requests.push_back(std::move(ask));
    }
  });
  for (const gateway::Ask& ask : asks)
    if (ask.call)
      ask.call->done(queue::Error{queue::ErrorCode::service_unavailable,
                                  "Too much is being asked at the moment. Try again."});
}

// Counts it in if so.
bool QueueService::fits(Incoming& incoming, const gateway::Ask& ask) {
  const std::size_t bytes = bytes_of(ask.action);
  const bool room = !stopping_ && incoming.requests.size() < requests_max_ &&
                    incoming.request_bytes + bytes <= request_bytes_max_;
  if (room)
    incoming.request_bytes += bytes;
  else
    ++refused_;
  return room;
}

void QueueService::cancelled(const std::shared_ptr<gateway::Call>& call) {
  hand_over([&](Incoming& incoming) { incoming.cancelled.push_back(call); });
}

void QueueService::give_back(queue::QueueName queue, std::vector<std::string> receipt_handles) {
  hand_over([&](Incoming& incoming) {
    incoming.given_back.push_back({std::move(queue), std::move(receipt_handles)});
  });
}

std::string QueueService::problem() const {
  const std::lock_guard lock(state_mutex_);
  return problem_;
}

QueueService::Counters QueueService::counters() const {
  Counters counters;
  {
    const std::lock_guard lock(state_mutex_);
    counters = counters_;
  }
  const std::lock_guard lock(mutex_);
  counters.refused = refused_;
  return counters;
}

// --- The loop ---

void QueueService::run() {
  net::begin_serving_thread("canopy-storage");
  MonoTime deadline = never;
  do {
    wait();
    turn();
  } while (!is_over(deadline));
  host_.close();
}

// Once it is to stop: when all that came before is answered, or has taken too long.
bool QueueService::is_over(MonoTime& deadline) {
  const std::lock_guard lock(mutex_);
  if (!stopping_) return false;
  if (deadline == never) deadline = net::mono_now() + farewell_max;
  return (host_.idle() && incoming_.empty()) || net::mono_now() >= deadline;
}

// Until there is something to do.
void QueueService::wait() {
  const std::optional<WallTime> next = host_.next_turn();
  Duration left = next ? clock_->when(*next) - net::mono_now() : Duration::max();
  std::unique_lock lock(mutex_);
  if (!has_room_) left = std::min(left, look_interval);
  if (stopping_) left = std::min(left, farewell_pause);
  if (incoming_.empty() && left > Duration()) {
    asleep_ = true;
    const auto awake = [this] { return !asleep_; };
    if (left == Duration::max())
      wake_.wait(lock, awake);
    else
      wake_.wait_for(lock, left, awake);
    asleep_ = false;
  }
  std::swap(batch_, incoming_);
}

void QueueService::turn() {
  look_at_room();
  for (const auto& call : batch_.posted) call();
  host_.apply(now());
  for (gateway::Ask& request : batch_.requests) host_.take(std::move(request));
  for (const auto& call : batch_.cancelled) host_.cancel(call.get());
  for (const GivenBack& given : batch_.given_back) host_.give_back(given.queue, given.handles);
  host_.finish_turn();
  publish_state();
  batch_.posted.clear();
  batch_.requests.clear();
  batch_.cancelled.clear();
  batch_.given_back.clear();
  batch_.request_bytes = 0;
}

// Messages are refused while there is still room for the deletes that make more.
void QueueService::look_at_room() {
  if (!in_memory_ && net::mono_now() - room_seen_ < look_interval) return;
  room_seen_ = net::mono_now();
  std::string problem = room_problem();
  has_room_ = problem.empty();
  host_.set_room_problem(std::move(problem));
}

std::string QueueService::room_problem() const {
  if (in_memory_) {
    if (in_memory_->bytes() < stored_bytes_max_) return {};
    return "queues in memory hold all they may: messages are not taken until some are deleted";
  }
  struct statvfs disk {};
  if (::statvfs(directory_.c_str(), &disk) != 0) return {};
  const std::uint64_t whole = disk.f_blocks * disk.f_frsize;
  if (disk.f_bavail * disk.f_frsize >= std::min(room_kept_max, whole / room_kept_share)) return {};
  return "the disk is almost full: messages are not taken until it has room";
}

void QueueService::publish_state() {
  std::string problem = host_.problem();
  const std::lock_guard lock(state_mutex_);
  problem_ = std::move(problem);
  counters_ = {host_.counters(), host_.statistics(), 0};
}

}  // namespace canopy::node
