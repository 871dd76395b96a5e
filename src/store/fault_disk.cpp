#include "store/fault_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/assert.hpp"

namespace canopy::store {

using boost::system::error_code;
using boost::system::result;

namespace {

constexpr std::size_t sector_size = 512;

error_code system_error_of(int number) { return {number, boost::system::system_category()}; }

}  // namespace

class FaultFile final : public File {
 public:
  FaultFile(FaultDisk& disk, std::shared_ptr<FaultDisk::Node> node)
      : disk_(disk), node_(std::move(node)) {}

  error_code write(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    FaultDisk::Change change{false, offset, {}};
    for (std::string_view piece : pieces) change.bytes += piece;
    bool failed = disk_.fails(disk_.faults.write_error);
    int number = EIO;
    std::uint64_t end = offset + change.bytes.size();
    if (end > node_->seen.size() && disk_.used() + end - node_->seen.size() > disk_.faults.room) {
      failed = true;
      number = ENOSPC;
    }
    if (failed) change.bytes.resize(disk_.random_.below(change.bytes.size() + 1));
    FaultDisk::apply(change, node_->seen);
    node_->unsynced.push_back(std::move(change));
    return failed ? system_error_of(number) : error_code();
  }

  error_code sync() override {
    if (disk_.faults.ignores_syncs) return {};
    if (disk_.fails(disk_.faults.sync_error)) {
      disk_.keep_some(*node_);
      return system_error_of(EIO);
    }
    for (const FaultDisk::Change& change : node_->unsynced) FaultDisk::apply(change, node_->kept);
    node_->unsynced.clear();
    ++disk_.syncs_;
    return {};
  }

  error_code allocate(std::uint64_t size) override {
    if (size <= node_->seen.size()) return {};
    if (disk_.used() + size - node_->seen.size() > disk_.faults.room)
      return system_error_of(ENOSPC);
    return truncate(size);
  }

  error_code truncate(std::uint64_t size) override {
    if (disk_.fails(disk_.faults.write_error)) return system_error_of(EIO);
    FaultDisk::Change change{true, size, {}};
    FaultDisk::apply(change, node_->seen);
    node_->unsynced.push_back(std::move(change));
    return {};
  }

 private:
  FaultDisk& disk_;
  std::shared_ptr<FaultDisk::Node> node_;
};

void FaultDisk::apply(const Change& change, std::string& bytes) {
  if (change.is_size) {
    bytes.resize(change.offset);
    return;
  }
  if (bytes.size() < change.offset + change.bytes.size())
    bytes.resize(change.offset + change.bytes.size());
  std::copy(change.bytes.begin(), change.bytes.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(change.offset));
}

void FaultDisk::apply_some(const Change& change, std::string& bytes) {
  if (change.is_size) {
    if (random_.chance(0.5)) apply(change, bytes);
    return;
  }
  for (std::size_t from = 0; from < change.bytes.size();) {
    std::size_t size = sector_size - (change.offset + from) % sector_size;
    if (random_.chance(0.5))
      apply({false, change.offset + from, change.bytes.substr(from, size)}, bytes);
    from += size;
  }
}

void FaultDisk::keep_some(Node& node) {
  // Now and then all or nothing, which many small losses would hardly ever give.
  std::uint64_t luck = random_.below(4);
  for (const Change& change : node.unsynced) {
    if (luck == 0) apply(change, node.kept);
    if (luck >= 2) apply_some(change, node.kept);
  }
  node.unsynced.clear();
}

void FaultDisk::crash() {
  std::size_t names_kept = random_.below(unsynced_.size() + 1);
  for (std::size_t i = 0; i < names_kept; ++i) unsynced_[i](kept_);
  unsynced_.clear();
  seen_ = kept_;
  for (auto& [name, node] : seen_) {
    keep_some(*node);
    node->seen = node->kept;
  }
}

std::uint64_t FaultDisk::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, node] : seen_) bytes += node->seen.size();
  return bytes;
}

void FaultDisk::flip(const std::string& name, std::uint64_t offset) {
  Node& node = *seen_.at(name);
  CANOPY_ASSERT(node.unsynced.empty());
  for (std::string* bytes : {&node.seen, &node.kept})
    (*bytes)[offset] = static_cast<char>((*bytes)[offset] ^ 0x10);
}

std::uint64_t FaultDisk::size(const std::string& name) const { return seen_.at(name)->seen.size(); }

result<std::vector<std::string>> FaultDisk::list() {
  std::vector<std::string> names;
  for (const auto& [name, node] : seen_) names.push_back(name);
  return names;
}

result<std::string> FaultDisk::read(const std::string& name, std::uint64_t offset,
                                    std::uint64_t size_max) {
  auto found = seen_.find(name);
  if (found == seen_.end()) return system_error_of(ENOENT);
  const std::string& bytes = found->second->seen;
  return bytes.substr(std::min<std::uint64_t>(offset, bytes.size()), size_max);
}

void FaultDisk::change_names(const std::function<void(Names&)>& change) {
  change(seen_);
  unsynced_.push_back(change);
}

result<std::unique_ptr<File>> FaultDisk::open(const std::string& name, bool create) {
  auto found = seen_.find(name);
  if (found == seen_.end() && !create) return system_error_of(ENOENT);
  if (found == seen_.end()) {
    if (fails(faults.name_error)) return system_error_of(EIO);
    change_names([name, node = std::make_shared<Node>()](Names& names) { names[name] = node; });
    found = seen_.find(name);
  }
  std::unique_ptr<File> file = std::make_unique<FaultFile>(*this, found->second);
  if (create && !found->second->seen.empty())
    if (error_code error = file->truncate(0)) return error;
  return file;
}

error_code FaultDisk::rename(const std::string& from, const std::string& to) {
  if (fails(faults.name_error)) return system_error_of(EIO);
  if (!seen_.contains(from)) return system_error_of(ENOENT);
  change_names([from, to](Names& names) {
    names[to] = names.at(from);
    names.erase(from);
  });
  return {};
}

error_code FaultDisk::remove(const std::string& name) {
  if (fails(faults.name_error)) return system_error_of(EIO);
  if (!seen_.contains(name)) return system_error_of(ENOENT);
  change_names([name](Names& names) { names.erase(name); });
  return {};
}

error_code FaultDisk::sync() {
  if (fails(faults.name_error)) return system_error_of(EIO);
  for (const auto& change : unsynced_) change(kept_);
  unsynced_.clear();
  ++syncs_;
  return {};
}

}  // namespace canopy::store
