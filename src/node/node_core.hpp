// What a Node owns: its event loops, its mailbox, its data directory, and the
// overlay on its loop. Thread-safe but for constructor and close().
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <canopy/inspect.hpp>
#include <canopy/node.hpp>
#include <canopy/options.hpp>

#include "node/data_directory.hpp"
#include "node/event_loop.hpp"
#include "node/group_files.hpp"
#include "node/known_peers.hpp"
#include "node/mailbox.hpp"
#include "node/overlay.hpp"

namespace canopy::detail {

class NodeCore {
 public:
  // Throws StartError.
  NodeCore(boost::asio::any_io_executor executor, NodeOptions options);
  ~NodeCore() { close(); }

  // Stops the threads and ends every operation. Not from one of its threads.
  void close();

  node::Mailbox& mailbox() noexcept { return *mailbox_; }
  // On the overlay's thread only.
  node::Overlay& overlay() noexcept { return *overlay_; }

  const PeerInfo& self() const noexcept { return self_; }
  Beginning beginning() const noexcept { return beginning_; }
  // As of the start; the cluster may come later.
  const node::Identity& identity() const noexcept { return identity_; }
  const std::string& data_directory() const noexcept { return data_directory_; }
  std::string failure() const;

 private:
  using Kept = std::function<void(boost::system::error_code)>;

  node::OverlayHooks hooks();
  void keep(std::function<boost::system::error_code()> write, Kept kept);
  void failed(const std::string& text);

  std::optional<node::DataDirectory> directory_;  // of the disk's thread, once that runs
  std::optional<node::GroupFiles> group_files_;   // likewise

  // The overlay's thread never waits for the disk.
  node::EventLoop overlay_loop_{"canopy-overlay"};
  std::optional<node::EventLoop> disk_loop_;
  std::shared_ptr<node::Mailbox> mailbox_;
  std::unique_ptr<node::Overlay> overlay_;

  std::string data_directory_;  // empty: nothing is kept
  node::Identity identity_;
  PeerInfo self_;
  Beginning beginning_ = Beginning::founds;
  mutable std::mutex mutex_;
  std::string failure_;
};

}  // namespace canopy::detail
