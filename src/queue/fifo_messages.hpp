// The messages of a FIFO queue. Which are in flight, and until when, is part of
// the replicated state: exactly once and in order survive restarts and failovers.
//
// A group with messages has one entry in an index by the time from which it may
// be available: its first message's delay, or the end of a visibility timeout of
// its messages in flight. So a blocked group costs nothing, however long it is: it
// lies in the index's future. Of a group that is looked at, what is before its
// first message in flight is given; if there is nothing, it gets a later time.
//
// The leader reserves the groups that a command on the way concerns; nothing of
// them is given until the command was applied or abandoned.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "queue/command.hpp"
#include "queue/counters.hpp"
#include "queue/limits.hpp"
#include "queue/ready_list.hpp"
#include "queue/standard_messages.hpp"
#include "queue/transaction.hpp"

namespace canopy::queue {

class FifoMessages {
 public:
  // `now`: what is visible again by then is not loaded as in flight.
  FifoMessages(QueueNumber queue, const Limits& limits, const store::Reader& reader,
               const Position& head, Millis now);

  // --- Commands. ---
  void add(Transaction& tx, std::uint64_t sequence, const command::NewMessage& message);
  // One of its messages; whether it was there.
  bool receive(Transaction& tx, const command::Receive& receive, std::size_t which, Millis time,
               const Counters& counters);
  bool remove(Transaction& tx, const command::MessagePlace& message, Millis time,
              const Counters& counters);
  void set_visibility(Transaction& tx, const command::NewVisibility& change, Millis time);
  void place(Transaction& tx, const std::string& group, Millis available);
  // After purge and at deletion: everything but the store's own ranges.
  void purged();
  void forget_expired(Millis time);

  // --- What the leader does. ---
  Pick pick(const store::Reader& reader, const PickRules& rules, std::uint64_t& receive);
  // Groups whose first message is delayed or in flight, found by pick(), with its time.
  std::vector<std::pair<std::string, Millis>> take_early() { return std::exchange(early_, {}); }
  std::vector<PickedMessage> peek(const store::Reader& reader, const PeekRules& rules);
  // What the last receive with this attempt id was given, in its order; nothing if that was before
  // `oldest`, or if one of them has been deleted or is visible again.
  std::vector<PickedMessage> attempt(const store::Reader& reader, const std::string& id,
                                     Millis oldest, Millis now) const;

  // Between the receive with this attempt id and its command's end nobody can tell what it
  // is given.
  void begin_attempt(const std::string& id) { attempting_.insert(id); }
  void end_attempt(const std::string& id) { attempting_.erase(id); }
  bool is_attempting(const std::string& id) const { return attempting_.contains(id); }

  HandleState state_of(const store::Reader& reader, const ReceiptHandle& handle, Millis now) const;
  const std::string& group_of(std::uint64_t sequence) const;
  Millis received_at(std::uint64_t sequence) const;

  void reserve(const std::string& group) { ++reserved_[group].commands; }
  bool is_reserved(const std::string& group) const { return reserved_.contains(group); }
  void begin_removal(std::uint64_t sequence) { removing_.insert(sequence); }
  // A command that reserved this group was applied or abandoned.
  void release(const std::string& group, bool abandoned);
  void abandon_removal(std::uint64_t sequence) { removing_.erase(sequence); }

  std::size_t in_flight(Millis now) const;
  std::optional<Millis> next_available() const;
  // What is to be looked at again lies anywhere.
  Position head() const { return to_reconsider_.empty() ? ready_.low() : Position(); }
  bool idle() const { return reserved_.empty() && removing_.empty() && to_reconsider_.empty(); }

  // A group's first message and its time of sending, of the groups after `group`.
  struct GroupHead {
    std::string group;
    std::uint64_t sequence = 0;
    Millis sent = 0;
  };
  std::vector<GroupHead> heads(const store::Reader& reader, const std::string& after,
                               std::size_t max);

 private:
  struct Group {
    std::uint64_t messages = 0;
    Millis available = 0;
    std::uint64_t tag = 0;            // of its place in the index; the group's own
    std::uint64_t first = 0;          // no message lies before it
    std::uint64_t received_upto = 0;  // no later message was ever received
  };
  // A receive with an attempt id.
  struct AttemptId {
    std::string id;            // empty: it had none
    std::uint64_t number = 0;  // that of its first message's receive
    std::uint64_t messages = 0;
  };
  struct Flight {
    std::string group;
    Millis visible_at = 0;
    Millis received_at = 0;
    Millis first_received = 0;
    std::uint64_t receive = 0;
    std::uint32_t count = 0;
    AttemptId attempt;
  };
  // The last one with its id, and those of its messages that are in flight.
  struct Attempt {
    std::uint64_t number = 0;
    std::uint64_t messages = 0;
    std::set<std::uint64_t> sequences;
  };

  static std::string encode(const Group& group);
  static std::optional<Group> decode_group(const std::optional<std::string>& bytes);
  static std::string encode(const Flight& flight);
  static Flight decode_flight(std::string_view bytes);

  std::string receive_key(std::uint64_t sequence) const;
  std::optional<Group> group(const Transaction& tx, const std::string& name) const;
  void put(Transaction& tx, const std::string& name, const Group& group);
  void move(Transaction& tx, const std::string& name, Group& group, Millis available);
  void store_flight(Transaction& tx, std::uint64_t sequence, const Flight& flight, bool again);
  void fly(std::uint64_t sequence, Flight flight);
  void land(std::uint64_t sequence);
  // The end of the first visibility timeout of its messages, or `otherwise`.
  Millis blocked_until(const std::string& group, Millis otherwise) const;
  bool skip_reserved(const std::string& group);
  void reconsider(const store::Reader& reader, const std::string& group);
  std::unique_ptr<store::Cursor> messages_of(const store::Reader& reader, const std::string& name,
                                             const Group& known);
  bool pick_group(const store::Reader& reader, const PickRules& rules, const std::string& name,
                  std::uint64_t& receive, Pick& pick);

  QueueNumber queue_;
  const Limits& limits_;

  std::unordered_map<std::uint64_t, Flight> flights_;  // by sequence
  std::set<std::pair<Millis, std::uint64_t>> by_end_;  // of their visibility timeouts
  std::unordered_map<std::string, std::set<std::pair<Millis, std::uint64_t>>> by_group_;
  std::unordered_map<std::string, Attempt> attempts_;

  ReadyList ready_;  // values are groups
  struct Reservation {
    std::uint32_t commands = 0;
    bool reconsider = false;  // it left the ready list, or may have
  };
  std::unordered_map<std::string, Reservation> reserved_;
  std::vector<std::string> to_reconsider_;
  std::set<std::uint64_t> removing_;
  std::set<std::string> attempting_;
  // Of some groups: no message lies before it.
  std::map<std::string, std::uint64_t> firsts_;
  std::vector<std::pair<std::string, Millis>> early_;
};

}  // namespace canopy::queue
