#include "system/cluster.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <signal.h>

#include "system/figures.hpp"

namespace canopy::system_test {
namespace {

std::vector<std::string> command_line(const std::string& name, const std::string& control,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> words{CANOPY_BIN_DIR "/canopyd", "--name", name, "--control", control};
  if (std::find(arguments.begin(), arguments.end(), "--listen") == arguments.end())
    words.insert(words.end(), {"--listen", "127.0.0.1:0"});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string make_directory() {
  std::string pattern = "/tmp/canopy-test-XXXXXX";
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make a directory below /tmp");
  return pattern;
}

}  // namespace

Daemon::Daemon(boost::asio::io_context& io, const std::string& name, const std::string& directory,
               std::vector<std::string> arguments)
    : name_(name),
      control_path_(directory + "/" + name + ".sock"),
      process_(command_line(name, control_path_, arguments), directory + "/" + name),
      client_(io, control_path_) {}

bool Daemon::up(milliseconds time_max) {
  eventually(time_max, [this] { return !address().empty() || !process_.running(); });
  return !address().empty();
}

std::string Daemon::address() const {
  const std::string out = process_.out();
  const std::string prefix = "canopyd " + name_ + " listening on ";
  if (!out.starts_with(prefix)) return {};
  const std::size_t end = out.find('\n');
  return end == std::string::npos ? "" : out.substr(prefix.size(), end - prefix.size());
}

std::uint16_t Daemon::port() const {
  const std::string text = address();
  return static_cast<std::uint16_t>(std::stoul(text.substr(text.rfind(':') + 1)));
}

control::Status Daemon::status() {
  return client_.ask<control::Status>(control::GetStatus{}).at(0);
}

std::uint64_t Daemon::counter(const std::string& name) {
  for (const control::Counter& counter : status().counters)
    if (counter.name == name) return counter.value;
  throw std::runtime_error("no counter " + name);
}

bool Daemon::active() { return client_.connect() && status().state == "active"; }

bool Daemon::becomes_active() {
  return eventually(seconds(5) * slowness, [this] { return active(); });
}

std::vector<control::Peer> Daemon::ring() {
  std::vector<control::Peer> peers;
  for (control::Ring& part : client_.ask<control::Ring>(control::GetRing{}))
    std::move(part.peers.begin(), part.peers.end(), std::back_inserter(peers));
  return peers;
}

std::vector<control::TreeNode> Daemon::tree(const std::string& group) {
  std::vector<control::TreeNode> nodes;
  for (control::Tree& part :
       client_.ask<control::Tree>(control::GetTree{wire::GroupName{group, ""}}))
    std::move(part.nodes.begin(), part.nodes.end(), std::back_inserter(nodes));
  return nodes;
}

Cluster::Cluster(std::vector<std::string> arguments)
    : directory_(make_directory()), arguments_(std::move(arguments)) {}

Cluster::~Cluster() {
  daemons_.clear();
  std::filesystem::remove_all(directory_);
}

Daemon& Cluster::add(const std::string& name, std::vector<std::string> arguments) {
  const bool told = std::find(arguments.begin(), arguments.end(), "--join") != arguments.end();
  if (!daemons_.empty() && !told)
    arguments.insert(arguments.end(), {"--join", daemons_.front()->address()});
  return add_stranger(name, std::move(arguments));
}

Daemon& Cluster::add_stranger(const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), arguments_.begin(), arguments_.end());
  daemons_.push_back(std::make_unique<Daemon>(io_, name, directory_, std::move(arguments)));
  return *daemons_.back();
}

void Cluster::start(std::size_t count) {
  if (!add("peer-0").up()) throw std::runtime_error("the first daemon does not start: " + logs());
  for (std::size_t i = 1; i < count; ++i) add("peer-" + std::to_string(i));
  for (auto& daemon : daemons_)
    if (!daemon->up()) throw std::runtime_error(daemon->name() + " does not start: " + logs());
}

void Cluster::remove(std::size_t index) {
  daemons_.erase(daemons_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool Cluster::is_one_ring() {
  std::set<std::string> running;
  for (auto& daemon : daemons_)
    if (daemon->process().running()) running.insert(daemon->name());
  for (auto& daemon : daemons_) {
    if (!daemon->process().running()) continue;
    if (!daemon->active()) return false;
    std::set<std::string> seen;
    try {
      for (const control::Peer& peer : daemon->ring()) seen.insert(peer.name);
    } catch (const std::runtime_error&) {
      return false;  // the walk did not come round
    }
    if (seen != running) return false;
  }
  return !running.empty();
}

bool Cluster::becomes_one_ring(milliseconds time_max) {
  return until(time_max, [this] { return is_one_ring(); });
}

std::string Cluster::logs() const {
  constexpr std::size_t tail = 1500;
  std::string text;
  for (const auto& daemon : daemons_) {
    const std::string log = const_cast<Daemon&>(*daemon).process().err();
    text += "--- " + daemon->name() + "\n" + log.substr(log.size() > tail ? log.size() - tail : 0);
    if (text.size() > 20'000) break;
  }
  return text;
}

std::uint16_t free_port() {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor(io, {boost::asio::ip::make_address("127.0.0.1"), 0});
  return acceptor.local_endpoint().port();
}

}  // namespace canopy::system_test
