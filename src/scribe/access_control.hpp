// Whether a peer may do what it asks for: rights by its id, or by a proof that it
// has a token; and how fast it may publish.
//
// A signature is checked once: the latest thousands of verdicts are remembered, so
// that a publisher sends its proof with each message, and whoever is the root finds
// it known, or checks it. What peers say of their own identity is believed (peers do
// not authenticate each other), and the states of groups that they pass on: against a
// peer that lies about those, nothing protects.
// Takes no memory before it is needed. A part of a Scribe node. Not thread-safe.
#pragma once

#include <memory>

#include "base/ed25519.hpp"
#include "scribe/config.hpp"
#include "scribe/counters.hpp"
#include "wire/env.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

// The key that a token gives; null: no token.
using TokenKey = std::shared_ptr<const SigningKey>;

class AccessControl {
 public:
  AccessControl(const Config& config, wire::Env& env, PeerRef self);
  ~AccessControl();
  AccessControl(const AccessControl&) = delete;
  AccessControl& operator=(const AccessControl&) = delete;

  // This node's own; null without a key.
  wire::ProofRef prove(const Id& group, wire::Right right, const TokenKey& key);

  bool allows(const wire::Grant& grant, wire::Right right, const Id& group, PeerRef who,
              const wire::ProofRef& proof);
  bool allows(const wire::AccessRef& list, wire::Right right, const Id& group, PeerRef who,
              const wire::ProofRef& proof);
  bool may_create(const Id& group, PeerRef who, const wire::ProofRef& proof);

  bool limits_rates() const noexcept {
    return config_.publish_messages_max != 0 || config_.publish_bytes_max != 0;
  }
  // A message at this root, or an anycast that enters a tree here: nothing if it is
  // within the peer's rate, else how long it has to wait. One that comes again is not
  // counted again.
  Duration wait_to_publish(PeerRef origin, const wire::MessageId& id, std::size_t bytes);

 private:
  struct State;
  State& state();
  bool proven(wire::Right right, const Id& group, PeerRef who, const wire::Proof& proof);

  const Config& config_;
  wire::Env& env_;
  const PeerRef self_;
  std::unique_ptr<State> state_;
};

}  // namespace canopy::scribe
