// Who gives the messages of an ordered group their places.
//
// Today the root alone does, at once; a sequencer that has to agree with others
// first calls back later. Sans-I/O. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>

#include "wire/scribe_messages.hpp"

namespace canopy::scribe {

class Sequencer {
 public:
  using Placed = std::function<void(const wire::Publish& publish, const wire::Position& position)>;

  virtual ~Sequencer() = default;
  // Calls `placed` once for each message that gets a place, in the order of the
  // places; never, for one that this sequencer does not come to.
  virtual void submit(const wire::Publish& publish, const Placed& placed) = 0;
  // The latest place that was given.
  virtual wire::Position last() const = 0;
};

// A single node's order of one epoch.
class RootSequencer final : public Sequencer {
 public:
  explicit RootSequencer(std::uint64_t epoch) noexcept : last_{epoch, 0} {}

  void submit(const wire::Publish& publish, const Placed& placed) override {
    ++last_.sequence;
    placed(publish, last_);
  }
  wire::Position last() const override { return last_; }

 private:
  wire::Position last_;
};

// The epoch above `highest` that this root begins: a counter in the upper half,
// the root in the lower one: two roots, or two lives of one, that begin the same
// counter begin different epochs.
std::uint64_t epoch_above(std::uint64_t highest, const Id& root,
                          std::uint64_t incarnation) noexcept;

}  // namespace canopy::scribe
