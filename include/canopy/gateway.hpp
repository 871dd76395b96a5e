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
#include <vector>

#include <canopy/node.hpp>

namespace canopy {

namespace detail {
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
  std::size_t request_bytes_max = 8U << 20;           // of a body
  std::size_t arriving_bytes_max = 256U << 20;        // of requests that are still arriving
  std::size_t waiting_bytes_max = 64U << 20;          // of requests on their way to the queues
  std::size_t receives_waiting_max = 65'536;          // long polls; others are answered at once
  std::uint64_t storage_memory_bytes = 256ULL << 20;  // write buffers and cache of the store
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

  // Reads the credentials anew. Throws StartError if they cannot be used: those
  // before stay in force.
  void reload_credentials();

  // Accepts no more connections, lets requests under way end, and answers waiting
  // receives with no messages; blocks until all connections are closed, or until
  // the time is up: then false. Can be called again.
  bool drain(std::chrono::milliseconds time_max);

  // For the library's own parts.
  detail::GatewayCore& core() const noexcept { return *core_; }

 private:
  std::unique_ptr<detail::GatewayCore> core_;
};

}  // namespace canopy
