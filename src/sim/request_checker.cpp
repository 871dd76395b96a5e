#include "sim/request_checker.hpp"

#include <chrono>

#include <fmt/format.h>

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

// A search, or the root that it is on its way to, may be held up on the way.
constexpr Duration slack = 20s;

}  // namespace

void RequestChecker::find(const wire::MessageId& id, const char* finding, const Member& member) {
  findings_.push_back(fmt::format("request {} of {}: node {} {}", id.sequence,
                                  id.publisher.to_hex().substr(0, 8), member.first, finding));
}

void RequestChecker::sent(const wire::MessageId& id, const Member& sender, MonoTime deadline) {
  Sent& sent = sent_[id];
  sent.sender = sender;
  sent.deadline = deadline;
}

void RequestChecker::had(const wire::MessageId& id, const Member& member, MonoTime now,
                         std::uint64_t membership) {
  Sent& sent = sent_[id];
  const bool first = sent.had.insert({member, membership}).second;
  if (!first) find(id, "was given it twice", member);
  if (sent.sender && now > sent.deadline + slack) {
    find(id, "was given it long after its time", member);
  }
}

void RequestChecker::expect_had(const wire::MessageId& id, const Member& member,
                                const char* finding) {
  const auto found = sent_.find(id);
  if (found == sent_.end()) return find(id, finding, member);
  const auto first = found->second.had.lower_bound({member, 0});
  if (first == found->second.had.end() || first->first != member) find(id, finding, member);
}

void RequestChecker::said_taken(const wire::MessageId& id, const Member& member) {
  ++taken_;
  expect_had(id, member, "was said to have taken it, and had not got it");
}

void RequestChecker::said_replied(const wire::MessageId& id, const Member& member) {
  ++replies_;
  expect_had(id, member, "was said to have replied, and had not got it");
}

void RequestChecker::ended(const wire::MessageId& id) {
  const auto found = sent_.find(id);
  if (found != sent_.end()) found->second.ended = true;
}

void RequestChecker::stopped(const Member& process) {
  for (auto& [id, sent] : sent_) {
    if (sent.sender == process) sent.ended = true;
  }
}

void RequestChecker::judge_end() {
  for (const auto& [id, sent] : sent_) {
    if (sent.sender) {
      if (!sent.ended) find(id, "was never told how it had ended", *sent.sender);
      continue;
    }
    for (const auto& [member, membership] : sent.had) {
      find(id, "was given what nobody had sent", member);
    }
  }
}

}  // namespace canopy::sim
