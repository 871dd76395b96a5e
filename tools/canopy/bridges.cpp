// bridge add, list and remove.
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <canopy/error.hpp>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "canopy/queue_client.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace control = wire::control;
namespace json = boost::json;

namespace {

// With what to do about it, which depends on the names.
[[noreturn]] void throw_of_bridge(const Failure& failure, const std::string& group,
                                  const std::string& queue) {
  switch (static_cast<errc>(failure.code())) {
    case errc::no_such_queue:
      throw Failure(fmt::format("there is no queue {0}: `canopy queue ls` lists those that there "
                                "are, `canopy queue create {0}` makes it",
                                name_of(queue)),
                    failure);
    case errc::no_such_bridge:
      throw Failure(fmt::format("there is no bridge from {} to {}: `canopy bridge list` lists "
                                "those that there are",
                                group, name_of(queue)),
                    failure);
    case errc::limit:
      throw Failure("the daemon has as many bridges as it may have: `canopy bridge remove` one",
                    failure);
    default: throw failure;
  }
}

template <class Answer>
Answer ask_of_bridge(Context& context, control::Request request, const std::string& group,
                     const std::string& queue) {
  try {
    return context.client.ask<Answer>(std::move(request), context.deadline());
  } catch (const Failure& failure) {
    throw_of_bridge(failure, group, queue);
  }
}

std::string state_of(const control::Bridge& bridge) {
  if (!bridge.problem.empty()) return bridge.problem;
  return bridge.joined ? "joined" : "joining";
}

void print_bridges(const std::vector<control::Bridge>& bridges, const std::string& cluster) {
  std::vector<std::vector<std::string>> rows{
      {"GROUP", "QUEUE", "SENT", "DUPLICATES", "LATE", "UNSEEN", "LOST", "REFUSED", "STATE"}};
  for (const control::Bridge& bridge : bridges) {
    const BridgeCounts& counts = bridge.counts;
    rows.push_back({display_name(bridge.group, cluster), bridge.queue, std::to_string(counts.sent),
                    std::to_string(counts.duplicates), std::to_string(counts.late),
                    std::to_string(counts.unseen), std::to_string(counts.lost),
                    std::to_string(counts.refused), state_of(bridge)});
  }
  print(table(rows));
}

int run(Context& context, const BridgeAdd& command) {
  const auto added = ask_of_bridge<control::Bridges>(
      context, control::AddBridge{parse_group(command.group), command.queue}, command.group,
      command.queue);
  if (added.bridges.empty())
    throw Failure("the daemon gave another answer than expected: is it of this version?");
  const control::Bridge& bridge = added.bridges.front();
  if (context.json)
    print_json(to_json(bridge));
  else
    print_line(fmt::format("bridged {} to {}", command.group, bridge.queue_url));
  tell_of_another_host(command.queue, bridge.queue_url);
  if (!bridge.joined)
    complain(fmt::format("the daemon is no member of {} yet, and goes on trying: {}", command.group,
                         state_of(bridge)));
  return 0;
}

int run(Context& context, const BridgeRemove& command) {
  ask_of_bridge<control::Done>(context,
                               control::RemoveBridge{parse_group(command.group), command.queue},
                               command.group, command.queue);
  if (context.json) {
    json::object removed;
    removed["group"] = command.group;
    removed["queue"] = name_of(command.queue);
    json::object object;
    object["removed"] = std::move(removed);
    print_json(object);
  } else {
    print_line(
        fmt::format("removed the bridge from {} to {}", command.group, name_of(command.queue)));
  }
  return 0;
}

int run(Context& context, const BridgeList&) {
  const std::string cluster = cluster_name(context);
  const auto all =
      context.client.ask<control::Bridges>(control::GetBridges{}, context.deadline(),
                                           [](control::Bridges& whole, control::Bridges part) {
                                             for (control::Bridge& bridge : part.bridges)
                                               whole.bridges.push_back(std::move(bridge));
                                           });
  if (!context.json) {
    print_bridges(all.bridges, cluster);
    return 0;
  }
  json::array list;
  for (const control::Bridge& bridge : all.bridges) list.push_back(to_json(bridge));
  json::object object;
  object["bridges"] = std::move(list);
  print_json(object);
  return 0;
}

}  // namespace

int run(Context& context, const BridgeCommand& command) {
  return std::visit([&](const auto& what) { return run(context, what); }, command.what);
}

}  // namespace canopy::tools
