#include "node/node_core.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "net/clock.hpp"
#include "net/listen_error.hpp"
#include "node/overlay_config.hpp"
#include "node/values.hpp"

namespace canopy::detail {
namespace {

node::Identity wanted_identity(const NodeOptions& options) {
  node::Identity identity;
  identity.name = options.name;
  identity.id = Id::hash_of(options.name);
  identity.cluster = options.cluster;
  identity.digit_bits = options.digit_bits;
  identity.leaf_set_size = options.leaf_set_size;
  return identity;
}

wire::Hello hello_of(const node::Identity& identity, const NodeOptions& options) {
  wire::Hello hello;
  hello.cluster = identity.cluster_uuid;
  hello.cluster_name = identity.cluster;
  hello.peer.id = identity.id;
  hello.peer.incarnation = identity.incarnation;
  hello.peer.name = identity.name;
  hello.peer.zone = options.zone;
  hello.digit_bits = static_cast<std::uint8_t>(identity.digit_bits);
  hello.leaf_set_size = static_cast<std::uint16_t>(identity.leaf_set_size);
  return hello;
}

Beginning to_beginning(node::FoundingStep step) {
  switch (step) {
    case node::FoundingStep::found: return Beginning::founds;
    case node::FoundingStep::resume: return Beginning::resumes;
    case node::FoundingStep::ask_seeds: return Beginning::joins;
  }
  return Beginning::joins;
}

}  // namespace

NodeCore::NodeCore(boost::asio::any_io_executor executor, NodeOptions options) {
  std::string problem = node::problem_with(options);
  if (!problem.empty()) throw StartError(problem);
  node::Identity identity = wanted_identity(options);
  std::vector<wire::GroupState> groups;
  node::KnownPeers known;
  if (options.data_directory.empty()) {
    identity.incarnation = static_cast<std::uint64_t>(net::wall_now().time_since_epoch().count());
  } else {
    directory_.emplace(
        node::DataDirectory::open(options.data_directory, identity, net::wall_now()));
    identity = directory_->identity();
    group_files_.emplace(options.data_directory);
    groups = group_files_->read(net::wall_now());
    known = node::read_known_peers(options.data_directory, identity.cluster_uuid);
    disk_loop_.emplace("canopy-disk");
  }
  data_directory_ = options.data_directory;
  identity_ = identity;
  mailbox_ = std::make_shared<node::Mailbox>(
      overlay_loop_.context(),
      node::Mailbox::Limits{options.mailbox_calls_max, options.mailbox_bytes_max});
  try {
    overlay_ = std::make_unique<node::Overlay>(overlay_loop_.context(), options,
                                               hello_of(identity, options), mailbox_,
                                               std::move(executor), hooks());
  } catch (const net::ListenError& error) {
    throw StartError(error.what());
  }
  overlay_->restore(groups);
  if (!identity_.cluster_uuid.is_nil()) overlay_->returned(known);
  self_ = node::to_peer_info(overlay_->self());
  beginning_ = to_beginning(overlay_->first_step());
  if (disk_loop_) disk_loop_->start();
  overlay_loop_.start();
}

void NodeCore::close() {
  overlay_loop_.stop();
  if (disk_loop_) disk_loop_->drain();  // what was to be kept is kept
  mailbox_->close();
  overlay_.reset();
}

node::OverlayHooks NodeCore::hooks() {
  node::OverlayHooks hooks;
  hooks.keep_cluster = [this](const Uuid& cluster, Kept kept) {
    keep([this, cluster] { return directory_->set_cluster(cluster); }, std::move(kept));
  };
  hooks.keep_groups = [this](auto changes, Kept kept) {
    keep([this,
          changes = std::move(changes)] { return group_files_->write(changes, net::wall_now()); },
         std::move(kept));
  };
  hooks.keep_peers = [this](const node::KnownPeers& peers, Kept kept) {
    keep(
        [this, peers] {
          return node::write_known_peers(data_directory_, directory_->identity().cluster_uuid,
                                         peers);
        },
        std::move(kept));
  };
  hooks.failed = [this](const std::string& text) { failed(text); };
  return hooks;
}

// At once without a data directory.
void NodeCore::keep(std::function<boost::system::error_code()> write, Kept kept) {
  auto& overlay = overlay_loop_.context();
  if (!disk_loop_) return boost::asio::post(overlay, [kept = std::move(kept)] { kept({}); });
  boost::asio::post(disk_loop_->context(),
                    [write = std::move(write), &overlay, kept = std::move(kept)] {
                      const boost::system::error_code error = write();
                      boost::asio::post(overlay, [kept, error] { kept(error); });
                    });
}

void NodeCore::failed(const std::string& text) {
  std::lock_guard lock(mutex_);
  failure_ = text;
}

std::string NodeCore::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace canopy::detail
