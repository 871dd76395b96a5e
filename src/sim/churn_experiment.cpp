#include "sim/churn_experiment.hpp"

#include <algorithm>
#include <utility>

namespace canopy::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration delivery_deadline = 60s;
constexpr Duration prompt_max = 5s;     // silent hops take less, and leases more
constexpr Duration look_interval = 1s;  // at the repairs under way
constexpr int samples_count = 200;
constexpr double growth_seconds = 300;
constexpr std::uint64_t churn_seed = 0x636875726e;

double seconds_of(Duration time) { return static_cast<double>(time.count()) / 1e6; }

RingOptions ring_options(const ChurnOptions& options) {
  RingOptions ring;
  ring.nodes = options.nodes;
  ring.seed = options.seed;
  ring.join_rate = std::max(1.0, static_cast<double>(options.nodes) / growth_seconds);
  ring.encode = options.encode;
  ring.refusals = false;
  ring.trace = options.trace;
  return ring;
}

bool is_lookup(std::string_view type) { return type == "RouteTrace" || type == "RouteTraceReply"; }

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

// --- Figures ---

double ChurnResults::lost_share() const { return share(lost, lookups); }

double ChurnResults::incorrect_share() const { return share(incorrect, lookups); }

double ChurnResults::delay_stretch() const {
  return direct == Duration::zero() ? 0 : seconds_of(way) / seconds_of(direct);
}

double ChurnResults::prompt_delay_stretch() const {
  return prompt_direct == Duration::zero() ? 0 : seconds_of(prompt_way) / seconds_of(prompt_direct);
}

double ChurnResults::control_per_node_per_second() const {
  double sum = 0;
  for (const Control& kind : control) sum += kind.per_node_per_second;
  return sum;
}

Duration ChurnResults::repair_p99() const {
  return repairs.empty() ? Duration::zero() : repairs[(repairs.size() - 1) * 99 / 100];
}

// --- The run ---

ChurnExperiment::ChurnExperiment(const ChurnOptions& options, Progress progress)
    : options_(options),
      progress_(progress),
      random_(options.seed ^ churn_seed),
      ring_(ring_options(options), std::move(progress)) {
  simulation().observe(*this);
}

ChurnExperiment::~ChurnExperiment() { simulation().stop_observing(*this); }

ChurnResults ChurnExperiment::run() {
  ring_.grow();
  begin();
  const MonoTime end = start_ + options_.span;
  while (plans_.top().at < end) {
    const Plan next = plans_.top();
    plans_.pop();
    simulation().run_until(next.at);
    carry_out(next);
  }
  simulation().run_until(end);
  count_live();
  results_.live_nodes_mean = live_seconds_ / seconds_of(options_.span);
  count_control(live_seconds_);
  simulation().run_for(delivery_deadline);
  judge();
  return std::move(results_);
}

// All that are there have been for a while, and exponential times remember nothing.
void ChurnExperiment::begin() {
  start_ = live_since_ = simulation().now();
  LinkFaults faults;
  faults.loss = options_.loss;
  simulation().network().set_faults(faults);
  traffic_before_ = simulation().traffic();
  control_before_ = control_sent();
  for (NodeIndex node = 0; node < simulation().size(); ++node) {
    failed_at_.push_back(never);
    plan(draw(1 / seconds_of(options_.session)), What::failure, node);
  }
  plan(Duration::zero(), What::arrival);
  plan(Duration::zero(), What::lookup);
  plan(look_interval, What::look);
  plan(options_.span / samples_count, What::sample);
}

void ChurnExperiment::plan(Duration ahead, What what, NodeIndex node) {
  plans_.push({simulation().now() + ahead, ++plans_made_, what, node});
}

// The time until the next event of a Poisson process.
Duration ChurnExperiment::draw(double per_second) {
  return Duration(static_cast<std::int64_t>(random_.exponential(1e6 / per_second)));
}

void ChurnExperiment::carry_out(const Plan& planned) {
  switch (planned.what) {
    case What::arrival:
      plan(draw(static_cast<double>(options_.nodes) / seconds_of(options_.session)), What::arrival);
      return arrive();
    case What::failure: return fail(planned.node);
    case What::lookup:
      plan(draw(options_.lookups * static_cast<double>(std::max<std::size_t>(live_.size(), 1))),
           What::lookup);
      return look_up();
    case What::look: plan(look_interval, What::look); return look_at_repairs(planned.at);
    case What::sample: plan(options_.span / samples_count, What::sample); return sample();
  }
}

// --- Coming and going ---

void ChurnExperiment::arrive() {
  if (live_.size() == 0) return;
  ++results_.arrivals;
  const NodeIndex node = ring_.add_node();
  failed_at_.push_back(never);
  simulation().join(node, {live_.random(random_)});
  plan(draw(1 / seconds_of(options_.session)), What::failure, node);
}

void ChurnExperiment::activated(NodeIndex node) {
  if (live_.contains(simulation().id(node))) return;
  count_live();
  live_.add(simulation().id(node), node);
}

void ChurnExperiment::fail(NodeIndex node) {
  ++results_.failures;
  const MonoTime now = simulation().now();
  Failure failure{simulation().ref(node), now, {}};
  count_live();
  live_.remove(simulation().id(node));
  simulation().crash(node);
  failed_at_[node] = now;
  const std::size_t reach = simulation().overlay_config().pastry.leaf_set_size;
  for (const NodeIndex other : live_.around(simulation().id(node), reach)) {
    if (simulation().peer(other).pastry().leaf_set().contains(failure.peer)) {
      failure.holders.push_back(other);
    }
  }
  if (!failure.holders.empty()) failures_.push_back(std::move(failure));
}

void ChurnExperiment::look_at_repairs(MonoTime now) {
  std::erase_if(failures_, [&](Failure& failure) {
    std::erase_if(failure.holders, [&](NodeIndex node) {
      return simulation().stopped(node) ||
             !simulation().peer(node).pastry().leaf_set().contains(failure.peer);
    });
    if (failure.holders.empty()) results_.repairs.push_back(now - failure.at);
    return failure.holders.empty();
  });
}

void ChurnExperiment::count_live() {
  const MonoTime now = simulation().now();
  live_seconds_ += static_cast<double>(live_.size()) * seconds_of(now - live_since_);
  live_since_ = now;
}

// --- Lookups ---

void ChurnExperiment::look_up() {
  if (live_.size() == 0) return;
  const NodeIndex origin = live_.random(random_);
  auto& peer = simulation().peer(origin);
  asked_.push_back(
      {random_key(peer.pastry().config().id_bits, random_), origin, simulation().now()});
  const auto nonce = static_cast<std::uint32_t>(asked_.size());
  const Id& key = asked_.back().key;
  if (peer.pastry().is_root(key)) return deliver(nonce, origin);
  peer.pastry().route(key, wire::RouteTrace{nonce, simulation().ref(origin), {}});
  peer.scribe().flush();
}

void ChurnExperiment::said(NodeIndex from, NodeIndex, const wire::Message& message) {
  const auto* reply = std::get_if<wire::RouteTraceReply>(&message);
  if (reply == nullptr || reply->nonce == 0 || reply->nonce > asked_.size()) return;
  deliver(reply->nonce, from);
}

void ChurnExperiment::deliver(std::uint32_t nonce, NodeIndex node) {
  Asked& lookup = asked_[nonce - 1];
  const Duration time = simulation().now() - lookup.at;
  // What a node has held until it became active it delivers before that is told.
  if (simulation().active(node)) activated(node);
  lookup.incorrect |= live_.closest(lookup.key) != node;
  if (lookup.delivered || time > delivery_deadline) return;
  lookup.delivered = true;
  const Duration direct = simulation().network().delay(lookup.origin, node);
  results_.way += time;
  results_.direct += direct;
  if (time > prompt_max) {
    ++results_.waited;
  } else {
    results_.prompt_way += time;
    results_.prompt_direct += direct;
  }
}

// --- What is counted ---

std::uint64_t ChurnExperiment::control_sent() const {
  std::uint64_t sum = 0;
  for (const auto& [type, sent] : ring_.simulation().traffic()) {
    if (!is_lookup(type)) sum += sent.messages;
  }
  return sum;
}

void ChurnExperiment::sample() {
  count_live();
  const std::uint64_t control = control_sent();
  const double node_seconds = live_seconds_ - live_seconds_before_;
  ChurnSample& period = results_.samples.emplace_back();
  period.hours = seconds_of(simulation().now() - start_) / 3600;
  period.live = live_.size();
  period.control_per_node_per_second =
      node_seconds > 0 ? static_cast<double>(control - control_before_) / node_seconds : 0;
  control_before_ = control;
  live_seconds_before_ = live_seconds_;
  progress_("churning", seconds_of(simulation().now() - start_) / seconds_of(options_.span));
}

void ChurnExperiment::count_control(double node_seconds) {
  for (const auto& [type, sent] : simulation().traffic()) {
    if (is_lookup(type)) continue;
    const auto before = std::ranges::find(traffic_before_, type, &TrafficByType::type);
    const std::uint64_t messages =
        sent.messages - (before == traffic_before_.end() ? 0 : before->sent.messages);
    results_.control.push_back({type, static_cast<double>(messages) / node_seconds});
  }
}

void ChurnExperiment::judge() {
  for (const Failure& failure : failures_) {
    results_.repairs.push_back(simulation().now() - failure.at);
  }
  std::ranges::sort(results_.repairs);
  results_.lookups = asked_.size();
  for (const Asked& lookup : asked_) {
    const auto at = static_cast<std::size_t>((lookup.at - start_) * samples_count / options_.span);
    ChurnSample* period = at < results_.samples.size() ? &results_.samples[at] : nullptr;
    const bool lost = !lookup.delivered;
    results_.lost += lost ? 1 : 0;
    results_.incorrect += lookup.incorrect ? 1 : 0;
    const MonoTime origin_failed = failed_at_[lookup.origin];
    if (lost && origin_failed != never && origin_failed - lookup.at <= delivery_deadline) {
      ++results_.lost_with_origin;
    }
    if (period == nullptr) continue;
    ++period->lookups;
    period->lost += lost ? 1 : 0;
    period->incorrect += lookup.incorrect ? 1 : 0;
  }
}

}  // namespace canopy::sim
