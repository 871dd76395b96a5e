#include "node/control_server.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "node/control_session.hpp"

namespace canopy::node {

namespace {

net::LocalListenerOptions listener_options(const ControlLimits& limits) {
  net::LocalListenerOptions options;
  options.channels_max = limits.clients_max;
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
}

ControlCounters ControlServer::counters() const noexcept {
  ControlCounters counters = host_->counters;
  counters.refused = listener_.refused();
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
  auto session =
      std::make_shared<ControlSession>(host_, std::move(channel), ++host_->counters.clients);
  sessions_.push_back(session);
  session->start([this, number = session->number()](std::string_view reason) {
    const std::uint64_t malformed = counters().malformed;
    const bool odd = std::exchange(malformed_seen_, malformed) != malformed;
    spdlog::log(odd ? spdlog::level::warn : spdlog::level::debug, "control client {} closed: {}",
                number, reason);
  });
}

}  // namespace canopy::node
