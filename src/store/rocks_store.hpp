// The store on RocksDB, in a directory of its own.
//
// RocksDB's own log is off: what a batch wrote survives when its write buffer has
// been flushed to a file, which happens when the buffer is full, or after flush().
// The index of the batch is written with it, so what a flush leaves is always the
// state after some batch.
//
// apply() blocks when RocksDB cannot keep up. It fails when the disk does, once the
// write buffers are full, until the disk works again; reads are served meanwhile.
// One thread; in the background there are RocksDB's, and one that makes it try again.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "store/key_value_store.hpp"
#include "store/owner.hpp"

namespace rocksdb {
class DB;
class Status;
struct Options;
}  // namespace rocksdb

namespace canopy::store {

struct RocksOptions {
  Owner owner;
  std::uint64_t memory_bytes = 256 << 20;  // write buffers, cached blocks, indices and filters
  int open_files_max = 256;
  // Told, on any thread, why the background work fails; an empty text: it works again.
  std::function<void(const std::string& problem)> on_problem = [](const std::string&) {};
};

class RocksStore final : public KeyValueStore {
 public:
  // Makes the store if the directory is not there. Throws Damage if it cannot be
  // read, lacks files, or is another owner's or in use.
  RocksStore(const std::string& directory, const RocksOptions& options);
  RocksStore(const RocksStore&) = delete;
  RocksStore& operator=(const RocksStore&) = delete;
  // Flushes, so that the next start has little to apply again.
  ~RocksStore() override;

  boost::system::result<std::optional<std::string>> get(std::string_view key) const override;
  std::unique_ptr<Cursor> range(std::string_view first, std::string_view last) const override;

  boost::system::error_code apply(const Batch& batch, std::uint64_t index) override;
  std::uint64_t applied() const override { return applied_; }
  std::uint64_t persisted() const override;
  std::string problem() const override { return problem_; }
  void flush() override;

 private:
  class Resumer;
  class Listener;

  void open(const std::string& directory, const rocksdb::Options& options);

  std::unique_ptr<Resumer> resumer_;
  std::shared_ptr<Listener> listener_;
  std::unique_ptr<rocksdb::DB> db_;
  std::uint64_t applied_ = 0;
  mutable std::string problem_;
};

}  // namespace canopy::store
