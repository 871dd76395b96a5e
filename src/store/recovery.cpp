#include "store/recovery.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "store/damage.hpp"
#include "store/posix_disk.hpp"
#include "store/segmented_log.hpp"

namespace canopy::store {

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
  if (store->applied() > log->last())
    throw Damage(log_directory(directory),
                 fmt::format("ends with record {}, but the store is at {}: records are missing",
                             log->last(), store->applied()));
  return {std::move(store), std::move(log)};
}

void replay(KeyValueStore& store, Log& log,
            const std::function<void(std::uint64_t index, std::string_view record)>& use) {
  log.replay(store.applied() + 1, use);
}

}  // namespace canopy::store
