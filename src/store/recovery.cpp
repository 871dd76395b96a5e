#include "store/recovery.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "store/damage.hpp"
#include "store/posix_disk.hpp"
#include "store/segmented_log.hpp"

namespace canopy::store {

namespace {

void require_records(const std::string& name, const KeyValueStore& store, const Log& log) {
  if (store.applied() <= log.last()) return;
  throw Damage(name, fmt::format("ends with record {}, but the store is at {}: records are missing",
                                 log.last(), store.applied()));
}

}  // namespace

std::string log_directory(const std::string& directory) { return directory + "/log"; }
std::string store_directory(const std::string& directory) { return directory + "/store"; }

Opened open(const std::string& directory, Options options, LogEvents& events, Post post) {
  options.log.owner = options.store.owner = options.owner;
  // The log first: its lock keeps a second process from both.
  auto disk = std::make_unique<PosixDisk>(log_directory(directory));
  if (boost::system::error_code error = sync_directory(directory))
    throw Damage(directory, "cannot be synced: " + error.message());
  auto log = std::make_unique<SegmentedLog>(std::move(disk), options.log, events, std::move(post));
  auto store = std::make_unique<RocksStore>(store_directory(directory), options.store);
  require_records(log_directory(directory), *store, *log);
  return {std::move(store), std::move(log)};
}

void replay(KeyValueStore& store, Log& log,
            const std::function<void(std::uint64_t index, std::string_view record)>& use) {
  require_records("the log", store, log);
  log.replay(store.applied() + 1, use);
}

}  // namespace canopy::store
