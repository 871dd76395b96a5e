#include "node/control_server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <canopy/error.hpp>

#include "net/log.hpp"
#include "node/control_queues.hpp"
#include "node/control_session.hpp"
#include "wire/control_codec.hpp"

namespace canopy::node {

namespace control = wire::control;

namespace {

// Clients beyond the limit that hear why at the same time; others are just closed.
constexpr std::size_t farewells_max = 8;

net::LocalListenerOptions listener_options(const ControlLimits& limits) {
  net::LocalListenerOptions options;
  options.channels_max = limits.clients_max + farewells_max;
  options.channel.queue_bytes_max = limits.queue_bytes_max;
  return options;
}

}  // namespace

ControlServer::ControlServer(boost::asio::io_context& io, Node& node, std::string path,
                             std::function<void()> shutdown, ControlLimits limits)
    : host_(std::make_shared<ControlHost>(
          ControlHost{node, io, std::move(shutdown), limits, [this] { return counters(); }})),
      listener_(
          io, std::move(path),
          [this](std::shared_ptr<net::FrameChannel> channel) { accept(std::move(channel)); },
          listener_options(limits)) {}

ControlServer::~ControlServer() {
  for (const auto& weak : sessions_)
    if (const auto session = weak.lock()) session->finish();
  close_queues();
}

void ControlServer::serve_queues(Gateway& gateway) {
  host_->queues = std::make_shared<ControlQueues>(host_->io, gateway);
}

void ControlServer::close_queues() {
  if (!host_->queues) return;
  for (const auto& weak : sessions_)
    if (const auto session = weak.lock()) session->close_queues();
  host_->queues->close();
}

ControlCounters ControlServer::counters() const noexcept {
  ControlCounters counters = host_->counters;
  counters.refused += listener_.refused();
  counters.accept_errors = listener_.accept_errors();
  counters.malformed += listener_.counters().malformed + listener_.counters().truncated;
  return counters;
}

std::size_t ControlServer::clients() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(), [](const auto& weak) {
        const auto session = weak.lock();
        return session && session->is_open();
      }));
}

void ControlServer::accept(std::shared_ptr<net::FrameChannel> channel) {
  std::erase_if(sessions_, [](const auto& weak) { return weak.expired(); });
  if (clients() >= host_->limits.clients_max) return turn_away(*channel);
  auto session =
      std::make_shared<ControlSession>(host_, std::move(channel), ++host_->counters.clients);
  sessions_.push_back(session);
  session->start([this, number = session->number()](std::string_view reason) {
    const std::uint64_t malformed = counters().malformed;
    const bool odd = std::exchange(malformed_seen_, malformed) != malformed;
    log::write(odd ? spdlog::level::warn : spdlog::level::debug, "control client {} closed: {}",
               fmt::make_format_args(number, reason));
  });
}

// In a request that has no id yet: of the connection itself.
void ControlServer::turn_away(net::FrameChannel& channel) {
  ++host_->counters.refused;
  const std::string text =
      fmt::format("this daemon has {} clients, as many as it may have: end one, or try again later",
                  host_->limits.clients_max);
  if (log_.allow()) log::warn("control client turned away: {}", text);
  channel.start({});
  const control::Failure failure{static_cast<std::uint16_t>(errc::limit), text};
  channel.send(control::encode(control::AnswerEnvelope{0, false, failure}).value());
  channel.finish();
}

}  // namespace canopy::node
