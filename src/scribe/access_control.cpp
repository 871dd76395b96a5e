#include "scribe/access_control.hpp"

#include <compare>
#include <deque>
#include <map>

#include "scribe/access.hpp"
#include "scribe/duplicate_window.hpp"
#include "scribe/publish_rate.hpp"

namespace canopy::scribe {

namespace {

constexpr std::size_t verdicts_max = 4096;
constexpr std::size_t own_proofs_max = 1024;
constexpr std::size_t counted_max = 16'384;

// What a signature was made for.
struct Subject {
  Id group;
  Id peer;
  std::uint64_t incarnation = 0;
  wire::Right right = wire::Right::publish;
  PublicKey key{};
  friend auto operator<=>(const Subject&, const Subject&) = default;
};

// Forgets what was put in first.
template <class Value>
class Remembered {
 public:
  explicit Remembered(std::size_t max) : max_(max) {}

  Value* find(const Subject& subject) {
    const auto found = values_.find(subject);
    return found == values_.end() ? nullptr : &found->second;
  }
  void set(const Subject& subject, Value value) {
    if (!values_.insert_or_assign(subject, std::move(value)).second) return;
    order_.push_back(subject);
    if (order_.size() <= max_) return;
    values_.erase(order_.front());
    order_.pop_front();
  }

 private:
  std::size_t max_;
  std::map<Subject, Value> values_;
  std::deque<Subject> order_;
};

struct Verdict {
  Signature signature{};
  bool good = false;
};

}  // namespace

struct AccessControl::State {
  explicit State(const Config& config)
      : rates(config.publish_messages_max, config.publish_bytes_max) {}

  Remembered<Verdict> verdicts{verdicts_max};
  Remembered<wire::ProofRef> own{own_proofs_max};
  PublishRates rates;
  DuplicateWindow counted;  // messages, by these
};

AccessControl::AccessControl(const Config& config, wire::Env& env, PeerRef self)
    : config_(config), env_(env), self_(self) {}

AccessControl::~AccessControl() = default;

AccessControl::State& AccessControl::state() {
  if (!state_) state_ = std::make_unique<State>(config_);
  return *state_;
}

wire::ProofRef AccessControl::prove(const Id& group, wire::Right right, const TokenKey& key) {
  if (!key) return nullptr;
  const PeerDescriptor& self = env_.peers()[self_];
  const Subject subject{group, self.id, self.incarnation, right, key->public_key()};
  if (const wire::ProofRef* known = state().own.find(subject)) return *known;
  auto proof = std::make_shared<const wire::Proof>(
      wire::Proof{key->public_key(), key->sign(text_to_sign(group, right, self))});
  state().own.set(subject, proof);
  return proof;
}

bool AccessControl::proven(wire::Right right, const Id& group, PeerRef who,
                           const wire::Proof& proof) {
  const PeerDescriptor& peer = env_.peers()[who];
  const Subject subject{group, peer.id, peer.incarnation, right, proof.key};
  const Verdict* known = state().verdicts.find(subject);
  if (known && known->signature == proof.signature) return known->good;
  const bool good = verify(proof.key, text_to_sign(group, right, peer), proof.signature);
  // A wrong one does not displace a right one.
  if (good || !known || !known->good) state().verdicts.set(subject, {proof.signature, good});
  return good;
}

bool AccessControl::allows(const wire::Grant& grant, wire::Right right, const Id& group,
                           PeerRef who, const wire::ProofRef& proof) {
  if (grants(grant, env_.peers().id(who))) return true;
  return proof && grants(grant, proof->key) && proven(right, group, who, *proof);
}

bool AccessControl::allows(const wire::AccessRef& list, wire::Right right, const Id& group,
                           PeerRef who, const wire::ProofRef& proof) {
  return !list || allows(grant_of(list, right), right, group, who, proof);
}

bool AccessControl::may_create(const Id& group, PeerRef who, const wire::ProofRef& proof) {
  return !config_.creators || allows(*config_.creators, wire::Right::create, group, who, proof);
}

Duration AccessControl::wait_to_publish(PeerRef origin, const wire::MessageId& id,
                                        std::size_t bytes) {
  if (!limits_rates() || state().counted.contains(id)) return Duration::zero();
  const Duration wait = state().rates.take(env_.peers().id(origin), bytes, env_.now());
  if (wait == Duration::zero()) state().counted.insert(id, counted_max);
  return wait;
}

}  // namespace canopy::scribe
