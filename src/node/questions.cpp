#include "node/questions.hpp"

#include <utility>

namespace canopy::node {

void Questions::leaf_set_of(PeerRef peer, StateAnswer answer) {
  wire::StateRequest request;
  request.nonce = expect<wire::StateReply>(states_, std::move(answer));
  request.part = wire::StatePart::leaf_set;
  env_.send(peer, request);
}

std::uint32_t Questions::expect_trace(TraceAnswer answer) {
  return expect<wire::RouteTraceReply>(traces_, std::move(answer));
}

bool Questions::offer(const wire::Message& message) {
  if (const auto* state = std::get_if<wire::StateReply>(&message)) return answer(states_, *state);
  if (const auto* trace = std::get_if<wire::RouteTraceReply>(&message))
    return answer(traces_, *trace);
  return false;
}

void Questions::clear() {
  for (const auto& [nonce, pending] : states_) timers_.cancel(pending.timeout);
  for (const auto& [nonce, pending] : traces_) timers_.cancel(pending.timeout);
  states_.clear();
  traces_.clear();
}

template <class Reply>
std::uint32_t Questions::expect(Table<Reply>& table, std::function<void(const Reply*)> answer) {
  std::uint32_t nonce = 0;
  do {
    nonce = static_cast<std::uint32_t>(env_.random().next());
  } while (nonce == 0 || table.contains(nonce));
  auto timeout = timers_.after(time_max_, [&table, nonce] {
    auto node = table.extract(nonce);
    node.mapped().answer(nullptr);
  });
  table.emplace(nonce, Pending<Reply>{std::move(answer), timeout});
  return nonce;
}

template <class Reply>
bool Questions::answer(Table<Reply>& table, const Reply& reply) {
  auto node = table.extract(reply.nonce);
  if (node.empty()) return false;
  timers_.cancel(node.mapped().timeout);
  node.mapped().answer(&reply);
  return true;
}

}  // namespace canopy::node
