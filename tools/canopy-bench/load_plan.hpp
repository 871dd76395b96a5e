// What load to make: fixed for a run, and for one phase of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "canopy-bench/http_client.hpp"
#include "canopy-bench/latencies.hpp"
#include "canopy-bench/signer.hpp"

namespace canopy::tools {

using Clock = std::chrono::steady_clock;

inline constexpr unsigned batch_size_max = 10;
inline constexpr unsigned batch_bytes_max = 1'048'576;

// Messages a request: drawn between both.
struct Batch {
  unsigned min = 1;
  unsigned max = 1;
};

enum class Mode {
  send,
  receive,  // and delete
  mixed,    // every second connection receives
  echo,     // sends to a server that answers with the request's body
};

struct LoadPlan {
  Target target;
  std::optional<SigningKey> key;
  std::vector<std::string> queues;  // their URLs; each connection has one of them
  unsigned connections = 64;
  unsigned threads = 1;
  std::size_t size = 100;
  bool fifo = false;      // a message group a connection
  bool prefetch = false;  // the next receive goes out together with a delete
};

struct Phase {
  Mode mode = Mode::send;
  Batch batch;
  std::chrono::seconds wait{0};  // of a receive
  Clock::time_point start;
  Clock::time_point end;
  bool until_empty = false;  // or before, when all that was sent is deleted
  bool until_sent = false;   // or when all that may be sent is
  bool one_group = false;    // all that is sent is of one message group, which no connection has
  // Messages a second of one thread, whatever the server does: each request has
  // its time, from which on its latency counts. Otherwise a connection starts
  // the next when it has the answer to the last.
  std::optional<double> rate;
};

enum Kind : std::uint8_t { send_kind, receive_kind, delete_kind, kinds };

// Within the phase, but for latencies: those of all that began in it.
struct Tally {
  Latencies latencies;
  std::uint64_t requests = 0;
  std::uint64_t messages = 0;

  void add(const Tally& other);
};

struct Counts {
  Tally of[kinds];
  std::map<std::string, std::uint64_t> errors;  // by code
  std::uint64_t empty_receives = 0;             // not among the requests' latencies
  std::uint64_t duplicates = 0;
  std::uint64_t foreign = 0;
  std::uint64_t disorder = 0;
  std::uint64_t unsent = 0;  // requests whose time came while every connection was busy
  double seconds = 0;

  // What other threads counted at the same time; the phase lasted for the first of them.
  void add(const Counts& other);
  // What a later phase counted.
  void append(const Counts& other);
};

}  // namespace canopy::tools
