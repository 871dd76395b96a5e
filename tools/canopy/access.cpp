// create, access, delete and token.
#include <map>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <canopy/error.hpp>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "canopy/values.hpp"
#include "node/access_text.hpp"
#include "node/values.hpp"

namespace canopy::tools {

namespace control = wire::control;
namespace json = boost::json;

namespace {

constexpr int tries_max = 5;  // when others change the list at the same time

control::AccessRights to_rights(const AccessList& list) {
  return {node::to_wire(list.publish), node::to_wire(list.join), node::to_wire(list.manage)};
}

AccessList to_list(const control::AccessRights& rights) {
  return {node::to_grant(rights.publish), node::to_grant(rights.join),
          node::to_grant(rights.manage)};
}

// Without a list, a change begins with what holds: everybody may everything.
AccessList list_of(const control::Access& access) {
  return access.access ? to_list(*access.access) : AccessList{{}, {}, {.everybody = true}};
}

json::value grant_json(const Grant& grant) {
  if (grant.everybody) return "anyone";
  json::array entries;
  for (const Key& peer : grant.peers) {
    Grant one{false, {peer}, {}};
    entries.emplace_back(to_text(one));
  }
  for (const TokenId& token : grant.tokens) {
    Grant one{false, {}, {token}};
    entries.emplace_back(to_text(one));
  }
  return entries;
}

// Of the peers that are there now.
std::map<Id, std::string> peer_names(Context& context) {
  std::map<Id, std::string> names;
  try {
    const auto ring = context.client.ask<control::Ring>(
        control::GetRing{}, context.deadline(), [](control::Ring& whole, control::Ring part) {
          whole.peers.insert(whole.peers.end(), part.peers.begin(), part.peers.end());
        });
    for (const control::Peer& peer : ring.peers) names[peer.id] = peer.name;
  } catch (const Failure&) {  // ids do, too
  }
  return names;
}

std::string readable(const Grant& grant, const std::map<Id, std::string>& names) {
  std::string text;
  Grant others = grant;
  std::erase_if(others.peers, [&](const Key& peer) {
    const auto known = names.find(node::to_id(peer));
    if (known == names.end()) return false;
    text += (text.empty() ? "peer:" : ", peer:") + known->second;
    return true;
  });
  if (text.empty()) return to_text(grant);
  return others.peers.empty() && others.tokens.empty() ? text : text + ", " + to_text(others);
}

void show(Context& context, const control::Access& access, const std::string& cluster) {
  const AccessList list = list_of(access);
  if (context.json) {
    json::object object;
    put_group(object, access.group);
    object["group_id"] = access.group_id.to_hex();
    object["mode"] = text_of(access.mode);
    object["created"] = access.created;
    object["publish"] = grant_json(list.publish);
    object["join"] = grant_json(list.join);
    object["manage"] = grant_json(list.manage);
    return print_json(object);
  }
  print_line(fmt::format("{}  {}, {}", display_name(access.group, cluster), text_of(access.mode),
                         access.created ? "created" : "not created: open to anyone"));
  const std::map<Id, std::string> names = peer_names(context);
  print(table({{"RIGHT", "WHO"},
               {"publish", readable(list.publish, names)},
               {"join", readable(list.join, names)},
               {"manage", readable(list.manage, names)}}));
}

// Made again of the newest list while others change it, too.
control::Access change(Context& context, const AccessCommand& command,
                       const wire::GroupName& group) {
  for (int tries = 1;; ++tries) {
    const auto now =
        context.client.ask<control::Access>(control::GetAccess{group}, context.deadline());
    AccessList list = list_of(now);
    command.changes.apply(list);
    try {
      return context.client.ask<control::Access>(
          control::SetAccess{group, now.version, to_rights(list), command.token},
          context.deadline());
    } catch (const Failure& failure) {
      const bool conflict = failure.code() == static_cast<unsigned>(errc::conflict);
      if (!conflict || tries == tries_max) throw;
    }
  }
}

}  // namespace

int run(Context& context, const CreateCommand& command) {
  const std::string cluster = cluster_name(context);
  wire::GroupName group = parse_group(command.group);
  control::Create request{group, command.mode, std::nullopt, command.token};
  if (!command.access.empty()) {
    AccessList list;
    command.access.apply(list);
    request.access = to_rights(list);
  }
  const auto done = about(command.group, [&] {
    return context.client.ask<control::Done>(request, context.deadline());
  });
  if (group.creator.empty()) group.creator = cluster;
  const Id id = id_of(group);
  if (context.json) {
    json::object object;
    put_group(object, group);
    object["group_id"] = id.to_hex();
    object["mode"] = text_of(command.mode);
    object["existed"] = done.existed;
    print_json(object);
  } else if (done.existed) {
    print_line(fmt::format(
        "{} was there already ({}), {}{}", display_name(group, cluster), id.to_hex(),
        text_of(command.mode),
        command.access.empty() ? "" : "; who may what stays as it is: see canopy access"));
  } else {
    print_line(fmt::format("created {} ({}), {}", display_name(group, cluster), id.to_hex(),
                           text_of(command.mode)));
  }
  return 0;
}

int run(Context& context, const AccessCommand& command) {
  const std::string cluster = cluster_name(context);
  const wire::GroupName group = group_of(context, command.group);
  const auto access = about(command.group, [&] {
    return command.changes.empty()
               ? context.client.ask<control::Access>(control::GetAccess{group}, context.deadline())
               : change(context, command, group);
  });
  show(context, access, cluster);
  return 0;
}

int run(Context& context, const DeleteCommand& command) {
  const std::string cluster = cluster_name(context);
  const wire::GroupName group = group_of(context, command.group);
  about(command.group, [&] {
    return context.client.ask<control::Done>(control::DeleteGroup{group, command.token},
                                             context.deadline());
  });
  if (context.json) {
    json::object object;
    put_group(object, group);
    object["deleted"] = true;
    print_json(object);
  } else {
    print_line(fmt::format("deleted {}", display_name(group, cluster)));
  }
  return 0;
}

int run(const TokenCommand& command, bool as_json) {
  std::string token;
  if (command.file.empty()) {
    token = make_token();
  } else {
    node::TokenText read = node::read_token(command.file);
    if (!read.problem.empty()) throw UsageError("token: " + read.problem);
    token = std::move(read.token);
  }
  const std::string key = to_text(Grant{false, {}, {token_id(token)}});
  if (as_json) {
    json::object object;
    if (command.file.empty()) object["token"] = token;
    object["key"] = key;
    print_json(object);
  } else {
    print_line(command.file.empty() ? token : key);
  }
  return 0;
}

}  // namespace canopy::tools
