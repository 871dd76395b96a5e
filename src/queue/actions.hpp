// The actions of the queue service, as plain structs: what a gateway has read
// from a request, and what it writes into the answer. Names and meanings are
// those of the Amazon SQS API (2012-11-05); a field that was not given is an
// empty optional. Whatever needs no look at the queue (presence of parameters,
// their types, counts of a batch) is checked by who makes a request; everything
// else by queue::Machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/system/result.hpp>

#include <canopy/bridge_counts.hpp>

#include "base/buffer.hpp"
#include "base/id.hpp"
#include "queue/error.hpp"

namespace canopy::queue {

// Twelve digits.
using AccountId = std::string;

// A queue by what its URL or ARN says.
struct QueueName {
  std::string region;
  AccountId account;
  std::string name;
  friend auto operator<=>(const QueueName&, const QueueName&) = default;
};

// Who calls. Permissions are checked against the queue's policy for others than
// its owner.
struct Caller {
  AccountId account;
  std::string principal;  // the access key's user, as SenderId shows it
};

using Attributes = std::map<std::string, std::string>;
using Tags = std::map<std::string, std::string>;

// Of a message. `type` is the data type with its custom part, as "Number.int".
struct MessageAttribute {
  std::string type;
  bool binary = false;  // decides which of the two values it has
  std::string value;    // text, or bytes
  friend bool operator==(const MessageAttribute&, const MessageAttribute&) = default;
};
using MessageAttributes = std::map<std::string, MessageAttribute>;

// --- Queues ---

struct CreateQueue {
  QueueName queue;
  Attributes attributes;
  Tags tags;
};
struct CreateQueueResult {
  QueueName queue;
};

struct DeleteQueue {
  QueueName queue;
};

struct GetQueueUrl {
  QueueName queue;
};
struct GetQueueUrlResult {
  QueueName queue;
};

struct ListQueues {
  std::string region;
  AccountId account;
  std::string prefix;
  std::optional<std::uint32_t> results_max;  // 1 to 1,000
  std::string next_token;
  bool containing_messages_only = false;  // an addition of Comcast's CMB
};
struct ListQueuesResult {
  std::vector<QueueName> queues;  // by name
  std::string next_token;         // empty: these were all
};

struct GetQueueAttributes {
  QueueName queue;
  std::vector<std::string> names;  // "All" for all
};
struct GetQueueAttributesResult {
  Attributes attributes;
};

struct SetQueueAttributes {
  QueueName queue;
  Attributes attributes;
};

struct PurgeQueue {
  QueueName queue;
};

struct TagQueue {
  QueueName queue;
  Tags tags;
};
struct UntagQueue {
  QueueName queue;
  std::vector<std::string> keys;
};
struct ListQueueTags {
  QueueName queue;
};
struct ListQueueTagsResult {
  Tags tags;
};

struct AddPermission {
  QueueName queue;
  std::string label;
  std::vector<AccountId> accounts;
  std::vector<std::string> actions;
};
struct RemovePermission {
  QueueName queue;
  std::string label;
};

// --- Messages ---

struct SendEntry {
  std::string id;  // of a batch entry; empty otherwise
  Buffer body;     // UTF-8
  MessageAttributes attributes;
  std::optional<std::string> trace_header;  // the system attribute AWSTraceHeader
  std::optional<std::int64_t> delay_seconds;
  std::optional<std::string> deduplication_id;
  std::optional<std::string> group_id;
  std::optional<std::string> trace_of_request = {};  // for want of a trace header
};
struct Sent {
  std::string id;
  std::string message_id;      // a UUID
  std::string body_md5;        // hexadecimal, as the others
  std::string attributes_md5;  // empty: no attributes
  std::string system_attributes_md5;
  std::string sequence_number;  // FIFO only
};

struct BatchFailure {
  std::string id;
  Error error;
};

struct SendMessage {
  QueueName queue;
  SendEntry entry;
};
struct SendMessageBatch {
  QueueName queue;
  std::vector<SendEntry> entries;
};
struct SendMessageBatchResult {
  std::vector<Sent> successful;
  std::vector<BatchFailure> failed;
};

struct ReceiveMessage {
  QueueName queue;
  std::optional<std::int64_t> messages_max;        // 1 to 10; 1 by default
  std::optional<std::int64_t> visibility_timeout;  // seconds
  std::optional<std::int64_t> wait_time_seconds;
  std::optional<std::string> attempt_id;             // ReceiveRequestAttemptId
  std::vector<std::string> system_attribute_names;   // "All" for all
  std::vector<std::string> message_attribute_names;  // "All", ".*", "prefix.*"
};
struct Message {
  std::string message_id;
  std::string receipt_handle;
  Buffer body;
  std::string body_md5;
  Attributes attributes;  // system attributes asked for
  MessageAttributes message_attributes;
  std::string attributes_md5;  // of those above; empty: none
};
struct ReceiveMessageResult {
  std::vector<Message> messages;
};

// An addition of Comcast's CMB: looks without receiving.
struct PeekMessage {
  QueueName queue;
  std::optional<std::int64_t> messages_max;
  bool show_invisible = false;  // those in flight, or behind one in their group, as well;
  bool show_delayed = false;    // which are which is in the attributes IsVisible, IsDelayed
};

struct DeleteEntry {
  std::string id;
  std::string receipt_handle;
};
struct DeleteMessage {
  QueueName queue;
  std::string receipt_handle;
};
struct DeleteMessageBatch {
  QueueName queue;
  std::vector<DeleteEntry> entries;
};

struct VisibilityEntry {
  std::string id;
  std::string receipt_handle;
  std::optional<std::int64_t> visibility_timeout;  // seconds
};
struct ChangeMessageVisibility {
  QueueName queue;
  std::string receipt_handle;
  std::int64_t visibility_timeout = 0;
};
struct ChangeMessageVisibilityBatch {
  QueueName queue;
  std::vector<VisibilityEntry> entries;
};

// Of DeleteMessageBatch and ChangeMessageVisibilityBatch.
struct BatchResult {
  std::vector<std::string> successful;
  std::vector<BatchFailure> failed;
};

// --- Dead letters ---

struct ListDeadLetterSourceQueues {
  QueueName queue;
  std::optional<std::uint32_t> results_max;
  std::string next_token;
};

struct StartMessageMoveTask {
  std::string source_arn;
  std::string destination_arn;  // empty: back to where each message came from
  std::optional<std::int64_t> messages_per_second_max;  // 1 to 500
};
struct StartMessageMoveTaskResult {
  std::string task_handle;
};

struct CancelMessageMoveTask {
  std::string task_handle;
};
struct CancelMessageMoveTaskResult {
  std::uint64_t moved = 0;
};

struct ListMessageMoveTasks {
  std::string source_arn;
  std::optional<std::uint32_t> results_max;  // 1 to 10; 1 by default
};
struct MessageMoveTask {
  std::string task_handle;  // only while it runs
  std::string status;       // RUNNING, COMPLETED, CANCELLING, CANCELLED, FAILED
  std::string source_arn;
  std::string destination_arn;
  std::optional<std::int64_t> messages_per_second_max;
  std::uint64_t moved = 0;
  std::optional<std::uint64_t> to_move;
  std::string failure_reason;
  std::int64_t started_ms = 0;  // since 1970
};
struct ListMessageMoveTasksResult {
  std::vector<MessageMoveTask> tasks;  // newest first
};

// --- Bridges: queues that subscribe to groups of the overlay. None of these is an
// action of Amazon's; they come from within the process alone. ---

struct BridgedGroup {
  std::string name;
  std::string creator;  // always filled in
  friend auto operator<=>(const BridgedGroup&, const BridgedGroup&) = default;
};
struct BridgeName {
  QueueName queue;
  BridgedGroup group;
  friend auto operator<=>(const BridgeName&, const BridgeName&) = default;
};

struct Bridge {
  BridgeName name;
  BridgeCounts counts;
};

// Again: changes nothing. The result is a Bridge.
struct AddBridge {
  BridgeName bridge;
};
struct RemoveBridge {
  BridgeName bridge;
};
struct ListBridges {};
struct ListBridgesResult {
  std::vector<Bridge> bridges;  // in the order of their queues' creation, then by group
};

struct MulticastId {
  Id publisher;
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
};
struct Multicast {
  MulticastId id;
  std::vector<std::pair<std::string, std::string>> headers;
  Buffer body;
};
// Each becomes at most one message, whatever is asked again. The result is a
// Bridge, with these counted.
struct SendMulticasts {
  BridgeName bridge;
  std::string shown_group;  // as people call it, for an attribute
  std::vector<Multicast> multicasts;
  std::uint64_t lost = 0;  // since the last time
};

struct Done {};

using Action =
    std::variant<CreateQueue, DeleteQueue, GetQueueUrl, ListQueues, GetQueueAttributes,
                 SetQueueAttributes, PurgeQueue, TagQueue, UntagQueue, ListQueueTags, AddPermission,
                 RemovePermission, SendMessage, SendMessageBatch, ReceiveMessage, PeekMessage,
                 DeleteMessage, DeleteMessageBatch, ChangeMessageVisibility,
                 ChangeMessageVisibilityBatch, ListDeadLetterSourceQueues, StartMessageMoveTask,
                 CancelMessageMoveTask, ListMessageMoveTasks, AddBridge, RemoveBridge, ListBridges,
                 SendMulticasts>;

using Result = std::variant<Done, CreateQueueResult, GetQueueUrlResult, ListQueuesResult,
                            GetQueueAttributesResult, ListQueueTagsResult, Sent,
                            SendMessageBatchResult, ReceiveMessageResult, BatchResult,
                            StartMessageMoveTaskResult, CancelMessageMoveTaskResult,
                            ListMessageMoveTasksResult, Bridge, ListBridgesResult>;

// An action that failed as a whole has no result.
using Outcome = boost::system::result<Result, Error>;

}  // namespace canopy::queue
