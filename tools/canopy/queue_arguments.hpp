// The command lines of `canopy queue`, taken apart.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/cli.hpp"

namespace canopy::tools {

// Everywhere below `queue` is a name, or a URL as AWS's clients have it.

struct QueueList {
  std::string prefix;
};
struct QueueCreate {
  std::string name;
  bool fifo = false;
  std::map<std::string, std::string> attributes;
};
struct QueueSend {
  struct Attribute {
    std::string name;
    std::string type;
    std::string value;
  };
  std::string queue;
  std::string text;  // "-": from standard input
  bool lines = false;
  std::optional<std::string> group;
  std::optional<std::string> deduplication;
  std::optional<std::uint64_t> delay_seconds;
  std::vector<Attribute> attributes;
};
struct QueueReceive {
  std::string queue;
  std::uint64_t messages_max = 1;
  std::uint64_t wait_seconds = 0;
  std::optional<std::uint64_t> visibility_seconds;
  bool remove = false;
};
struct QueuePeek {
  std::string queue;
  std::uint64_t messages_max = 10;
};
struct QueueDelete {
  std::string queue;
  std::vector<std::string> receipt_handles;
};
struct QueuePurge {
  std::string queue;
  bool sure = false;
};
struct QueueStats {
  std::string queue;
};
struct QueueRemove {
  std::string queue;
  bool sure = false;
};
struct QueueCallAction {
  std::string action;
  std::string parameters = "{}";  // "-": from standard input
};

struct QueueCommand {
  std::string account;  // empty: the daemon's
  std::string region;   // likewise
  std::variant<QueueList, QueueCreate, QueueSend, QueueReceive, QueuePeek, QueueDelete, QueuePurge,
               QueueStats, QueueRemove, QueueCallAction>
      what;
};

// Declares what comes behind `queue`, and reads it once the words are taken
// apart. The command line must outlive it.
class QueueParser {
 public:
  explicit QueueParser(cli::Command queue);
  ~QueueParser();

  // Throws UsageError.
  QueueCommand command() const;

 private:
  class Words;
  std::unique_ptr<Words> words_;
};

}  // namespace canopy::tools
