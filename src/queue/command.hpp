// Commands of the queue service: what the log holds, and all that changes the
// replicated state. A command carries its own time and who made it, so that
// applying the same log gives the same state everywhere, and a retry is seen.
//
// In bytes: u8 version | u8 kind | zigzag time | u64 origin | varint incarnation |
// varint sequence | the kind's fields in the order of fields() in command.cpp.
// Kinds and fields are only ever added, fields at the end of their kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/buffer.hpp"
#include "base/uuid.hpp"
#include "queue/actions.hpp"
#include "queue/position.hpp"
#include "queue/receipt_handle.hpp"

namespace canopy::queue {

// Queues go by number: of one creation, never used again.
using QueueNumber = std::uint64_t;

namespace command {

// A leader's first: it starts a term. The first one ever also founds the key of
// receipt handles.
struct Begin {
  SecretKey secret{};
};

struct CreateQueue {
  QueueName queue;
  Attributes attributes;
  Tags tags;
};

struct DeleteQueue {
  QueueNumber queue = 0;
};

struct SetAttributes {
  QueueNumber queue = 0;
  Attributes changes;
};

struct SetTags {
  QueueNumber queue = 0;
  Tags set;
  std::vector<std::string> removed;
};

struct AddPermission {
  QueueNumber queue = 0;
  std::string label;
  std::vector<AccountId> accounts;
  std::vector<std::string> actions;
};

struct RemovePermission {
  QueueNumber queue = 0;
  std::string label;
};

struct Purge {
  QueueNumber queue = 0;
};

struct NewMessage {
  std::uint64_t lane = 0;
  Millis due = 0;
  std::string group;          // FIFO only, as the next
  std::string deduplication;  // empty: none
  Uuid id;
  Buffer record;
};

struct Send {
  QueueNumber queue = 0;
  std::vector<NewMessage> messages;
};

struct ReceivedMessage {
  std::string group;
  std::uint64_t sequence = 0;
  std::uint64_t receive = 0;
  std::uint32_t count = 0;
  Millis first_received = 0;
};

// FIFO only.
struct Receive {
  QueueNumber queue = 0;
  Millis visible_at = 0;
  Position head;
  std::vector<ReceivedMessage> messages;
  std::string attempt;  // its ReceiveRequestAttemptId; empty: none
};

struct MessagePlace {
  Position at;
  std::string group;  // FIFO only
};

struct Remove {
  QueueNumber queue = 0;
  Position head;  // nothing lies before it
  std::vector<MessagePlace> messages;
};

struct NewVisibility {
  std::string group;
  std::uint64_t sequence = 0;
  std::uint64_t receive = 0;
  Millis visible_at = 0;
  bool undo = false;  // the receive did not happen
};

// FIFO only.
struct SetVisibility {
  QueueNumber queue = 0;
  std::vector<NewVisibility> messages;
};

struct ReceiveNote {
  Position at;
  std::uint32_t count = 0;
  Millis first_received = 0;
};

// Standard queues only: receives are known to the leader alone until then.
struct NoteReceives {
  QueueNumber queue = 0;
  std::vector<ReceiveNote> notes;
};

// FIFO only: nothing of the group is available before.
struct PlaceGroup {
  QueueNumber queue = 0;
  std::string group;
  Millis available = 0;
};

struct MovedMessage {
  MessagePlace from;
  QueueName target;
  Buffer record;
};

// Out of a queue and into the outbox.
struct MoveOut {
  QueueNumber queue = 0;
  Position head;
  std::uint64_t task = 0;  // of a move task; 0: dead letters
  std::vector<MovedMessage> messages;
};

struct Delivery {
  std::uint64_t sequence = 0;  // of the outbox
  NewMessage message;
};

// From an outbox into a queue, or back to their sources if it is gone. What was
// delivered before is left out.
struct Deliver {
  QueueNumber queue = 0;     // 0: it was gone when this was made
  std::uint64_t source = 0;  // the cell whose outbox it is
  std::vector<Delivery> messages;
};

// Everything in the outbox up to this one was delivered.
struct Delivered {
  std::uint64_t through = 0;
};

// The housekeeping of a queue was done.
struct Housekeeping {
  QueueNumber queue = 0;
  Millis next = 0;           // 0: not before a message comes
  Millis forget_before = 0;  // deduplication ids older than this
};

struct StartTask {
  QueueNumber queue = 0;
  std::string destination_arn;
  std::optional<std::int64_t> messages_per_second_max;
  std::uint64_t to_move = 0;
};

struct EndTask {
  QueueNumber queue = 0;
  std::uint64_t task = 0;
  std::string status;
  std::string reason;
};

struct AddBridge {
  QueueNumber queue = 0;
  BridgedGroup group;
};

struct RemoveBridge {
  QueueNumber queue = 0;
  BridgedGroup group;
};

struct BridgedMessage {
  MulticastId id;
  NewMessage message;
};

// Those that were sent before are left out.
struct SendMulticasts {
  QueueNumber queue = 0;
  BridgedGroup group;
  BridgeCounts counted;  // in addition to what is found out of the messages
  std::vector<BridgedMessage> messages;
};

}  // namespace command

// Appended to only: a kind's number is its place.
using CommandBody =
    std::variant<command::Begin, command::CreateQueue, command::DeleteQueue, command::SetAttributes,
                 command::SetTags, command::AddPermission, command::RemovePermission,
                 command::Purge, command::Send, command::Receive, command::Remove,
                 command::SetVisibility, command::NoteReceives, command::PlaceGroup,
                 command::MoveOut, command::Deliver, command::Delivered, command::Housekeeping,
                 command::StartTask, command::EndTask, command::AddBridge, command::RemoveBridge,
                 command::SendMulticasts>;

struct Origin {
  std::uint64_t peer = 0;
  std::uint64_t incarnation = 0;

  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Command {
  Millis time = 0;
  Origin origin;
  std::uint64_t sequence = 0;
  CommandBody body;

  // What the outcome will be made of, known only where the command was made:
  // it is not encoded, and applying it from the log gives no such outcome.
  std::vector<BatchFailure> failed;
  std::vector<Sent> sent;            // without sequence numbers
  std::vector<std::string> ids;      // batch entries that are done when the command is
  std::vector<std::string> settled;  // batch entries that needed no command
  std::vector<Message> received;     // as the messages of the body
  bool batch = false;
};

Buffer encode(const Command& command);

// Bodies share the record's slab. Nothing if it is none of ours.
std::optional<Command> decode_command(const Buffer& record);

}  // namespace canopy::queue
