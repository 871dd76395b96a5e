// An ordered key-value store that a state machine keeps its state in. It need
// not survive a crash by itself: every batch comes with the index of the command
// that it results from, and commands are in the log (log.hpp) first. After a
// crash the store says up to where it got, and the rest is applied again. Keys
// that begin with a zero byte are the store's own.
//
// Implementations: RocksDB without its own log (rocks_store.hpp), a twin in
// memory (memory_store.hpp), and a fault-injecting one for tests. One thread, the
// storage loop's, owns a store and its cursors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace canopy::store {

// Writes in order; later ones win.
class Batch {
 public:
  enum class Kind : std::uint8_t { put, erase, erase_put_once, erase_range };
  struct Write {
    Kind kind = Kind::put;
    std::string key;    // of erase_range: the first key that goes
    std::string value;  // of erase_range: the first key that stays
  };

  void put(std::string key, std::string value) {
    writes_.push_back({Kind::put, std::move(key), std::move(value)});
  }
  void erase(std::string key) { writes_.push_back({Kind::erase, std::move(key), {}}); }
  // Of a key that was put at most once since it was last erased: put and erasure vanish
  // as soon as the store sees both, before they cost anything on the disk.
  void erase_put_once(std::string key) {
    writes_.push_back({Kind::erase_put_once, std::move(key), {}});
  }
  void erase_range(std::string first, std::string last) {
    writes_.push_back({Kind::erase_range, std::move(first), std::move(last)});
  }

  const std::vector<Write>& writes() const noexcept { return writes_; }
  bool empty() const noexcept { return writes_.empty(); }
  void clear() noexcept { writes_.clear(); }

 private:
  std::vector<Write> writes_;
};

// Walks the keys of a range in order, as they were when it was made. Views last
// until the next step.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual void next() = 0;
  // After an I/O error valid() is false, too.
  virtual boost::system::error_code error() const = 0;
};

class Reader {
 public:
  virtual ~Reader() = default;
  // No value: there is none. Errors: I/O, corruption.
  virtual boost::system::result<std::optional<std::string>> get(std::string_view key) const = 0;
  // Keys from `first` to just before `last`: both bounds always, so that no walk
  // crosses the remains of what was deleted beyond them.
  virtual std::unique_ptr<Cursor> range(std::string_view first, std::string_view last) const = 0;
};

class KeyValueStore : public Reader {
 public:
  // All of it or nothing; visible at once. Indices only grow. After an error the
  // same batch has to be applied again later, and nothing in its place.
  virtual boost::system::error_code apply(const Batch& batch, std::uint64_t index) = 0;

  // Why the last read failed, in the store's own words; empty if it has none.
  virtual std::string problem() const { return {}; }

  // The index of the last batch applied, and of the last that a crash leaves.
  virtual std::uint64_t applied() const = 0;
  virtual std::uint64_t persisted() const = 0;

  // Makes what was applied survive, in the background; persisted() grows by and
  // by, and the log can be cut before it.
  virtual void flush() = 0;
};

}  // namespace canopy::store
