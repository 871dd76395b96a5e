// Who gives the messages of an ordered group their places.
//
// Today the root alone does, at once; a sequencer that has to agree with others
// first calls back later. Sans-I/O. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

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

// An epoch is a number of four parts, the first of which counts most:
//
//   24 bits  how often a root has taken over, as far as the last that did so knew
//   20 bits  that root's mark: whose order it is
//   12 bits  how often the order has been handed over since
//    8 bits  the mark of the root that has it now
//
// Two roots, or two lives of one, that take over at once begin different epochs.
// And the epochs of one order, handed from root to root, have no other order's
// between them: so who goes on from one to the next has missed nothing, whatever
// the other side of a parted ring had meanwhile. That lies above them all.
inline constexpr int epoch_count_shift = 40;

// The first epoch of a new order, above `highest`.
std::uint64_t epoch_above(std::uint64_t highest, const Id& root,
                          std::uint64_t incarnation) noexcept;
// The next of the same order, handed over to this root; none if it has been handed
// over 4,095 times.
std::optional<std::uint64_t> epoch_after(std::uint64_t closed, const Id& root,
                                         std::uint64_t incarnation) noexcept;

}  // namespace canopy::scribe
