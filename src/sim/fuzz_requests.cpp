#include "sim/fuzz_requests.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace canopy::sim {

using namespace std::chrono_literals;

namespace {

constexpr Duration reply_time_max = 3s;

Duration deadline_of(Random& random) { return random.chance(0.5) ? Duration(4s) : Duration(20s); }

}  // namespace

FuzzRequests::FuzzRequests(Simulation& simulation, std::uint64_t seed, Host host)
    : simulation_(simulation), host_(std::move(host)), random_(seed ^ seed << 32 ^ 5) {}

FuzzRequests::Member FuzzRequests::process_of(PeerRef peer) const {
  return {simulation_.node_of(peer), simulation_.peers()[peer].incarnation};
}

void FuzzRequests::report() {
  for (std::string& finding : checker_.take_findings()) host_.find(std::move(finding));
}

// --- Senders ---

void FuzzRequests::send_anycast(NodeIndex node, const wire::GroupName& group) {
  scribe::AnycastTerms terms{deadline_of(random_), random_.chance(0.3)
                                                       ? scribe::Patience::until_deadline
                                                       : scribe::Patience::none};
  terms.key = host_.key_of(node);
  const auto id = std::make_shared<wire::MessageId>();
  *id = simulation_.peer(node).scribe().anycast(
      group, Buffer::copy_of("job"),
      [this, id](const scribe::AnycastOutcome& outcome) {
        checker_.ended(*id);
        if (!outcome.error) checker_.said_taken(*id, process_of(outcome.member));
        report();
      },
      terms);
  checker_.sent(*id, process(node), simulation_.now() + terms.within);
}

void FuzzRequests::ask(NodeIndex node, const wire::GroupName& group, bool to_all, Told told) {
  scribe::RequestTerms terms;
  terms.to_all = to_all;
  terms.key = host_.key_of(node);
  terms.within = all_reply_ ? Duration(20s) : deadline_of(random_);
  const auto id = std::make_shared<wire::MessageId>();
  *id = simulation_.peer(node).scribe().request(
      group, Buffer::copy_of("question"), terms,
      [this, id, told = std::move(told)](const scribe::RequestOutcome& outcome) {
        checker_.ended(*id);
        for (const scribe::GivenReply& given : outcome.replies) {
          checker_.said_replied(*id, process_of(given.from));
        }
        report();
        told(outcome);
      });
  checker_.sent(*id, process(node), simulation_.now() + terms.within);
}

// --- Members ---

bool FuzzRequests::anycast(NodeIndex node, const wire::Anycast& message) {
  if (!all_reply_ && random_.chance(0.2)) return false;
  checker_.had(message.id, process(node), simulation_.now());
  report();
  if (message.wants_reply) reply_later(node, message.id);
  return true;
}

std::size_t FuzzRequests::asked(NodeIndex node, std::uint64_t membership,
                                const wire::Multicast& message) {
  if (message.asking.within_ms == 0) return 0;
  checker_.had(message.id, process(node), simulation_.now(), membership);
  report();
  if (!all_reply_ && random_.chance(0.2)) return 0;
  reply_later(node, message.id);
  return 1;
}

void FuzzRequests::reply_later(NodeIndex node, const wire::MessageId& id) {
  if (!all_reply_ && random_.chance(0.1)) return;
  const bool declines = !all_reply_ && random_.chance(0.2);
  const Duration time(random_.below(static_cast<std::uint64_t>(reply_time_max.count())));
  host_.at(simulation_.now() + time, [this, node, id, declines, replier = process(node)] {
    if (process(node) == replier) reply(node, id, declines);
  });
}

void FuzzRequests::reply(NodeIndex node, const wire::MessageId& id, bool declines) {
  if (simulation_.state(node) != NodeState::running) return;
  scribe::Scribe& scribe = simulation_.peer(node).scribe();
  if (declines) return scribe.decline(id);
  scribe.reply(id, 0, Buffer::copy_of("answer"), [](boost::system::error_code) {});
}

void FuzzRequests::judge_end() {
  checker_.judge_end();
  report();
}

}  // namespace canopy::sim
