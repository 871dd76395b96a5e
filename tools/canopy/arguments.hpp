// The command line of `canopy`, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/id.hpp"
#include "base/time.hpp"
#include "canopy/access_arguments.hpp"
#include "canopy/bridge_arguments.hpp"
#include "canopy/queue_arguments.hpp"
#include "canopy/request_arguments.hpp"
#include "wire/content.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::tools {

struct StatusCommand {
  bool counters = false;
};
struct RingCommand {};
struct RouteCommand {
  std::optional<Id> key;
  std::optional<std::string> name;   // the key is its hash
  std::optional<std::string> group;  // the key is the group's id
};
struct CreateCommand {
  std::string group;
  wire::GroupMode mode = wire::GroupMode::best_effort;
  AccessChanges access;
  std::string token;
};
struct JoinCommand {
  std::vector<std::string> groups;
  std::uint64_t count = 0;  // 0: no end
  std::string token;
  bool presence = false;
  bool last = false;
  bool no_anycast = false;
};
struct PublishCommand {
  std::string group;
  std::string text;  // "-": from standard input
  bool lines = false;
  wire::Headers headers;
  wire::AckMode ack = wire::AckMode::root;
  std::uint64_t require = 0;  // members that are to have it; 0: no matter
  std::string token;
  bool to_one = false;  // member, in place of all
  bool wait = false;    // to one: until a member has room
};
struct GroupsCommand {};
struct TreeCommand {
  std::string group;
  bool dot = false;
  std::string token = {};
};
struct MembersCommand {
  std::string group;
  bool watch = false;
  std::string token = {};
};
struct ShutdownCommand {};

using Command = std::variant<StatusCommand, RingCommand, RouteCommand, CreateCommand, JoinCommand,
                             PublishCommand, GroupsCommand, TreeCommand, ShutdownCommand,
                             RequestCommand, ReplyCommand, QueueCommand, BridgeCommand,
                             AccessCommand, DeleteCommand, TokenCommand, MembersCommand>;

struct Arguments {
  std::string control;  // the socket's path
  bool json = false;
  std::optional<Duration> timeout;
  Command command;
};

// Nothing after --help and --version, which it prints. Throws UsageError.
std::optional<Arguments> parse_arguments(int argc, const char* const* argv);

// "NAME" or "NAME@CREATOR"; the creator stays empty if there is none.
wire::GroupName parse_group(const std::string& text);

}  // namespace canopy::tools
