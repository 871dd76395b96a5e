#include "canopy/values.hpp"

#include <boost/json/array.hpp>

#include <canopy/message.hpp>

#include "canopy/output.hpp"

namespace canopy::tools {

namespace json = boost::json;

std::string short_id(const Id& id) { return id.to_hex().substr(0, short_id_digits); }

std::string first_address(const wire::control::Peer& peer) {
  return peer.addresses.empty() ? "-" : peer.addresses.front();
}

std::string display_name(const wire::GroupName& group, const std::string& default_creator) {
  return GroupName{group.name, group.creator}.to_string(default_creator);
}

json::object to_json(const wire::control::Peer& peer) {
  json::object object;
  object["id"] = peer.id.to_hex();
  object["name"] = peer.name;
  object["addresses"] = json::array(peer.addresses.begin(), peer.addresses.end());
  object["zone"] = peer.zone;
  object["incarnation"] = peer.incarnation;
  return object;
}

json::object to_json(const wire::control::Status& status) {
  json::object object = to_json(status.self);
  object["state"] = status.state;
  object["version"] = status.version;
  object["cluster"] = status.cluster;
  object["cluster_uuid"] = status.cluster_uuid;
  object["founded"] = status.founded;
  object["digit_bits"] = status.digit_bits;
  object["leaf_set_size"] = status.leaf_set_size;
  object["uptime_ms"] = status.uptime.count();
  json::array leaves;
  for (const wire::control::Peer& leaf : status.leaves) leaves.push_back(to_json(leaf));
  object["leaves"] = std::move(leaves);
  object["table_entries"] = status.table_entries;
  object["neighbors"] = status.neighbors;
  object["links"] = status.links;
  object["groups"] = status.groups;
  object["subscriptions"] = status.subscriptions;
  json::object counters;
  for (const wire::control::Counter& counter : status.counters)
    counters[counter.name] = counter.value;
  object["counters"] = std::move(counters);
  return object;
}

const char* text_of(wire::GroupMode mode) noexcept {
  switch (mode) {
    case wire::GroupMode::best_effort: break;
    case wire::GroupMode::ordered: return "ordered";
    case wire::GroupMode::durable: return "durable";
  }
  return "best-effort";
}

json::object to_json(const wire::control::Group& group) {
  json::object object;
  put_group(object, group.name);
  object["id"] = group.id.to_hex();
  object["root"] = group.root;
  object["member"] = group.member;
  object["attached"] = group.attached;
  object["mode"] = text_of(group.mode);
  if (group.parent)
    object["parent"] = to_json(*group.parent);
  else
    object["parent"] = nullptr;
  object["depth"] = group.depth;
  object["children"] = group.children;
  object["subscriptions"] = group.subscriptions;
  return object;
}

json::object to_json(const wire::control::Bridge& bridge) {
  json::object object;
  put_group(object, bridge.group);
  object["queue"] = bridge.queue;
  object["url"] = bridge.queue_url;
  object["joined"] = bridge.joined;
  if (!bridge.problem.empty()) object["problem"] = bridge.problem;
  for_each_count([&](const char* name, auto count) { object[name] = bridge.counts.*count; });
  return object;
}

json::object to_json(const wire::MessageId& id) {
  json::object object;
  object["publisher"] = id.publisher.to_hex();
  object["incarnation"] = id.incarnation;
  object["sequence"] = id.sequence;
  return object;
}

void put_headers(json::object& object, const wire::Headers& headers) {
  json::array list;
  for (const auto& [key, value] : headers) {
    json::object header;
    put_bytes(header, "key", key);
    put_bytes(header, "value", value);
    list.push_back(std::move(header));
  }
  object["headers"] = std::move(list);
}

void put_group(json::object& object, const wire::GroupName& group) {
  object["group"] = group.name;
  object["creator"] = group.creator;
}

}  // namespace canopy::tools
