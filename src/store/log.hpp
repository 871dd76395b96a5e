// The log of commands: what is in it survives a crash and a loss of power.
//
// submit(), then persisted() or failed(): records get consecutive indices from 1,
// and a writer puts everything that is pending into one write and one sync. A
// record is acknowledged only by persisted(). Implementations: files in a
// directory, with a thread of its own (segmented_log.hpp); a twin in memory
// (memory_log.hpp); a deterministic one on a disk that loses, tears and fails
// (fault_log.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include "base/buffer.hpp"

namespace canopy::store {

// Called on the storage loop, in order of the indices.
class LogEvents {
 public:
  // All records up to and with `index` survive from now on.
  virtual void persisted(std::uint64_t index) = 0;
  // The records from `first` on are not in the log, and their indices are given
  // out again: the disk is full or fails. submit() refuses until the log, which
  // tries by itself, can write again. (A crash before that may still bring back
  // some of these records: it is as unknown as any answer that got lost.)
  virtual void failed(std::uint64_t first, boost::system::error_code error) = 0;

 protected:
  ~LogEvents() = default;
};

// Runs a function on the storage loop, later, in the order of the calls; called
// from any thread.
using Post = std::function<void(std::function<void()>)>;

// One thread, the storage loop's, calls it.
class Log {
 public:
  virtual ~Log() = default;

  // The record's index. Records are copied by nobody: the buffer is shared.
  // Nothing is taken, and it may be tried again later, if it fails: queue_full,
  // too much is pending; too_large, this never fits; or why the last write failed.
  virtual boost::system::result<std::uint64_t> submit(Buffer record) = 0;

  // Why submit() refuses until the log can write again; nothing: it does not.
  virtual boost::system::error_code fault() const = 0;

  // Indices of the oldest record kept, and of the last one persisted; without
  // any record first() is last() + 1.
  virtual std::uint64_t first() const = 0;
  virtual std::uint64_t last() const = 0;

  // Every record from `from` on, in order; for start-up, before any submit().
  // Throws Damage (damage.hpp) if one of them is missing or corrupt.
  virtual void replay(
      std::uint64_t from,
      const std::function<void(std::uint64_t index, std::string_view record)>& use) = 0;

  // Records before `index` are not needed any more. They go later, and in large
  // pieces.
  virtual void cut_before(std::uint64_t index) = 0;
};

}  // namespace canopy::store
