#include "queue/administration.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "queue/arn.hpp"
#include "queue/base64.hpp"
#include "queue/bytes.hpp"
#include "queue/keys.hpp"
#include "queue/message_checks.hpp"

namespace canopy::queue {

namespace {

bool wants_fifo(const Attributes& attributes) {
  const auto found = attributes.find("FifoQueue");
  return found != attributes.end() && found->second == "true";
}

Error name_exists(const std::string& attribute) {
  return {
      ErrorCode::queue_name_exists,
      "A queue already exists with the same name and a different value for attribute " + attribute};
}

// An action that others than the queue's owner may be allowed.
std::optional<Error> check_permitted(const std::string& action) {
  constexpr std::string_view allowed[] = {
      "*",           "ChangeMessageVisibility", "DeleteMessage",
      "GetQueueUrl", "GetQueueAttributes",      "ListDeadLetterSourceQueues",
      "PurgeQueue",  "ReceiveMessage",          "SendMessage"};
  constexpr std::string_view owners[] = {
      "AddPermission",        "CancelMessageMoveTask", "CreateQueue", "DeleteQueue",
      "ListMessageMoveTasks", "ListQueueTags",         "ListQueues",  "RemovePermission",
      "SetQueueAttributes",   "StartMessageMoveTask",  "TagQueue",    "UntagQueue"};
  if (std::ranges::find(allowed, action) != std::end(allowed)) return std::nullopt;
  const bool known = std::ranges::find(owners, action) != std::end(owners);
  return invalid_parameter(
      fmt::format("Value SQS:{} for parameter ActionName is invalid. Reason: {}", action,
                  known ? "Only the queue owner is allowed to invoke this action."
                        : "Please refer to the appropriate WSDL for a list of valid actions."));
}

// What a list goes on with: a name in a form that tells others' tokens apart.
constexpr std::string_view token_start = "after ";

std::string token_after(const std::string& name) {
  return to_base64url(std::string(token_start) + name);
}

boost::system::result<std::string, Error> name_before(const std::string& token) {
  if (token.empty()) return std::string();
  const auto text = from_base64url(token);
  if (!text || !text->starts_with(token_start)) {
    return invalid_parameter("Invalid or expired next token.");
  }
  return text->substr(token_start.size());
}

// High throughput needs deduplication by group.
std::optional<Error> check_throughput(const Attributes& set) {
  const auto is = [&set](const char* name, const char* value) {
    const auto found = set.find(name);
    return found != set.end() && found->second == value;
  };
  const bool fits =
      !is("FifoThroughputLimit", "perMessageGroupId") || is("DeduplicationScope", "messageGroup");
  if (fits) return std::nullopt;
  return Error{ErrorCode::invalid_attribute_value,
               "Invalid value for the parameter FifoThroughputLimit. Reason: To set "
               "FifoThroughputLimit to perMessageGroupId, the DeduplicationScope must be "
               "messageGroup."};
}

}  // namespace

std::optional<Error> Administration::check_name(const CreateQueue& action) const {
  const Limits& limits = state_.config.limits;
  const bool fifo = wants_fifo(action.attributes);
  if (action.queue.name.empty()) return invalid_parameter("Queue name cannot be empty");
  if (is_queue_name(action.queue.name, fifo, limits)) return std::nullopt;
  if (fifo) {
    return invalid_parameter(fmt::format(
        "The name of a FIFO queue can only include alphanumeric characters, hyphens, or "
        "underscores, must end with .fifo suffix and be 1 to {} in length.",
        limits.queue_name_max));
  }
  return invalid_parameter(
      fmt::format("Can only include alphanumeric characters, hyphens, or underscores. 1 to {} in "
                  "length",
                  limits.queue_name_max));
}

// What only the other queue can tell.
std::optional<Error> Administration::check_redrive(const Attributes& given,
                                                   const QueueName& source) {
  const auto found = given.find("RedrivePolicy");
  if (found == given.end() || found->second.empty()) return std::nullopt;
  const auto policy = parse_redrive_policy(found->second, state_.config.limits);
  if (!policy) return policy.error();
  const auto refuse = [&](std::string_view reason) {
    return invalid_parameter(fmt::format(
        "Value {} for parameter RedrivePolicy is invalid. Reason: {}", found->second, reason));
  };
  if (policy->target.name.ends_with(".fifo") != source.name.ends_with(".fifo")) {
    return refuse("Dead-letter queue must be same type of queue as the source.");
  }
  const Queue* target = state_.catalogue.find(policy->target, state_.now);
  if (target == nullptr) return refuse("Dead letter target does not exist.");
  if (policy->target.account != source.account || policy->target.region != source.region) {
    return refuse("Dead-letter queue must be in the account and region of the source.");
  }
  if (!target->settings.redrive_allow.allows(arn_of(source))) {
    return refuse("The dead-letter queue's RedriveAllowPolicy does not allow this source queue.");
  }
  return std::nullopt;
}

std::optional<Error> Administration::check_tags(const Tags& tags, std::size_t total,
                                                const std::string& name) const {
  const Limits& limits = state_.config.limits;
  if (total > limits.tags_max) {
    return invalid_parameter("Too many tags added for queue " + name + ".");
  }
  for (const auto& [key, value] : tags) {
    if (key.empty() || key.size() > limits.tag_key_max || value.size() > limits.tag_value_max) {
      return invalid_parameter(
          fmt::format("Tag '{}' is invalid: keys have 1 to {} bytes, values "
                      "up to {}.",
                      key, limits.tag_key_max, limits.tag_value_max));
    }
    if (key.starts_with("aws:")) {
      return invalid_parameter("Tag keys that start with 'aws:' are reserved.");
    }
  }
  return std::nullopt;
}

Outcome Administration::existing(const Queue& queue, const Attributes& given) const {
  const auto different =
      first_difference(queue.definition.attributes, given, queue.fifo(), state_.config.limits);
  if (different) return name_exists(*different);
  return CreateQueueResult{queue.definition.name};
}

// --- Creating and deleting. ---

Prepared Administration::prepare(CreateQueue action, const Caller& caller) {
  if (caller.account != action.queue.account) {
    return Outcome(Error{ErrorCode::access_denied, "Queues are created by their own account."});
  }
  const Limits& limits = state_.config.limits;
  action.attributes = normalised(std::move(action.attributes));
  if (auto error = check_name(action)) return Outcome(std::move(*error));
  const bool fifo = wants_fifo(action.attributes);
  if (!fifo && action.attributes.contains("FifoQueue")) {
    return Outcome(Error{ErrorCode::invalid_attribute_name, "Unknown Attribute FifoQueue."});
  }
  if (auto error = check_attributes(action.attributes, fifo, true, limits)) {
    return Outcome(std::move(*error));
  }
  if (auto error = check_tags(action.tags, action.tags.size(), action.queue.name)) {
    return Outcome(std::move(*error));
  }
  const Attributes attributes = merged({}, action.attributes);
  if (auto error = check_throughput(attributes)) return Outcome(std::move(*error));
  if (const Queue* queue = state_.catalogue.find(action.queue, state_.now)) {
    return existing(*queue, action.attributes);
  }
  if (auto error = check_redrive(action.attributes, action.queue)) {
    return Outcome(std::move(*error));
  }
  if (limits.deleted_recently_ms > 0) {
    const auto bytes = state_.tx.get(keys::of(keys::deleted, action.queue));
    const Millis then = bytes ? ByteReader(*bytes).zigzag() : 0;
    if (bytes && then + limits.deleted_recently_ms > state_.now) {
      return Outcome(
          Error{ErrorCode::queue_deleted_recently,
                fmt::format("You must wait {} seconds after deleting a queue before you can create "
                            "another with the same name.",
                            limits.deleted_recently_ms / second_ms)});
    }
  }
  return state_.command(
      command::CreateQueue{action.queue, std::move(action.attributes), std::move(action.tags)});
}

Outcome Administration::apply(const Command& command, command::CreateQueue& create) {
  if (const Queue* queue = state_.catalogue.find(create.queue, state_.now)) {
    return existing(*queue, create.attributes);
  }
  Definition definition;
  definition.number = ++state_.service.queues;
  definition.name = create.queue;
  definition.created = definition.modified = command.time;
  definition.attributes = merged({}, create.attributes);
  definition.tags = std::move(create.tags);
  Queue& queue = state_.catalogue.create(std::move(definition));
  list_as_source(queue, true);
  return CreateQueueResult{queue.definition.name};
}

Prepared Administration::prepare(const DeleteQueue& action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "DeleteQueue");
  if (!queue) return Outcome(queue.error());
  return state_.command(command::DeleteQueue{(*queue)->number()});
}

Outcome Administration::apply(const Command& command, const command::DeleteQueue& drop) {
  Queue* queue = state_.find(drop.queue);
  if (queue == nullptr) return Done{};
  list_as_source(*queue, false);
  state_.schedule(*queue, 0);
  if (state_.config.limits.deleted_recently_ms > 0) {
    ByteWriter out;
    out.zigzag(command.time);
    state_.tx.put(keys::of(keys::deleted, queue->definition.name), out.take());
  }
  state_.stir(drop.queue);
  state_.catalogue.erase(*queue);
  return Done{};
}

// --- Looking. ---

Outcome Administration::answer(const GetQueueUrl& action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "GetQueueUrl");
  if (!queue) return queue.error();
  return GetQueueUrlResult{(*queue)->definition.name};
}

Outcome Administration::answer(const ListQueues& action, const Caller& caller) {
  const Limits& limits = state_.config.limits;
  if (caller.account != action.account) {
    return Error{ErrorCode::access_denied, "Queues are listed by their own account."};
  }
  const std::uint32_t max = action.results_max.value_or(limits.list_max);
  if (max < 1 || max > limits.list_max) {
    return invalid_parameter(
        fmt::format("Value for parameter MaxResults is invalid. Reason: MaxResults must be an "
                    "integer between 1 and {}.",
                    limits.list_max));
  }
  const auto last = name_before(action.next_token);
  if (!last) return last.error();
  const std::string prefix = keys::of_name_prefix(action.account, action.region, action.prefix);
  std::string first = prefix;
  if (!last->empty()) first = keys::of_name_prefix(action.account, action.region, *last) + '\0';
  ListQueuesResult result;
  const auto cursor = state_.reader.range(std::max(first, prefix), keys::after(prefix));
  for (; cursor->valid(); cursor->next()) {
    if (result.queues.size() == max) {
      // Without a limit of the caller's own there is no paging.
      if (action.results_max) result.next_token = token_after(result.queues.back().name);
      break;
    }
    QueueName name{action.region, action.account, std::string(keys::name_of(cursor->key()))};
    if (action.containing_messages_only) {
      const auto counted =
          read(state_.reader, keys::of(keys::counters, ByteReader(cursor->value()).u64()));
      const auto counters = counted ? decode_counters(*counted) : std::nullopt;
      if (!counters || counters->messages == 0) continue;
    }
    result.queues.push_back(std::move(name));
  }
  queue::check(*cursor);
  return result;
}

Outcome Administration::answer(const GetQueueAttributes& action, const Caller& caller) {
  const auto opened = state_.open(action.queue, caller, "GetQueueAttributes");
  if (!opened) return opened.error();
  Queue& queue = **opened;
  for (const std::string& name : action.names) {
    if (!is_attribute_name(name)) {
      return Error{ErrorCode::invalid_attribute_name, "Unknown Attribute " + name + "."};
    }
  }
  Attributes all =
      shown_attributes(queue.definition.attributes, queue.fifo(), state_.config.limits);
  const Millis now = state_.now;
  all["QueueArn"] = arn_of(queue.definition.name);
  all["CreatedTimestamp"] = std::to_string(queue.definition.created / second_ms);
  all["LastModifiedTimestamp"] = std::to_string(queue.definition.modified / second_ms);
  all["ApproximateNumberOfMessages"] = std::to_string(queue.visible(now));
  all["ApproximateNumberOfMessagesNotVisible"] = std::to_string(queue.in_flight(now));
  all["ApproximateNumberOfMessagesDelayed"] = std::to_string(queue.delayed.count(now));
  if (std::ranges::find(action.names, "All") != action.names.end()) {
    return GetQueueAttributesResult{std::move(all)};
  }
  GetQueueAttributesResult result;
  for (const std::string& name : action.names) {
    if (auto node = all.extract(name)) result.attributes.insert(std::move(node));
  }
  return result;
}

Outcome Administration::answer(const ListQueueTags& action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "ListQueueTags");
  if (!queue) return queue.error();
  return ListQueueTagsResult{(*queue)->definition.tags};
}

Outcome Administration::answer(const ListDeadLetterSourceQueues& action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "ListDeadLetterSourceQueues");
  if (!queue) return queue.error();
  const Limits& limits = state_.config.limits;
  const std::uint32_t max = action.results_max.value_or(limits.list_max);
  if (max < 1 || max > limits.list_max) {
    return invalid_parameter(
        fmt::format("Value for parameter MaxResults is invalid. Reason: MaxResults must be an "
                    "integer between 1 and {}.",
                    limits.list_max));
  }
  const auto last = name_before(action.next_token);
  if (!last) return last.error();
  const std::string prefix = keys::of_source_prefix(arn_of((*queue)->definition.name));
  std::vector<QueueName> sources;
  const auto cursor = state_.reader.range(prefix, keys::after(prefix));
  for (; cursor->valid(); cursor->next()) {
    const Queue* source = state_.find(keys::last_number_of(cursor->key()));
    if (source == nullptr || source->definition.name.name <= *last) continue;
    sources.push_back(source->definition.name);
  }
  queue::check(*cursor);
  std::ranges::sort(sources);
  ListQueuesResult result;
  if (sources.size() > max) {
    sources.resize(max);
    if (action.results_max) result.next_token = token_after(sources.back().name);
  }
  result.queues = std::move(sources);
  return result;
}

// --- Changing. ---

// The index of whose dead letters go where.
void Administration::list_as_source(Queue& queue, bool present) {
  if (!queue.settings.redrive) return;
  const std::string key = keys::of_source(arn_of(queue.settings.redrive->target), queue.number());
  if (present) {
    state_.tx.put(key, {});
  } else {
    state_.tx.erase(key);
  }
}

void Administration::change(Queue& queue, Attributes attributes, Millis time) {
  list_as_source(queue, false);
  const Millis retention = queue.settings.retention_ms;
  const Settings changed = settings_of(attributes, queue.fifo(), state_.config.limits);
  if (changed.deduplicate_by_group != queue.settings.deduplicate_by_group) {
    queue.definition.scope_changed = time;
  }
  queue.definition.attributes = std::move(attributes);
  queue.definition.modified = time;
  state_.catalogue.store(queue);
  list_as_source(queue, true);
  if (queue.settings.retention_ms < retention && queue.counters.messages > 0) {
    state_.schedule(queue, time);
  }
  state_.stir(queue.number());
}

Prepared Administration::prepare(SetQueueAttributes action, const Caller& caller) {
  const auto opened = state_.open(action.queue, caller, "SetQueueAttributes");
  if (!opened) return Outcome(opened.error());
  const Queue& queue = **opened;
  action.attributes = normalised(std::move(action.attributes));
  if (queue.fifo()) {
    // It may be said again, and changes nothing.
    const auto fifo = action.attributes.find("FifoQueue");
    if (fifo != action.attributes.end() && fifo->second == "true") action.attributes.erase(fifo);
  }
  if (auto error = check_attributes(action.attributes, queue.fifo(), false, state_.config.limits)) {
    return Outcome(std::move(*error));
  }
  if (auto error = check_throughput(merged(queue.definition.attributes, action.attributes))) {
    return Outcome(std::move(*error));
  }
  if (auto error = check_redrive(action.attributes, action.queue)) {
    return Outcome(std::move(*error));
  }
  if (action.attributes.empty()) return Outcome(Done{});
  return state_.command(command::SetAttributes{queue.number(), std::move(action.attributes)});
}

Outcome Administration::apply(const Command& command, const command::SetAttributes& set) {
  Queue* queue = state_.find(set.queue);
  if (queue == nullptr) return queue_does_not_exist();
  change(*queue, merged(queue->definition.attributes, set.changes), command.time);
  return Done{};
}

Prepared Administration::prepare(TagQueue action, const Caller& caller) {
  const auto opened = state_.open(action.queue, caller, "TagQueue");
  if (!opened) return Outcome(opened.error());
  const Queue& queue = **opened;
  std::size_t total = queue.definition.tags.size();
  for (const auto& [key, value] : action.tags) {
    total += queue.definition.tags.contains(key) ? 0 : 1;
  }
  if (auto error = check_tags(action.tags, total, action.queue.name)) {
    return Outcome(std::move(*error));
  }
  return state_.command(command::SetTags{queue.number(), std::move(action.tags), {}});
}

Prepared Administration::prepare(UntagQueue action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "UntagQueue");
  if (!queue) return Outcome(queue.error());
  return state_.command(command::SetTags{(*queue)->number(), {}, std::move(action.keys)});
}

Outcome Administration::apply(const Command&, const command::SetTags& set) {
  Queue* queue = state_.find(set.queue);
  if (queue == nullptr) return queue_does_not_exist();
  for (const auto& [key, value] : set.set) queue->definition.tags[key] = value;
  for (const std::string& key : set.removed) queue->definition.tags.erase(key);
  state_.catalogue.store(*queue);
  return Done{};
}

Prepared Administration::prepare(AddPermission action, const Caller& caller) {
  const auto opened = state_.open(action.queue, caller, "AddPermission");
  if (!opened) return Outcome(opened.error());
  const Limits& limits = state_.config.limits;
  const auto valid_label = [&limits](const std::string& label) {
    return is_queue_name(label, false, limits);
  };
  if (!valid_label(action.label)) {
    return Outcome(invalid_parameter(
        fmt::format("Value {} for parameter Label is invalid. Reason: Can only include "
                    "alphanumeric characters, hyphens, or underscores. 1 to {} in length.",
                    action.label, limits.queue_name_max)));
  }
  for (const AccountId& account : action.accounts) {
    const bool digits =
        account.size() == 12 && account.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      return Outcome(invalid_parameter(fmt::format(
          "Value {} for parameter PrincipalId is invalid. Reason: Unable to verify.", account)));
    }
  }
  for (const std::string& name : action.actions) {
    if (auto error = check_permitted(name)) return Outcome(std::move(*error));
  }
  if (action.actions.size() > limits.permission_actions_max) {
    return Outcome(Error{ErrorCode::over_limit,
                         fmt::format("{} Actions were found, maximum allowed is {}.",
                                     action.actions.size(), limits.permission_actions_max)});
  }
  const auto& attributes = (*opened)->definition.attributes;
  const auto policy = attributes.find("Policy");
  if (policy != attributes.end() &&
      statement_count(policy->second) >= limits.permission_statements_max) {
    return Outcome(
        Error{ErrorCode::over_limit,
              fmt::format("{} Statements were found, maximum allowed is {}.",
                          limits.permission_statements_max + 1, limits.permission_statements_max)});
  }
  return state_.command(command::AddPermission{(*opened)->number(), std::move(action.label),
                                               std::move(action.accounts),
                                               std::move(action.actions)});
}

Outcome Administration::apply(const Command& command, const command::AddPermission& add) {
  Queue* queue = state_.find(add.queue);
  if (queue == nullptr) return queue_does_not_exist();
  Attributes attributes = queue->definition.attributes;
  auto policy = with_permission(attributes["Policy"], arn_of(queue->definition.name), add.label,
                                add.accounts, add.actions);
  if (!policy) {
    return invalid_parameter("Value " + add.label +
                             " for parameter Label is invalid. Reason: Already exists.");
  }
  attributes["Policy"] = std::move(*policy);
  change(*queue, std::move(attributes), command.time);
  return Done{};
}

Prepared Administration::prepare(RemovePermission action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "RemovePermission");
  if (!queue) return Outcome(queue.error());
  return state_.command(command::RemovePermission{(*queue)->number(), std::move(action.label)});
}

Outcome Administration::apply(const Command& command, const command::RemovePermission& remove) {
  Queue* queue = state_.find(remove.queue);
  if (queue == nullptr) return queue_does_not_exist();
  Attributes attributes = queue->definition.attributes;
  auto policy = without_permission(attributes["Policy"], remove.label);
  if (!policy) {
    return invalid_parameter("Value " + remove.label +
                             " for parameter Label is invalid. Reason: can't find label.");
  }
  attributes = merged(std::move(attributes), {{"Policy", std::move(*policy)}});
  change(*queue, std::move(attributes), command.time);
  return Done{};
}

// --- Purging. ---

Outcome Administration::purged_recently(const Queue& queue) const {
  return Error{
      ErrorCode::purge_queue_in_progress,
      fmt::format("Only one PurgeQueue operation on {} is allowed every {} seconds.",
                  queue.definition.name.name, state_.config.limits.purge_interval_ms / second_ms)};
}

Prepared Administration::prepare(const PurgeQueue& action, const Caller& caller) {
  const auto queue = state_.open(action.queue, caller, "PurgeQueue");
  if (!queue) return Outcome(queue.error());
  const Millis purged_at = (*queue)->counters.purged_at;
  if (purged_at != 0 && purged_at + state_.config.limits.purge_interval_ms > state_.now) {
    return purged_recently(**queue);
  }
  return state_.command(command::Purge{(*queue)->number()});
}

Outcome Administration::apply(const Command& command, const command::Purge& purge) {
  Queue* queue = state_.find(purge.queue);
  if (queue == nullptr) return queue_does_not_exist();
  Counters& counters = queue->counters;
  if (counters.purged_at != 0 &&
      counters.purged_at + state_.config.limits.purge_interval_ms > command.time) {
    return purged_recently(*queue);
  }
  for (const auto table : {keys::message, keys::fifo_message, keys::receive, keys::group,
                           keys::available_group, keys::deduplication}) {
    const std::string first = keys::of(table, purge.queue);
    state_.tx.erase_range(first, keys::after(first));
  }
  counters.purged_at = command.time;
  counters.purged_before = counters.next_sequence;
  counters.messages = 0;
  counters.noted = false;
  counters.grouped = false;
  counters.delayed_until = 0;
  counters.deduplicated_at = 0;
  queue->delayed.clear();
  if (queue->fifo()) {
    queue->fifo_messages->purged();
  } else {
    queue->standard_messages->purged();
  }
  state_.catalogue.touch(*queue);
  return Done{};
}

}  // namespace canopy::queue
