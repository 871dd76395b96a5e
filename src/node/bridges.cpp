#include "node/bridges.hpp"

#include <optional>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <canopy/error.hpp>

#include "base/text.hpp"
#include "net/log.hpp"
#include "node/values.hpp"

namespace canopy::detail {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// What a bridge keeps while its queue is busy.
constexpr std::size_t waiting_messages_max = 65'536;
constexpr std::size_t waiting_bytes_max = std::size_t{16} << 20;
// What one command carries: so many, and the message that passes the bytes.
constexpr std::size_t batch_messages_max = 512;
constexpr std::size_t batch_bytes_max = std::size_t{2} << 20;

constexpr std::chrono::milliseconds join_pause{500};
constexpr std::chrono::milliseconds send_pause{200};

JoinOptions join_options() {
  JoinOptions options;
  options.queue_messages_max = waiting_messages_max;
  options.queue_bytes_max = waiting_bytes_max;
  options.accept_anycast = false;  // an anycast is for one member that takes it
  return options;
}

// The outcome of an action, on the executor.
class AskedOfQueues final : public gateway::Call {
 public:
  using Done = std::function<void(queue::Outcome)>;

  AskedOfQueues(const asio::any_io_executor& executor, Done done)
      : executor_(asio::prefer(executor, asio::execution::outstanding_work.tracked)),
        done_(std::move(done)) {}
  bool cancelled() const noexcept override { return false; }
  void done(queue::Outcome outcome) override {
    asio::post(executor_, [done = std::move(done_), outcome = std::move(outcome)]() mutable {
      done(std::move(outcome));
    });
  }

 private:
  const asio::any_io_executor executor_;
  Done done_;
};

errc to_errc(queue::ErrorCode code) {
  switch (code) {
    case queue::ErrorCode::queue_does_not_exist: return errc::no_such_queue;
    case queue::ErrorCode::resource_not_found: return errc::no_such_bridge;
    case queue::ErrorCode::over_limit: return errc::limit;
    case queue::ErrorCode::access_denied: return errc::denied;
    case queue::ErrorCode::invalid_message_contents:
    case queue::ErrorCode::invalid_parameter_value: return errc::bad_name;
    default: return errc::unavailable;
  }
}

// Why a bridge is no member, in BridgeInfo's words.
std::string problem_of(const error_code& error) {
  if (error != errc::denied) return error ? error.message() : "";
  return "access denied: the group lets not everybody join: give canopyd a token that may, by "
         "--bridge-token-file";
}

// Whether the same can be taken in a while.
bool passes(queue::ErrorCode code) {
  return code == queue::ErrorCode::service_unavailable ||
         code == queue::ErrorCode::request_throttled;
}

// Adds what has been counted since; lost ones were told when they were.
void count(BridgeCounts& all, const BridgeCounts& before, const BridgeCounts& now) {
  for_each_count([&](const char*, auto count) {
    if (count != &BridgeCounts::lost) all.*count += now.*count - before.*count;
  });
}

// So that it fits a list of many.
std::string shortened(std::string text) {
  constexpr std::size_t bytes_max = 500;
  if (text.size() <= bytes_max) return text;
  std::size_t end = 0;
  while (const std::size_t size = utf8_size(std::string_view(text).substr(end))) {
    if (end + size > bytes_max) break;
    end += size;
  }
  text.resize(end);
  return text + "...";
}

std::size_t content_bytes(const Message& message) {
  std::size_t bytes = message.payload.size();
  for (const auto& [key, value] : message.headers) bytes += key.size() + value.size();
  return bytes;
}

queue::Multicast to_multicast(const Message& message) {
  const std::string_view bytes = message.payload.view();
  return {{node::to_id(message.id.publisher), message.id.incarnation, message.id.sequence},
          message.headers,
          Buffer(std::shared_ptr<const char[]>(message.payload.owner(), bytes.data()), 0,
                 bytes.size())};
}

}  // namespace

struct Bridges::Bridge {
  Bridge(queue::BridgeName named, const asio::any_io_executor& executor)
      : name(std::move(named)), group{name.group.name, name.group.creator}, timer(executor) {}

  const queue::BridgeName name;
  const GroupName group;
  std::string shown_group;
  BridgeCounts counts;     // as the queue has them
  std::uint64_t lost = 0;  // in addition
  asio::steady_timer timer;

  Subscription subscription;
  bool joined = false;
  bool over = false;
  std::string problem;
  std::vector<std::shared_ptr<Add>> waiting;  // until it has been tried to join

  std::vector<Message> received;
  std::size_t sending = 0;         // the first of them
  std::uint64_t sending_lost = 0;  // are counted with them
};

Bridges::Bridges(NodeRef node, asio::any_io_executor executor, gateway::Service& service,
                 gateway::Place place, std::string cluster)
    : node_(std::move(node)),
      executor_(std::move(executor)),
      in_order_(asio::make_strand(executor_)),
      place_(std::move(place)),
      cluster_(std::move(cluster)),
      service_(&service) {}

Bridges::~Bridges() = default;

// --- Asking and being answered ---

// A handler that does nothing once the bridge has ended.
template <class Use>
auto Bridges::bound(const BridgePtr& bridge, Use use) {
  return [weak = weak_from_this(), weak_bridge = std::weak_ptr(bridge),
          use = std::move(use)](auto... results) mutable {
    const auto self = weak.lock();
    const auto one = weak_bridge.lock();
    if (!self || !one) return;
    const std::lock_guard lock(self->mutex_);
    if (!one->over) use(*self, one, std::move(results)...);
  };
}

// As the owner of the queue; then(self, outcome) comes with the lock.
template <class Then>
void Bridges::ask(queue::Action action, Then then) {
  const std::string account = std::visit(
      [this](const auto& asked) {
        if constexpr (requires { asked.bridge; })
          return asked.bridge.queue.account;
        else
          return place_.account;
      },
      action);
  auto done = [weak = weak_from_this(), then = std::move(then)](queue::Outcome outcome) mutable {
    const auto self = weak.lock();
    if (!self) return;
    const std::lock_guard lock(self->mutex_);
    if (self->service_ != nullptr) then(*self, std::move(outcome));
  };
  service_->call({account, account}, std::move(action),
                 std::make_shared<AskedOfQueues>(in_order_, std::move(done)));
}

std::optional<queue::BridgeName> Bridges::name_of(const GroupName& group,
                                                  const std::string& queue) const {
  auto named = gateway::parse_queue_url(queue, place_);
  if (!named) return std::nullopt;
  return queue::BridgeName{std::move(*named),
                           {group.name, group.creator.empty() ? cluster_ : group.creator}};
}

void Bridges::add(GroupName group, const std::string& queue, Completion<BridgeInfo> done) {
  auto operation = Add::start(executor_, std::move(done));
  const std::lock_guard lock(mutex_);
  if (service_ == nullptr) return operation->fail(errc::shutting_down);
  auto name = name_of(group, queue);
  if (!name) return operation->fail(errc::no_such_queue);
  if (!is_valid_name(name->group.name) || !is_valid_name(name->group.creator))
    return operation->fail(errc::bad_name);
  ask(queue::AddBridge{std::move(*name)},
      [operation](Bridges& self, const queue::Outcome& outcome) {
        if (outcome.has_error()) return operation->fail(to_errc(outcome.error().code));
        const BridgePtr bridge = self.ensure(std::get<queue::Bridge>(*outcome));
        if (bridge->joined || !bridge->problem.empty()) {
          operation->complete({}, self.info(*bridge));
        } else {
          bridge->waiting.push_back(operation);
        }
      });
}

void Bridges::remove(GroupName group, const std::string& queue, Completion<> done) {
  auto operation = node::Operation<>::start(executor_, std::move(done));
  const std::lock_guard lock(mutex_);
  if (service_ == nullptr) return operation->fail(errc::shutting_down);
  const auto name = name_of(group, queue);
  if (!name) return operation->fail(errc::no_such_queue);
  ask(queue::RemoveBridge{*name}, [operation, name](Bridges& self, const queue::Outcome& outcome) {
    if (outcome.has_error()) return operation->fail(to_errc(outcome.error().code));
    self.end(*name);
    operation->complete({});
  });
}

void Bridges::list(Completion<std::vector<BridgeInfo>> done) {
  auto operation = node::Operation<std::vector<BridgeInfo>>::start(executor_, std::move(done));
  const std::lock_guard lock(mutex_);
  if (service_ == nullptr) return operation->fail(errc::shutting_down);
  ask(queue::ListBridges{}, [operation](Bridges& self, const queue::Outcome& outcome) {
    if (outcome.has_error()) return operation->fail(to_errc(outcome.error().code));
    const auto& known = std::get<queue::ListBridgesResult>(*outcome).bridges;
    self.reconcile(known);
    std::vector<BridgeInfo> all;
    for (const queue::Bridge& bridge : known)
      all.push_back(self.info(*self.bridges_.at(bridge.name)));
    operation->complete({}, std::move(all));
  });
}

// --- Which there are ---

void Bridges::set_tokens(node::BridgeTokens tokens) {
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(tokens);
}

void Bridges::resume(const std::vector<queue::Bridge>& known) {
  const std::lock_guard lock(mutex_);
  for (const queue::Bridge& bridge : known) ensure(bridge);
}

Bridges::BridgePtr Bridges::ensure(const queue::Bridge& known) {
  BridgePtr& bridge = bridges_[known.name];
  if (bridge) return bridge;
  bridge = std::make_shared<Bridge>(known.name, executor_);
  // A name with an '@' would be taken for one with its creator.
  const bool needs_creator = bridge->group.name.find('@') != std::string::npos;
  bridge->shown_group = bridge->group.to_string(needs_creator ? "" : cluster_);
  bridge->counts = known.counts;
  join(bridge);
  return bridge;
}

// A queue that was deleted took its bridges along.
void Bridges::reconcile(const std::vector<queue::Bridge>& known) {
  std::map<queue::BridgeName, BridgePtr> gone = bridges_;
  for (const queue::Bridge& bridge : known) {
    ensure(bridge);
    gone.erase(bridge.name);
  }
  for (const auto& [name, bridge] : gone) end(name);
}

void Bridges::end(const queue::BridgeName& name) {
  const auto node = bridges_.extract(name);
  if (node.empty()) return;
  Bridge& bridge = *node.mapped();
  bridge.over = true;
  bridge.timer.cancel();
  bridge.subscription.leave();
  for (const auto& operation : bridge.waiting) operation->fail(errc::no_such_bridge);
}

BridgeInfo Bridges::info(const Bridge& bridge) const {
  BridgeInfo info;
  info.group = bridge.group;
  info.queue = bridge.name.queue.name;
  info.queue_url = gateway::queue_url(bridge.name.queue, place_);
  info.joined = bridge.joined;
  info.problem = shortened(bridge.problem);
  info.counts = bridge.counts;
  info.counts.lost += bridge.lost;
  return info;
}

BridgeCounts Bridges::counted() const {
  const std::lock_guard lock(mutex_);
  return counted_;
}

void Bridges::stop() {
  const std::lock_guard lock(mutex_);
  service_ = nullptr;
  while (!bridges_.empty()) {
    const BridgePtr bridge = bridges_.begin()->second;
    for (const auto& operation : std::exchange(bridge->waiting, {}))
      operation->fail(errc::shutting_down);
    end(bridge->name);
  }
}

// --- The way of a multicast ---

void Bridges::later(const BridgePtr& bridge, std::chrono::milliseconds pause,
                    void (Bridges::*step)(const BridgePtr&)) {
  bridge->timer.expires_after(pause);
  bridge->timer.async_wait(
      bound(bridge, [step](Bridges& self, const BridgePtr& one, error_code error) {
        if (!error) (self.*step)(one);
      }));
}

void Bridges::join(const BridgePtr& bridge) {
  JoinOptions options = join_options();
  options.token = tokens_.of(bridge->group);
  node_.join(bridge->group, options,
             bound(bridge, [](Bridges& self, const BridgePtr& one, error_code error,
                              Subscription subscription) {
               self.joined(one, error, std::move(subscription));
             }));
}

void Bridges::joined(const BridgePtr& bridge, error_code error, Subscription subscription) {
  bridge->joined = !error;
  bridge->problem = problem_of(error);
  for (const auto& operation : std::exchange(bridge->waiting, {}))
    operation->complete({}, info(*bridge));
  if (error == errc::shutting_down) return;  // the node is gone
  if (error) return later(bridge, join_pause, &Bridges::join);
  bridge->subscription = std::move(subscription);
  receive(bridge);
}

void Bridges::receive(const BridgePtr& bridge) {
  bridge->subscription.async_receive(
      batch_messages_max, bound(bridge, [](Bridges& self, const BridgePtr& one, error_code error,
                                           std::vector<Event> events) {
        self.received(one, error, std::move(events));
      }));
}

void Bridges::received(const BridgePtr& bridge, error_code error, std::vector<Event> events) {
  for (Event& event : events) {
    if (auto* message = std::get_if<Message>(&event)) {
      bridge->received.push_back(std::move(*message));
    } else if (const auto* lost = std::get_if<Lost>(&event)) {
      lose(*bridge, lost->count);
    } else if (const auto* gap = std::get_if<Gap>(&event)) {
      lose(*bridge, gap->last >= gap->first ? gap->last - gap->first + 1 : 1);
    } else if (const auto* detached = std::get_if<Detached>(&event)) {
      error = detached->reason;
    }
  }
  if (error) {
    bridge->joined = false;
    bridge->problem = problem_of(error);
    if (log_.allow())
      log::warn("the bridge from {} to {} has lost its group: {}", bridge->shown_group,
                bridge->name.queue.name, bridge->problem);
  }
  if (bridge->received.empty() && bridge->lost == 0) return go_on(bridge);
  send(bridge);
}

void Bridges::lose(Bridge& bridge, std::uint64_t count) {
  bridge.lost += count;
  counted_.lost += count;
}

void Bridges::go_on(const BridgePtr& bridge) {
  if (bridge->joined)
    receive(bridge);
  else
    later(bridge, join_pause, &Bridges::join);
}

void Bridges::send(const BridgePtr& bridge) {
  queue::SendMulticasts action{bridge->name, bridge->shown_group, {}, bridge->lost};
  std::size_t bytes = 0;
  for (const Message& message : bridge->received) {
    if (bytes >= batch_bytes_max) break;
    bytes += content_bytes(message);
    action.multicasts.push_back(to_multicast(message));
  }
  bridge->sending = action.multicasts.size();
  bridge->sending_lost = bridge->lost;
  ask(std::move(action), [weak = std::weak_ptr(bridge)](Bridges& self, queue::Outcome outcome) {
    const BridgePtr one = weak.lock();
    if (one && !one->over) self.sent(one, outcome);
  });
}

void Bridges::sent(const BridgePtr& bridge, const queue::Outcome& outcome) {
  if (outcome.has_error()) {
    const queue::Error& error = outcome.error();
    const errc code = to_errc(error.code);
    if (code == errc::no_such_queue || code == errc::no_such_bridge) {
      log::info("the bridge from {} ends: the queue {} was deleted", bridge->shown_group,
                bridge->name.queue.name);
      return end(bridge->name);
    }
    if (bridge->joined) bridge->problem = error.message;
    if (passes(error.code)) return later(bridge, send_pause, &Bridges::send);
    if (log_.allow())
      log::error("the queue {} refuses what came from {}: {}", bridge->name.queue.name,
                 bridge->shown_group, error.message);
    lose(*bridge, bridge->sending);
  } else {
    const BridgeCounts& counts = std::get<queue::Bridge>(*outcome).counts;
    count(counted_, bridge->counts, counts);
    bridge->counts = counts;
    bridge->lost -= bridge->sending_lost;
    if (bridge->joined) bridge->problem.clear();
  }
  const auto first = bridge->received.begin();
  bridge->received.erase(first, first + static_cast<std::ptrdiff_t>(bridge->sending));
  if (!bridge->received.empty()) return send(bridge);
  go_on(bridge);
}

}  // namespace canopy::detail
