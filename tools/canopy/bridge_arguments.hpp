// The command lines of `canopy bridge`, taken apart.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "common/cli.hpp"

namespace canopy::tools {

// `group` is NAME or NAME@CREATOR, `queue` a name, or a URL as AWS's clients have
// it.
struct BridgeAdd {
  std::string group;
  std::string queue;
};
struct BridgeRemove {
  std::string group;
  std::string queue;
};
struct BridgeList {};

struct BridgeCommand {
  std::variant<BridgeAdd, BridgeRemove, BridgeList> what;
};

// Declares what comes behind `bridge`, and reads it once the words are taken
// apart. The command line must outlive it.
class BridgeParser {
 public:
  explicit BridgeParser(cli::Command bridge);
  ~BridgeParser();

  // Groups are not looked at.
  BridgeCommand command() const;

 private:
  class Words;
  std::unique_ptr<Words> words_;
};

}  // namespace canopy::tools
