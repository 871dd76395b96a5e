// From a request to an answer: tells the protocol, checks who asks, reads the
// action, and writes the outcome. No sockets and no waiting.
//
// One a thread; what Shared holds is everybody's. take() either answers at once
// or says what the service is to do; then finish() writes its outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "base/random.hpp"
#include "gateway/action_reader.hpp"
#include "gateway/answers.hpp"
#include "gateway/authenticator.hpp"
#include "gateway/http_request.hpp"
#include "gateway/query_tree.hpp"
#include "gateway/service.hpp"
#include "gateway/statistics.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

struct FrontOptions {
  AccessRules access;
  std::size_t batch_entries_max = 10;
  // How callers reach us, if their requests have no Host.
  std::string usual_host = "localhost:9324";
};

// The keys in force, which can be replaced at any time.
class KeyRing {
 public:
  void set(Credentials credentials);
  std::shared_ptr<const Credentials> get() const;
  // Changes with every set().
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Credentials> credentials_ = std::make_shared<Credentials>();
  std::atomic<std::uint64_t> version_ = 0;
};

// Of all threads of a gateway.
struct Shared {
  FrontOptions options;
  KeyRing keys;
  Statistics statistics;
  Service& service;
};

// How the outcome of an action is written.
struct Reply {
  Protocol protocol = Protocol::json;
  std::size_t action = 0;  // index in action_names
  Place place;
};

struct Work {
  queue::Caller caller;
  queue::Action action;
  Reply reply;
};

class Front {
 public:
  Front(Shared& shared, std::uint64_t seed)
      : shared_(shared), authenticator_(shared.options.access), random_(seed) {}

  using Taken = std::variant<Answer, Work>;

  // `now`: seconds since 1970. A HEAD request is answered like a GET; who
  // sends leaves out the body.
  Taken take(const Request& request, std::int64_t now);

  // An action in JSON of somebody who is known already. `origin` is what the URLs
  // of queues begin with.
  Taken take_call(std::string_view action, std::string_view body, const Identity& who,
                  std::string origin);

  Answer finish(const Reply& reply, const queue::Outcome& outcome);

 private:
  Taken take_json(const Request& request, std::string_view target, std::int64_t now);
  Taken take_action(std::size_t action, std::string_view body, const Identity& who,
                    ReadContext context);
  Taken take_query(const Request& request, std::int64_t now);
  Taken take_peek(const Request& request, std::string_view rest, std::int64_t now);
  Taken health();
  Taken emulator_health();

  boost::system::result<Identity, Failure> identify(const Request& request, std::int64_t now);
  Place place_of(const Request& request, const Identity& identity) const;
  // Those that the gateway answers itself; nothing for the service's.
  std::optional<Answer> answer_own(Protocol protocol, std::size_t action, const Identity& who);
  Answer caller_identity(Protocol protocol, const Identity& who);
  Answer api_stats(Protocol protocol);
  Answer fail(Protocol protocol, const Failure& failure);
  Answer fail(Protocol protocol, std::size_t action, const Failure& failure);
  std::string request_id();

  Shared& shared_;
  Authenticator authenticator_;
  std::uint64_t keys_version_ = 0;
  Random random_;  // for request ids, which are no secret
};

}  // namespace canopy::gateway
