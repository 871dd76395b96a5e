// The queues: found by name or number, loaded from the store when they are used,
// and forgotten again when too many are loaded and nothing happens in them.
//
// Deterministic: what is loaded never shows in a result. Pointers last until
// shrink() or erase().
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "queue/queue.hpp"
#include "queue/transaction.hpp"

namespace canopy::queue {

class Catalogue {
 public:
  Catalogue(Transaction& tx, const store::Reader& reader, const Limits& limits)
      : tx_(tx), reader_(reader), limits_(limits) {}

  // nullptr: there is none.
  Queue* find(const QueueName& name, Millis now);
  Queue* find(QueueNumber number, Millis now);

  // Of commands. The name must be free.
  Queue& create(Definition definition);
  void erase(Queue& queue);
  // Its definition was changed.
  void store(Queue& queue);
  // Its counters are written when the batch ends.
  void touch(Queue& queue);
  void write_counters();

  // Forgets queues that are idle, beyond as many as may be loaded.
  template <typename MayForget>
  void shrink(const MayForget& may_forget) {
    std::size_t looked_at = 0;
    for (auto number = use_.begin(); number != use_.end() && ++looked_at <= shrink_step &&
                                     loaded_.size() > limits_.queues_loaded_max;) {
      const Queue& queue = *loaded_.at(*number);
      const bool forget = queue.idle() && may_forget(*number);
      const QueueNumber gone = *number++;
      if (forget) unload(gone);
    }
  }

  std::size_t loaded() const { return loaded_.size(); }

 private:
  static constexpr std::size_t shrink_step = 256;

  Queue& load(Definition definition, const Counters& counters, Millis now);
  void unload(QueueNumber number);

  Transaction& tx_;
  const store::Reader& reader_;
  const Limits& limits_;
  std::unordered_map<QueueNumber, std::unique_ptr<Queue>> loaded_;
  std::unordered_map<std::string, QueueNumber> names_;  // of loaded queues, by key
  std::list<QueueNumber> use_;                          // least recently used first
  std::vector<QueueNumber> dirty_;
};

}  // namespace canopy::queue
