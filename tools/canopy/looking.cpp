// status, ring, route, groups and shutdown.
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <canopy/error.hpp>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "canopy/values.hpp"
#include "scribe/group_name.hpp"

namespace canopy::tools {

namespace control = wire::control;
namespace json = boost::json;

namespace {

constexpr Duration answer_time_max = std::chrono::seconds(30);

// Before the ring is walked again.
constexpr auto walk_pause = std::chrono::milliseconds(250);

template <class T>
void join_lists(std::vector<T>& whole, std::vector<T>& part) {
  whole.insert(whole.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string uptime_text(std::chrono::milliseconds uptime) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(uptime).count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  if (seconds < 86'400) return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{} d {} h", seconds / 86'400, seconds / 3600 % 24);
}

void print_status(const control::Status& status, bool counters) {
  std::string addresses;
  for (const std::string& address : status.self.addresses)
    addresses += (addresses.empty() ? "" : ", ") + address;
  std::vector<std::vector<std::string>> rows{
      {"name", status.self.name},
      {"id", status.self.id.to_hex()},
      {"state", status.state},
      {"cluster", fmt::format("{} ({}{})", status.cluster, or_dash(status.cluster_uuid),
                              status.founded ? ", founded by this daemon" : "")},
      {"address", or_dash(addresses)},
      {"zone", or_dash(status.self.zone)},
      {"uptime", uptime_text(status.uptime)},
      {"version", status.version},
      {"ring",
       fmt::format("{} leaves, {} table entries, {} neighbours, {} links (b = {}, |L| = {})",
                   status.leaves.size(), status.table_entries, status.neighbors, status.links,
                   status.digit_bits, status.leaf_set_size)},
      {"groups", fmt::format("in {} trees, {} subscriptions", status.groups, status.subscriptions)},
  };
  if (counters) {
    for (const control::Counter& counter : status.counters)
      rows.push_back({counter.name, std::to_string(counter.value)});
  }
  print(table(rows));
}

std::string role_of(const control::Group& group) {
  std::string role;
  const auto add = [&role](const char* word) {
    role += (role.empty() ? "" : ", ") + std::string(word);
  };
  if (group.root) add("root");
  if (group.member) add("member");
  if (!group.root && !group.member) add("forwarder");
  if (!group.attached) add("looking for a parent");
  return role;
}

void wait(Context& context, std::chrono::milliseconds time) {
  bool over = false;
  boost::asio::steady_timer timer(context.client.io(), time);
  timer.async_wait([&over](boost::system::error_code) { over = true; });
  context.client.run([&over] { return over; }, {});
}

// A walk finds no way on past peers that are dead, but which those before them do not
// know to be so. They will soon: so it is begun again while there is time.
control::Ring walk(Context& context, const Client::Deadline& deadline) {
  for (;;) {
    try {
      return context.client.ask<control::Ring>(
          control::GetRing{}, deadline,
          [](control::Ring& whole, control::Ring part) { join_lists(whole.peers, part.peers); });
    } catch (const Failure& failure) {
      if (failure.code() != static_cast<unsigned>(errc::timed_out)) throw;
      if (std::chrono::steady_clock::now() + walk_pause >= *deadline) {
        throw Failure(
            "not all peers could be found in time: some that were asked who comes next do not "
            "answer (dead, or hard to reach): try again in a moment, or a longer --timeout",
            failure);
      }
    }
    wait(context, walk_pause);
  }
}

Id key_of(Context& context, const RouteCommand& command) {
  if (command.key) return *command.key;
  if (command.name) return Id::hash_of(*command.name);
  return id_of(group_of(context, *command.group));
}

void print_route(const control::Route& route) {
  print_line(fmt::format("key {}", route.key.to_hex()));
  print_line(fmt::format("{}  {}  {}{}", short_id(route.self.id), route.self.name,
                         first_address(route.self),
                         route.hops.empty() ? "  root (this daemon itself)" : ""));
  std::string indent;
  for (std::size_t i = 0; i < route.hops.size(); ++i, indent += "   ") {
    const control::Peer& hop = route.hops[i];
    print_line(fmt::format("{}└─ {}  {}  {}{}", indent, short_id(hop.id), hop.name,
                           first_address(hop), i + 1 == route.hops.size() ? "  root" : ""));
  }
}

}  // namespace

Client::Deadline Context::deadline() const {
  return std::chrono::steady_clock::now() + timeout.value_or(answer_time_max);
}

std::string cluster_name(Context& context) {
  return context.client.ask<control::Status>(control::GetStatus{}, context.deadline()).cluster;
}

wire::GroupName group_of(Context& context, const std::string& text) {
  wire::GroupName group = parse_group(text);
  if (group.creator.empty()) group.creator = cluster_name(context);
  return group;
}

Id id_of(const wire::GroupName& group) { return scribe::group_id(group, Id::bits); }

int run(Context& context, const StatusCommand& command) {
  const auto status = context.client.ask<control::Status>(control::GetStatus{}, context.deadline());
  if (context.json)
    print_json(to_json(status));
  else
    print_status(status, command.counters);
  return 0;
}

int run(Context& context, const RingCommand&) {
  const Client::Deadline deadline = context.deadline();
  const Id self = context.client.ask<control::Status>(control::GetStatus{}, deadline).self.id;
  const control::Ring ring = walk(context, deadline);
  if (context.json) {
    json::array peers;
    for (const control::Peer& peer : ring.peers) {
      json::object object = to_json(peer);
      object["self"] = peer.id == self;
      peers.push_back(std::move(object));
    }
    json::object object;
    object["complete"] = ring.complete;
    object["peers"] = std::move(peers);
    print_json(object);
  } else {
    std::vector<std::vector<std::string>> rows{{"", "ID", "NAME", "ADDRESS", "ZONE"}};
    for (const control::Peer& peer : ring.peers) {
      rows.push_back({peer.id == self ? "*" : "", short_id(peer.id), peer.name, first_address(peer),
                      or_dash(peer.zone)});
    }
    print(table(rows));
  }
  if (!ring.complete)
    complain("not every peer answered, so some may be missing: try again in a moment");
  return 0;
}

int run(Context& context, const RouteCommand& command) {
  const Id key = key_of(context, command);
  const auto route = context.client.ask<control::Route>(control::GetRoute{key}, context.deadline());
  if (!context.json) {
    print_route(route);
    return 0;
  }
  json::array hops;
  for (const control::Peer& hop : route.hops) hops.push_back(to_json(hop));
  json::object object;
  object["key"] = key.to_hex();
  object["self"] = to_json(route.self);
  object["hops"] = std::move(hops);
  object["root"] = to_json(route.hops.empty() ? route.self : route.hops.back());
  print_json(object);
  return 0;
}

int run(Context& context, const GroupsCommand&) {
  const std::string cluster = cluster_name(context);
  const auto groups = context.client.ask<control::Groups>(
      control::GetGroups{}, context.deadline(),
      [](control::Groups& whole, control::Groups part) { join_lists(whole.groups, part.groups); });
  if (context.json) {
    json::array list;
    for (const control::Group& group : groups.groups) list.push_back(to_json(group));
    json::object object;
    object["groups"] = std::move(list);
    print_json(object);
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"GROUP", "ID", "MODE", "ROLE", "PARENT", "CHILDREN"}};
  for (const control::Group& group : groups.groups) {
    rows.push_back({display_name(group.name, cluster), short_id(group.id), text_of(group.mode),
                    role_of(group), group.parent ? group.parent->name : "-",
                    std::to_string(group.children)});
  }
  print(table(rows));
  return 0;
}

int run(Context& context, const ShutdownCommand&) {
  Client& client = context.client;
  const Client::Deadline deadline = context.deadline();
  const auto status = client.ask<control::Status>(control::GetStatus{}, deadline);
  client.expect_hangup();
  client.ask<control::Done>(control::Shutdown{}, deadline);
  client.run([&client] { return client.hung_up(); }, deadline);
  if (!client.hung_up())
    throw Failure(fmt::format("{} is leaving, but has not ended in time", status.self.name));
  if (context.json) {
    json::object object;
    object["stopped"] = status.self.name;
    print_json(object);
  } else {
    print_line(fmt::format("{} has stopped", status.self.name));
  }
  return 0;
}

}  // namespace canopy::tools
