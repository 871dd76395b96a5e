#include "node/control_queues.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "gateway/answers.hpp"
#include "gateway/failure.hpp"
#include "gateway/queue_url.hpp"
#include "node/entropy.hpp"
#include "node/gateway_core.hpp"

namespace canopy::node {

namespace {

constexpr std::size_t region_bytes_max = 64;

bool is_region(std::string_view text) {
  return text.size() <= region_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::optional<gateway::Failure> problem_of(const wire::control::QueueCall& request) {
  if (!request.account.empty() && !gateway::is_account(request.account))
    return gateway::invalid_parameter(request.account, "account", "Must be twelve digits.");
  if (!is_region(request.region))
    return gateway::invalid_parameter(request.region, "region", "Must be a short name.");
  return std::nullopt;
}

// Of the loop that somebody else owns.
std::shared_ptr<boost::asio::io_context> borrowed(boost::asio::io_context& io) {
  return {std::shared_ptr<void>(), &io};
}

}  // namespace

QueueRequest::QueueRequest(std::shared_ptr<gateway::Mailbag> mailbag, gateway::Service& service,
                           gateway::Work work, Done done)
    : call_(std::make_shared<gateway::PendingCall>(std::move(mailbag), service)),
      done_(std::move(done)) {
  call_->begin(*this, std::move(work.caller), std::move(work.action));
}

QueueRequest::~QueueRequest() {
  if (call_) call_->abandon();
}

void QueueRequest::on_outcome(queue::Outcome outcome) {
  call_.reset();
  const Done done = std::move(done_);  // which may destroy this request
  done(std::move(outcome));
}

ControlQueues::ControlQueues(boost::asio::io_context& io, Gateway& gateway)
    : gateway_(gateway),
      service_(&gateway.core().shared().service),
      usual_(gateway.core().shared().options.access),
      origin_(gateway.url()),
      front_(gateway.core().shared(), system_entropy()),
      mailbag_(std::make_shared<gateway::Mailbag>(borrowed(io), *service_)) {}

void ControlQueues::close() {
  service_ = nullptr;
  mailbag_->close();
}

std::unique_ptr<QueueRequest> ControlQueues::call(const wire::control::QueueCall& request,
                                                  Handler handler) {
  if (const auto problem = problem_of(request)) {
    handler(gateway::write_failure(gateway::Protocol::json, *problem, {}));
    return nullptr;
  }
  const std::string& account = request.account.empty() ? usual_.default_account : request.account;
  const gateway::Identity owner{{account, account},
                                request.region.empty() ? usual_.default_region : request.region};
  auto taken = front_.take_call(request.action, request.body.view(), owner, origin_);
  if (const auto* answer = std::get_if<gateway::Answer>(&taken)) {
    handler(*answer);
    return nullptr;
  }
  auto work = std::get<gateway::Work>(std::move(taken));
  auto done = [this, reply = std::move(work.reply), handler = std::move(handler)](
                  const queue::Outcome& outcome) { handler(front_.finish(reply, outcome)); };
  return std::make_unique<QueueRequest>(mailbag_, *service_, std::move(work), std::move(done));
}

}  // namespace canopy::node
