// The messages of a standard queue as its leader sees them: which are ready,
// which are in flight until when. None of this is replicated: after a restart
// or a failover messages show again. The messages themselves lie in the store.
//
// Messages with a group id have a lane per group, and lanes take turns, so that
// a group with a long backlog does not starve the others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "queue/command.hpp"
#include "queue/limits.hpp"
#include "queue/ready_list.hpp"
#include "store/key_value_store.hpp"

namespace canopy::queue {

// What a receive wants, of standard and FIFO queues alike.
struct PickRules {
  Millis now = 0;
  Millis visible_at = 0;
  std::size_t messages_max = 1;
  std::uint32_t receives_max = 0;  // more than that is a dead letter; 0: never
  Millis retention = 0;
  bool for_move = false;  // a move task takes them: no receive is counted
};

// What a look at the messages shows, without receiving them, and how much work it
// may make.
struct PeekRules {
  Millis now = 0;
  std::size_t messages_max = 1;
  std::size_t bytes_max = 0;  // it ends with the message that passes this
  std::size_t steps_max = 0;  // messages looked at, hidden ones too
  bool invisible = false;     // show those in flight, or behind one in their group, too,
  bool delayed = false;       // and those that are delayed

  bool go_on(std::size_t messages, std::size_t bytes, std::size_t steps) const {
    return messages < messages_max && bytes < bytes_max && steps < steps_max;
  }
};

struct PickedMessage {
  Position at;
  std::string group;  // FIFO only
  Buffer record;
  std::uint64_t receive = 0;
  std::uint32_t count = 0;
  Millis first_received = 0;
  bool in_flight = false;  // these two of a look only
  bool delayed = false;
};

struct Pick {
  std::vector<PickedMessage> given;
  std::vector<PickedMessage> dead;
  std::vector<command::MessagePlace> expired;
  std::size_t moved_bytes = 0;  // of those that go to another queue
  bool over_limit = false;      // no more may be in flight
};

enum class HandleState : std::uint8_t {
  current,  // the message is in flight by this receive
  expired,  // visible again, and nobody else has received it
  stale,    // somebody else has received it since
  leaving,  // a command that removes it is on the way
  gone,     // there is no such message
};

class StandardMessages {
 public:
  // From the store; `head` is a position before the first message.
  StandardMessages(QueueNumber queue, const Limits& limits, const Position& head, bool grouped,
                   bool noted);

  // --- What commands did. ---
  void added(const Position& at, const Buffer& record);
  void removed(const Position& at);
  void purged();
  void noted() { noted_ = true; }

  // --- What the leader does. ---
  Pick pick(const store::Reader& reader, const PickRules& rules, std::uint64_t& receive);
  // What is visible, unless the rules want more, without receiving it.
  std::vector<PickedMessage> peek(const store::Reader& reader, const PeekRules& rules);

  HandleState state_of(const store::Reader& reader, const ReceiptHandle& handle, std::uint64_t term,
                       Millis now);
  // Its removal is on the way: nobody gets it, and no second removal is made.
  void begin_removal(const Position& at);
  // All messages of this lane before it are given or on their way out.
  void skip_to(const Position& at);
  void abandon_removal(const Position& at, Millis now);
  // False: no message that is in flight.
  bool set_visibility(const Position& at, Millis visible_at, Millis now);
  Millis received_at(const Position& at) const;
  // The receive did not happen.
  void undo(const Position& at, Millis now);

  // Receives of messages that came back, which the store does not know yet.
  std::vector<command::ReceiveNote> take_notes(std::size_t max);
  bool has_notes() const { return !unnoted_.empty(); }

  std::size_t in_flight(Millis now);
  // When a message that is not visible now becomes so; see ReadyList::next_due().
  std::optional<Millis> next_available(Millis now);
  // Nothing of lane 0 lies before it.
  Position head() const;
  bool idle() const { return flights_.empty(); }
  bool is_removing(const Position& at) const {
    const auto flight = flights_.find(at);
    return flight != flights_.end() && flight->second.state == State::removing;
  }
  bool is_taken(const Position& at) const { return flights_.contains(at); }

 private:
  enum class State : std::uint8_t { in_flight, returned, removing };
  struct Flight {
    State state = State::in_flight;
    Millis since = 0;  // in flight: visible from; returned: visible since
    Millis received_at = 0;
    Millis first_received = 0;
    std::uint64_t receive = 0;
    std::uint32_t count = 0;
    std::uint32_t count_noted = 0;
  };
  using Flights = std::map<Position, Flight>;
  using ByTime = std::set<std::pair<Millis, Position>>;

  ReadyList& lane(std::uint64_t number);
  ReadyList make_lane(const Position& start) const;
  void find_lanes(const store::Reader& reader);
  std::optional<ReadyList::Item> next_ready(const store::Reader& reader, Millis now);
  std::optional<ReadyList::Item> next_returned(const store::Reader& reader);
  void judge(const store::Reader& reader, ReadyList::Item item, const PickRules& rules,
             std::uint64_t& receive, Pick& pick);
  Flight known_receives(const store::Reader& reader, const Position& at, Millis first_received);
  void become(Flights::iterator flight, State state, Millis since);
  void leave_state(const Flights::value_type& flight);
  void return_expired(Millis now);

  QueueNumber queue_;
  const Limits& limits_;
  bool noted_;

  // By lane, and the lanes in the order of their turns.
  std::map<std::uint64_t, ReadyList> lanes_;
  std::deque<std::uint64_t> turns_;
  bool lanes_missing_;  // the store may have others
  Position unread_lane_;

  // Every message that was received and is still there, or is being removed.
  Flights flights_;
  ByTime in_flight_;
  ByTime returned_;
  std::set<Position> unnoted_;
};

}  // namespace canopy::queue
