// Has RocksDB compact away files in which much is erased, before walks over them
// suffer. Its own collector does not count what SingleDelete leaves (7.8).
#pragma once

#include <memory>

#include <rocksdb/table_properties.h>

namespace canopy::store {

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> compaction_of_deletions();

}  // namespace canopy::store
