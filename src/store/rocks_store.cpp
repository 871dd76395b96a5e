#include "store/rocks_store.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/iterator.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include "base/assert.hpp"
#include "store/damage.hpp"
#include "store/posix_disk.hpp"
#include "store/rocks_deletions.hpp"
#include "store/rocks_files.hpp"
#include "store/rocks_format.hpp"

namespace canopy::store {

using boost::system::error_code;
using boost::system::result;

namespace {

namespace fs = std::filesystem;

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

rocksdb::BlockBasedTableOptions table_options(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 16 << 10;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.format_version = 5;
  // Indices and filters count as memory, too.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return table;
}

// The write buffers take up to three eighths of the memory, out of the cache's.
// Insert hints would gain nothing: a buffer goes on from its last place by itself.
// Most comparisons of an insert are assertions of Debian's build, which has them.
void bound_memory(rocksdb::Options& options, const RocksOptions& wanted) {
  auto cache = rocksdb::NewLRUCache(wanted.memory_bytes, /*num_shard_bits=*/4,
                                    /*strict_capacity_limit=*/false, /*high_pri_pool_ratio=*/0.3);
  options.write_buffer_size = std::max<std::uint64_t>(wanted.memory_bytes / 8, 64 << 10);
  options.max_write_buffer_number = 3;
  options.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(wanted.memory_bytes / 8 * 3, cache);
  options.max_open_files = wanted.open_files_max;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options(cache)));
}

// What queues do: most keys are written once and deleted soon. Those that are gone before
// their buffer is flushed leave nothing (erase_put_once): a tombstone each made every flush
// rewrite the whole backlog between the first and the last of them (FIFO with a million
// messages blocked: 40 us of compaction a message, now 4).
void expect_deletes(rocksdb::Options& options) {
  options.table_properties_collector_factories.push_back(compaction_of_deletions());
  options.level_compaction_dynamic_level_bytes = true;
  options.compression = rocksdb::kLZ4Compression;
  options.compression_per_level = {rocksdb::kNoCompression, rocksdb::kNoCompression,
                                   rocksdb::kLZ4Compression};
}

rocksdb::Env* retrying_env() {
  static const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(retrying_files());
  return env.get();
}

rocksdb::Options options_for(const RocksOptions& wanted) {
  rocksdb::Options options;
  options.env = retrying_env();
  bound_memory(options, wanted);
  expect_deletes(options);
  options.max_background_jobs = 2;
  options.bytes_per_sync = 1 << 20;
  options.avoid_flush_during_shutdown = true;  // it would wait for a full disk
  options.avoid_unnecessary_blocking_io = true;
  options.info_log = no_log();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.max_bgerror_resume_count = 0;  // Resumer does it
  return options;
}

rocksdb::WriteOptions write_options() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return options;
}

class RocksCursor final : public Cursor {
 public:
  // Notes in `problem` why it fails.
  RocksCursor(rocksdb::DB& db, std::string_view first, std::string_view last, std::string& problem)
      : problem_(problem),
        first_(std::max(first, first_user_key)),
        last_(std::max(last, std::string_view(first_))),
        first_slice_(first_),
        last_slice_(last_) {
    rocksdb::ReadOptions options;
    options.iterate_lower_bound = &first_slice_;
    options.iterate_upper_bound = &last_slice_;
    at_.reset(db.NewIterator(options));
    at_->Seek(first_slice_);
  }

  bool valid() const override { return at_->Valid(); }
  std::string_view key() const override { return view(at_->key()); }
  std::string_view value() const override { return view(at_->value()); }
  void next() override { at_->Next(); }
  error_code error() const override {
    if (!at_->status().ok()) problem_ = at_->status().ToString();
    return error_of(at_->status());
  }

 private:
  std::string& problem_;
  const std::string first_;
  const std::string last_;
  const rocksdb::Slice first_slice_;
  const rocksdb::Slice last_slice_;
  std::unique_ptr<rocksdb::Iterator> at_;
};

// Under another name until it is whole: a store without its files is a damaged one.
void make_store(const std::string& directory, rocksdb::Options options, const Owner& owner) {
  std::string unfinished = directory + ".new";
  std::error_code failed;
  fs::remove_all(unfinished, failed);
  fs::create_directories(unfinished, failed);
  options.create_if_missing = true;
  options.listeners.clear();
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, unfinished, &opened);
  std::unique_ptr<rocksdb::DB> db(opened);
  if (status.ok()) status = db->Put(write_options(), slice(owner_key), encode_owner(owner));
  if (status.ok()) status = db->Flush({});
  if (status.ok()) status = db->Close();
  if (!status.ok()) throw Damage(directory, "cannot be made: " + status.ToString());
  db.reset();
  fs::rename(unfinished, directory, failed);
  if (failed) throw Damage(directory, "cannot be made: " + failed.message());
  if (error_code error = sync_directory(fs::path(directory).parent_path().string()))
    throw Damage(directory, "cannot be made: " + error.message());
}

rocksdb::Status get_index(rocksdb::DB& db, const rocksdb::ReadOptions& options,
                          std::uint64_t& index) {
  std::string bytes;
  rocksdb::Status status = db.Get(options, slice(applied_key), &bytes);
  index = 0;
  if (status.IsNotFound()) return rocksdb::Status::OK();
  if (!status.ok()) return status;
  std::optional<std::uint64_t> decoded = decode_index(bytes);
  if (!decoded) return rocksdb::Status::Corruption("the applied index is not a number");
  index = *decoded;
  return status;
}

void check_owner(rocksdb::DB& db, const std::string& directory, const Owner& wanted) {
  std::string bytes;
  rocksdb::Status status = db.Get({}, slice(owner_key), &bytes);
  std::optional<Owner> owner = decode_owner(bytes);
  if (!status.ok() || !owner) throw Damage(directory, "does not say whose it is");
  if (owner->cluster != wanted.cluster)
    throw Damage(directory, "belongs to another cluster, " + owner->cluster.to_string());
  if (owner->node != wanted.node)
    throw Damage(directory, "belongs to another node, " + owner->node.to_string());
}

}  // namespace

// Has RocksDB try again after an error, until it works. Its own retries would do the
// same, but closing it in a pause between two of them never ends (7.8).
class RocksStore::Resumer {
 public:
  explicit Resumer(std::function<void(const std::string&)> on_problem)
      : on_problem_(std::move(on_problem)) {}
  ~Resumer() { stop(); }
  Resumer(const Resumer&) = delete;
  Resumer& operator=(const Resumer&) = delete;

  void start(rocksdb::DB& db) {
    thread_ = std::thread([this, &db] { run(db); });
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  // Any thread.
  void failed(const std::string& problem) {
    on_problem_(problem);
    {
      std::lock_guard lock(mutex_);
      ++errors_;
      failing_ = true;
    }
    wake_.notify_one();
  }
  bool is_failing() const {
    std::lock_guard lock(mutex_);
    return failing_;
  }

 private:
  static constexpr std::chrono::milliseconds pause{500};

  void run(rocksdb::DB& db) {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return failing_ || stopping_; });
      if (wake_.wait_for(lock, pause, [this] { return stopping_; })) return;
      std::uint64_t errors = errors_;
      lock.unlock();
      bool resumed = db.Resume().ok();
      lock.lock();
      if (!resumed || errors != errors_) continue;
      failing_ = false;
      lock.unlock();
      on_problem_({});
      lock.lock();
    }
  }

  const std::function<void(const std::string&)> on_problem_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool failing_ = false;
  bool stopping_ = false;
  std::uint64_t errors_ = 0;
  std::thread thread_;
};

class RocksStore::Listener final : public rocksdb::EventListener {
 public:
  explicit Listener(Resumer& resumer) : resumer_(resumer) {}

  std::uint64_t persisted() const { return persisted_.load(std::memory_order_acquire); }
  void reached(std::uint64_t index) {
    std::uint64_t before = persisted();
    while (before < index && !persisted_.compare_exchange_weak(before, index)) {
    }
  }

  // Without its log RocksDB calls what is in files persisted.
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo&) override {
    rocksdb::ReadOptions options;
    options.read_tier = rocksdb::kPersistedTier;
    std::uint64_t index = 0;
    if (get_index(*db, options, index).ok()) reached(index);
  }

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    resumer_.failed("the store cannot write: " + status->ToString());
  }

 private:
  Resumer& resumer_;
  std::atomic<std::uint64_t> persisted_ = 0;
};

RocksStore::RocksStore(const std::string& directory, const RocksOptions& wanted)
    : resumer_(std::make_unique<Resumer>(wanted.on_problem)),
      listener_(std::make_shared<Listener>(*resumer_)) {
  rocksdb::Options options = options_for(wanted);
  options.listeners.push_back(listener_);
  std::error_code failed;
  if (!fs::exists(directory, failed)) make_store(directory, options, wanted.owner);
  if (!fs::exists(directory + "/CURRENT", failed))
    throw Damage(directory + "/CURRENT", "is missing");
  open(directory, options);
  check_owner(*db_, directory, wanted.owner);
  rocksdb::Status status = get_index(*db_, {}, applied_);
  if (!status.ok()) throw Damage(directory, status.ToString());
  listener_->reached(applied_);
  resumer_->start(*db_);
}

void RocksStore::open(const std::string& directory, const rocksdb::Options& options) {
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, directory, &opened);
  if (!status.ok()) throw Damage(directory, "cannot be opened: " + status.ToString());
  db_.reset(opened);
}

RocksStore::~RocksStore() {
  resumer_->stop();
  if (!resumer_->is_failing()) db_->Flush({});
}

result<std::optional<std::string>> RocksStore::get(std::string_view key) const {
  problem_.clear();
  std::string value;
  rocksdb::Status status = db_->Get({}, slice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) {
    problem_ = status.ToString();
    return error_of(status);
  }
  return std::optional<std::string>(std::move(value));
}

std::unique_ptr<Cursor> RocksStore::range(std::string_view first, std::string_view last) const {
  problem_.clear();
  return std::make_unique<RocksCursor>(*db_, first, last, problem_);
}

error_code RocksStore::apply(const Batch& batch, std::uint64_t index) {
  CANOPY_ASSERT(index > applied_);
  rocksdb::WriteBatch writes;
  for (const Batch::Write& write : batch.writes()) {
    std::string_view key = write.key;
    CANOPY_ASSERT(key >= first_user_key || write.kind == Batch::Kind::erase_range);
    switch (write.kind) {
      case Batch::Kind::put: writes.Put(slice(key), write.value); break;
      case Batch::Kind::erase: writes.Delete(slice(key)); break;
      case Batch::Kind::erase_put_once: writes.SingleDelete(slice(key)); break;
      case Batch::Kind::erase_range:
        key = std::max(key, first_user_key);
        if (key < write.value) writes.DeleteRange(slice(key), write.value);
        break;
    }
  }
  writes.Put(slice(applied_key), encode_index(index));
  rocksdb::Status status = db_->Write(write_options(), &writes);
  if (status.ok()) applied_ = index;
  return error_of(status);
}

std::uint64_t RocksStore::persisted() const { return listener_->persisted(); }

void RocksStore::flush() {
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;  // or it would wait
  db_->Flush(options);
}

}  // namespace canopy::store
