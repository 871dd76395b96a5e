#include "node/daemon.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <canopy/gateway.hpp>
#include <canopy/node.hpp>

#include "net/listen_error.hpp"
#include "net/log.hpp"
#include "node/control_path.hpp"
#include "node/control_server.hpp"
#include "node/daemon_log.hpp"
#include "node/file_limit.hpp"
#include "node/startup_code.hpp"

namespace canopy::node {
namespace {

using boost::system::error_code;

// Past stdio and its buffers; a reader that has gone is no reason to stop.
void write_out(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void complain(std::string_view problem) {
  write_out(STDERR_FILENO, fmt::format("canopyd: {}\n", problem));
}

std::string describe(Beginning beginning, const DaemonSettings& settings) {
  switch (beginning) {
    case Beginning::founds: return fmt::format("founds the cluster {}", settings.cluster);
    case Beginning::resumes:
      return fmt::format(
          "resumes the cluster {}, alone until others come: give --join if they run already",
          settings.cluster);
    case Beginning::joins: break;
  }
  if (settings.join.empty())
    return fmt::format("joins the cluster {} again by peers that it knows", settings.cluster);
  std::string seeds;
  for (const Endpoint& seed : settings.join)
    seeds += (seeds.empty() ? "" : " or ") + format_endpoint(seed);
  return fmt::format("joins the cluster {} by {}", settings.cluster, seeds);
}

class Daemon {
 public:
  // Throws StartError or net::ListenError.
  explicit Daemon(const DaemonSettings& settings)
      : settings_(settings), node_(io_.get_executor(), to_node_options(settings)) {
    const std::string socket = control_path(settings);
    prepare_control_directory(socket);
    if (settings.gateway.listen) gateway_.emplace(node_, to_gateway_options(settings.gateway));
    control_.emplace(io_, node_, socket, [this] { stop(); });
    if (gateway_) control_->serve_queues(*gateway_);
  }

  ~Daemon() {
    if (draining_.joinable()) draining_.join();
  }

  int run() {
    wait_for_hangup();  // before anybody is told where to send it
    announce();
    wait_for_signal();
    node_.async_wait([this](error_code error) { ended(error); });
    node_.async_start([](error_code) { drop_startup_code(); });  // a failure ends the node, too
    io_.run();
    if (at_once_) return status_;
    control_.reset();  // its clients get what is queued for them
    io_.restart();
    io_.run_for(farewell_time_max);
    return status_;
  }

 private:
  void announce() {
    const PeerInfo self = node_.self();
    write_out(STDOUT_FILENO,
              fmt::format("canopyd {} listening on {}\nid {}\ncontrol socket {}\n{}\n", self.name,
                          self.addresses.front(), self.id.to_hex(), control_->path(),
                          describe(node_.beginning(), settings_)));
    if (gateway_) announce_gateway();
  }

  void announce_gateway() {
    write_out(STDOUT_FILENO, fmt::format("queues at {}\n", gateway_->url()));
    if (!gateway_->durable())
      log::warn("queues are kept in memory and end with this process: give --data to keep them");
    if (settings_.gateway.values.allow_anonymous)
      log::warn("the gateway accepts requests of anybody who reaches it");
  }

  // With a file of secrets SIGHUP reads it anew, as with other daemons. Without one
  // it is that of a terminal that closes, which may come more than once; nohup has
  // it ignored.
  void wait_for_hangup() {
    struct sigaction inherited {};
    if (reloads())
      signals_.add(SIGHUP);
    else if (::sigaction(SIGHUP, nullptr, &inherited) == 0 && inherited.sa_handler != SIG_IGN)
      signals_.add(SIGHUP);
  }

  void wait_for_signal() {
    signals_.async_wait([this](error_code error, int signal) {
      if (error) return;
      if (signal == SIGHUP && reloads()) {
        reload();
        return wait_for_signal();
      }
      if (stopping_ && signal != SIGHUP) {
        log::warn("{} again: stopping at once", ::strsignal(signal));
        at_once_ = true;
        return finish(1);
      }
      if (!stopping_) log::info("{}: departing", ::strsignal(signal));
      stop();
      wait_for_signal();
    });
  }

  // By the settings: the gateway itself goes on another thread.
  bool reloads() const {
    const GatewaySettings& gateway = settings_.gateway;
    return gateway.listen &&
           !(gateway.values.credentials_file.empty() && gateway.bridge_token_files.empty());
  }

  void reload() {
    if (stopping_) return;
    try {
      gateway_->reload_credentials();
      const GatewaySettings& gateway = settings_.gateway;
      if (!gateway.values.credentials_file.empty())
        log::info("the credentials in {} are in force", gateway.values.credentials_file);
      for (const std::string& file : gateway.bridge_token_files)
        log::info("the token of bridges in {} is in force", file);
    } catch (const std::exception& problem) {
      log::error("{}: those read before stay in force", problem.what());
    }
  }

  void ended(error_code error) {
    if (!error || stopping_) return;
    const std::string failure = node_.failure();
    complain(failure.empty() ? error.message() : failure);
    finish(1);
  }

  void stop() {
    if (std::exchange(stopping_, true)) return;
    if (!gateway_) return depart();
    // It blocks, and signals have to be heard meanwhile.
    draining_ = std::thread([this] {
      const auto deadline = std::chrono::steady_clock::now() + settings_.departure_time_max;
      while (!at_once_ && !gateway_->drain(drain_step) &&
             std::chrono::steady_clock::now() < deadline) {
      }
      boost::asio::post(io_, [this] { close_gateway(); });
    });
  }

  // Likewise: it waits for the disk.
  void close_gateway() {
    control_->close_queues();
    draining_.join();
    draining_ = std::thread([this] {
      gateway_.reset();
      boost::asio::post(io_, [this] { depart(); });
    });
  }

  void depart() {
    node_.async_stop([this](error_code error) {
      if (error) log::warn("stopped before everything was handed over: {}", error.message());
      finish(0);
    });
  }

  void finish(int status) {
    status_ = status;
    stopping_ = true;
    signals_.cancel();
    io_.stop();
  }

  static constexpr auto farewell_time_max = std::chrono::seconds(3);
  static constexpr auto drain_step = std::chrono::milliseconds(100);

  const DaemonSettings& settings_;
  boost::asio::io_context io_{1};
  boost::asio::signal_set signals_{io_, SIGTERM, SIGINT};
  Node node_;
  std::optional<Gateway> gateway_;
  std::thread draining_;
  std::optional<ControlServer> control_;
  bool stopping_ = false;
  std::atomic<bool> at_once_ = false;
  int status_ = 0;
};

}  // namespace

int run_daemon(const DaemonSettings& settings) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is as good as a full disk
  const DaemonLog log(settings.log_level);
  raise_file_limit();
  try {
    return Daemon(settings).run();
  } catch (const std::exception& problem) {
    complain(problem.what());
    return 1;
  }
}

}  // namespace canopy::node
