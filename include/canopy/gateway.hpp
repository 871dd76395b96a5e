// An Amazon SQS endpoint on a node, embedded in this process.
//
//   canopy::Node node(io.get_executor(), {.name = "a", .data_directory = "/var/lib/a"});
//   canopy::Gateway gateway(node, {.listen = "127.0.0.1:9324", .allow_anonymous = true});
//
// Queues live with the node: on its data directory, where a message is synced
// before it is acknowledged, or in memory if it has none. The gateway has threads
// of its own and serves from its construction on, whatever the overlay does.
//
// Thread-safe, but for construction and destruction. One gateway a node. It may
// outlive the Node; the data directory is free when both are gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <canopy/bridge.hpp>
#include <canopy/detail/initiate.hpp>
#include <canopy/inspect.hpp>
#include <canopy/node.hpp>

namespace canopy {

namespace detail {
class Bridges;
class GatewayCore;
}  // namespace detail

// Amazon's limits, which are also the defaults.
struct QueueLimits {
  std::size_t message_bytes_max = 1'048'576;
  std::size_t batch_bytes_max = 1'048'576;
  std::size_t batch_entries_max = 10;  // also of a receive
  std::chrono::seconds visibility_timeout_max{43'200};
  std::chrono::seconds delay_max{900};
  std::chrono::seconds retention_min{60};
  std::chrono::seconds retention_max{1'209'600};
  std::chrono::seconds wait_max{20};
  std::size_t in_flight_max = 120'000;
  std::size_t in_flight_fifo_max = 20'000;
  std::size_t attributes_max = 10;  // of a message
  std::size_t tags_max = 50;
  std::chrono::seconds deduplication{300};
  std::chrono::seconds purge_interval{60};
  // After a queue's deletion, until its name can be used again. Amazon: 60 s.
  std::chrono::seconds deleted_recently{0};
};

struct GatewayQueue {
  std::string name;
  std::map<std::string, std::string> attributes = {};  // as CreateQueue takes them
};

// A file with a token for the bridges of a group.
struct BridgeTokenFile {
  std::optional<GroupName> group = {};  // none: of all that have no file of their own
  std::string file = {};
};

// Ranges are those that `canopyd --help` tells of its options of these names.
struct GatewayOptions {
  // HOST:PORT; port 0 lets the system choose.
  std::string listen = "127.0.0.1:9324";
  unsigned threads = 0;  // for connections; 0: by the number of cores, up to four

  // Requests are checked against the keys in this file (of AWS's form), or, if
  // empty, the one in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
  std::string credentials_file = {};
  // Requests without a signature, and of unknown keys, are accepted unverified.
  bool allow_anonymous = false;
  std::string default_account = "000000000000";
  std::string default_region = "us-east-1";

  // What bridges show where a group's access list asks for a token: one file for each of
  // some groups, and one for all others.
  std::vector<BridgeTokenFile> bridge_token_files = {};

  // PEM files for TLS; both or none.
  std::string certificate_file = {};
  std::string key_file = {};

  // Made, or given these attributes, before the first request is served; in the
  // default account and region.
  std::vector<GatewayQueue> queues = {};
  // Queues come into being when they are first sent to, received from, or asked
  // about.
  bool create_on_first_use = false;

  QueueLimits limits = {};

  // Bounds.
  std::size_t connections_max = 20'000;
  std::size_t request_bytes_max = 8U << 20;     // of a body
  std::size_t arriving_bytes_max = 256U << 20;  // of all that arrive; twice the above at least
  std::size_t waiting_bytes_max = 64U << 20;    // of requests on their way to the queues
  std::size_t receives_waiting_max = 65'536;    // long polls; others are answered at once
  std::uint64_t storage_memory_bytes = 256ULL << 20;  // write buffers and cache of the store
  // What queues of a node without a data directory hold; then messages are refused.
  std::uint64_t queues_in_memory_bytes_max = 1ULL << 30;
};

class Gateway {
 public:
  // Opens the store and listens. Throws StartError: a file is corrupt or somebody
  // else's, the port is in use, an option or a queue's attribute is wrong.
  Gateway(Node& node, GatewayOptions options);
  // Ends every connection. What was acknowledged is on the disk.
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // "http://127.0.0.1:9324", with the port in use.
  std::string url() const;

  // Whether messages survive the process.
  bool durable() const;

  // Why not everything is served at the moment (a full disk); empty: all is well.
  std::string problem() const;

  // Reads the credentials, and the tokens of bridges, anew. Throws StartError if they cannot be
  // used: those before stay in force.
  void reload_credentials();

  // Bridges (see bridge.hpp). A queue is meant by its name, in the default account
  // and region, or by its URL. The gateway keeps its bridges with the queues and
  // resumes them at its start; while there are any, it counts as work of the node's
  // executor, which has to outlive it and to run. Like the node's, these functions
  // take any completion token, and handlers run by default on the node's executor.
  // Common errors: unavailable (the disk is full, or too much is asked at once),
  // shutting_down once it drains.

  // Complete when the bridge is on the disk, and the node is a member of the group
  // or has tried: `joined` says which. Again: changes nothing.
  //
  // Completion: void(error_code, BridgeInfo). no_such_queue, bad_name, limit (64
  // bridges).
  template <class Token>
  auto async_add_bridge(GroupName group, std::string queue, Token&& token) {
    return detail::initiate<BridgeInfo>(std::forward<Token>(token), &start_add, bridges(),
                                        std::move(group), std::move(queue));
  }

  // Messages stay in the queue; what the bridge counted and remembered goes.
  //
  // Completion: void(error_code). no_such_queue, no_such_bridge.
  template <class Token>
  auto async_remove_bridge(GroupName group, std::string queue, Token&& token) {
    return detail::initiate<>(std::forward<Token>(token), &start_remove, bridges(),
                              std::move(group), std::move(queue));
  }

  // All of them. A queue that was deleted has none any more.
  //
  // Completion: void(error_code, std::vector<BridgeInfo>).
  template <class Token>
  auto async_bridges(Token&& token) {
    return detail::initiate<std::vector<BridgeInfo>>(std::forward<Token>(token), &start_list,
                                                     bridges());
  }

  // What all bridges counted since this gateway's start.
  BridgeCounts bridge_counts() const;

  // What the gateway, its queues and its bridges counted since its start, as in
  // `canopy status --counters`.
  std::vector<Counter> counters() const;

  // Ends the bridges until the next start, accepts no more connections, lets requests under way
  // end, and answers waiting receives with no messages; blocks until all connections are closed, or
  // until the time is up: then false. Can be called again.
  bool drain(std::chrono::milliseconds time_max);

  // For the library's own parts.
  detail::GatewayCore& core() const noexcept { return *core_; }

 private:
  std::shared_ptr<detail::Bridges> bridges() const;
  static void start_add(const std::shared_ptr<detail::Bridges>& bridges, GroupName group,
                        const std::string& queue, detail::Completion<BridgeInfo> done);
  static void start_remove(const std::shared_ptr<detail::Bridges>& bridges, GroupName group,
                           const std::string& queue, detail::Completion<> done);
  static void start_list(const std::shared_ptr<detail::Bridges>& bridges,
                         detail::Completion<std::vector<BridgeInfo>> done);

  std::unique_ptr<detail::GatewayCore> core_;
};

}  // namespace canopy
