// The commands of `canopy`. Each prints its result and returns the program's
// exit status; what goes wrong is thrown as Failure. `deadline` is when to stop
// waiting for the daemon.
#pragma once

#include <optional>
#include <string>

#include <fmt/format.h>

#include "canopy/arguments.hpp"
#include "canopy/client.hpp"
#include "canopy/failure.hpp"

namespace canopy::tools {

struct Context {
  Client& client;
  bool json = false;
  std::optional<Duration> timeout;

  // Of a command that is answered at once; now + --timeout, or 30 s.
  Client::Deadline deadline() const;
};

int run(Context& context, const StatusCommand& command);
int run(Context& context, const RingCommand& command);
int run(Context& context, const RouteCommand& command);
int run(Context& context, const GroupsCommand& command);
int run(Context& context, const TreeCommand& command);
int run(Context& context, const ShutdownCommand& command);
int run(Context& context, const CreateCommand& command);
int run(Context& context, const AccessCommand& command);
int run(Context& context, const DeleteCommand& command);
int run(Context& context, const JoinCommand& command);
int run(Context& context, const PublishCommand& command);
int run(Context& context, const RequestCommand& command);
int run(Context& context, const ReplyCommand& command);
int run(Context& context, const QueueCommand& command);
int run(Context& context, const BridgeCommand& command);
int run(Context& context, const MembersCommand& command);
// Asks no daemon.
int run(const TokenCommand& command, bool as_json);

// The cluster's name, which is the creator of groups named without one.
std::string cluster_name(Context& context);

// The group that a command line names, its creator filled in.
wire::GroupName group_of(Context& context, const std::string& text);
Id id_of(const wire::GroupName& group);

// What `ask` returns; a failure of it names the group.
template <class Ask>
auto about(const std::string& group, const Ask& ask) {
  try {
    return ask();
  } catch (const UsageError&) {
    throw;
  } catch (const Failure& failure) {
    throw Failure(fmt::format("{}: {}", group, failure.what()), failure);
  }
}

}  // namespace canopy::tools
