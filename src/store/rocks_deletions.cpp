#include "store/rocks_deletions.hpp"

#include <utility>

#include <rocksdb/utilities/table_properties_collectors.h>

namespace canopy::store {

namespace {

// A file is compacted if this many of so many entries in a row are deletions, or if
// they make up this share of it.
constexpr std::size_t window = 4096;
constexpr std::size_t deletions_in_window = 2048;
constexpr double deletions_share = 0.5;

class DeletionCollector final : public rocksdb::TablePropertiesCollector {
 public:
  explicit DeletionCollector(std::unique_ptr<rocksdb::TablePropertiesCollector> counting)
      : counting_(std::move(counting)) {}

  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice& value,
                             rocksdb::EntryType type, rocksdb::SequenceNumber number,
                             std::uint64_t file_size) override {
    if (type == rocksdb::kEntrySingleDelete) type = rocksdb::kEntryDelete;
    return counting_->AddUserKey(key, value, type, number, file_size);
  }
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    return counting_->Finish(properties);
  }
  rocksdb::UserCollectedProperties GetReadableProperties() const override {
    return counting_->GetReadableProperties();
  }
  bool NeedCompact() const override { return counting_->NeedCompact(); }
  const char* Name() const override { return "canopy.DeletionCollector"; }

 private:
  const std::unique_ptr<rocksdb::TablePropertiesCollector> counting_;
};

class DeletionCollectorFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    return new DeletionCollector(std::unique_ptr<rocksdb::TablePropertiesCollector>(
        counting_->CreateTablePropertiesCollector(context)));
  }
  const char* Name() const override { return "canopy.DeletionCollectorFactory"; }

 private:
  const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> counting_ =
      rocksdb::NewCompactOnDeletionCollectorFactory(window, deletions_in_window, deletions_share);
};

}  // namespace

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> compaction_of_deletions() {
  return std::make_shared<DeletionCollectorFactory>();
}

}  // namespace canopy::store
