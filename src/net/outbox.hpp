// Messages that wait for one peer, in two classes of traffic.
//
// Control overtakes bulk. Each class is bounded in messages and in bytes; when
// one is full its oldest messages make room, because with both classes newer
// ones say more about the present. What is dropped is counted, per class.
// Within a class the order is kept. Not thread-safe.
#pragma once

#include <cstddef>
#include <optional>

#include "base/fifo.hpp"
#include "net/counters.hpp"
#include "wire/message.hpp"

namespace canopy::net {

struct ClassLimits {
  std::size_t messages_max = 0;
  std::size_t bytes_max = 0;  // by wire::size_estimate()
};

struct OutboxLimits {
  ClassLimits control{16384, std::size_t{2} << 20};
  ClassLimits bulk{16384, std::size_t{8} << 20};
};

class Outbox {
 public:
  // `limits` and `dropped_full` outlive the outbox; all of one daemon share them.
  Outbox(const OutboxLimits& limits, ClassCounts& dropped_full) noexcept
      : limits_(limits), dropped_full_(dropped_full) {}

  void push(wire::Message message);

  // The next message to send: the oldest of the most urgent class.
  std::optional<wire::Message> pop();

  // The next control message, if there is one.
  std::optional<wire::Message> pop_control() { return pop_from(control_); }

  // Drop what waits, and count it there.
  void drop_all(ClassCounts& counts);
  void drop_bulk(ClassCounts& counts) { drop_from(bulk_, counts.bulk); }

  bool empty() const noexcept { return control_.items.empty() && bulk_.items.empty(); }
  std::size_t messages() const noexcept { return control_.items.size() + bulk_.items.size(); }
  std::size_t bytes() const noexcept { return control_.bytes + bulk_.bytes; }

 private:
  struct Waiting {
    wire::Message message;
    std::size_t bytes = 0;
  };

  struct Queue {
    Fifo<Waiting> items;
    std::size_t bytes = 0;

    void push(Waiting item);
    Waiting pop();
  };

  static std::optional<wire::Message> pop_from(Queue& queue);
  static void drop_from(Queue& queue, std::uint64_t& dropped);

  const OutboxLimits& limits_;
  ClassCounts& dropped_full_;
  Queue control_;
  Queue bulk_;
};

}  // namespace canopy::net
