#include "store/fault_store.hpp"

#include <cerrno>

namespace canopy::store {

using boost::system::error_code;
using boost::system::result;

namespace {

error_code io_error() { return {EIO, boost::system::system_category()}; }

class FailedCursor final : public Cursor {
 public:
  bool valid() const override { return false; }
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  void next() override {}
  error_code error() const override { return io_error(); }
};

bool fails(Random& random, double chance) { return chance > 0 && random.chance(chance); }

}  // namespace

result<std::optional<std::string>> FaultStore::get(std::string_view key) const {
  if (fails(random_, faults.read_error)) return io_error();
  return seen_->get(key);
}

std::unique_ptr<Cursor> FaultStore::range(std::string_view first, std::string_view last) const {
  if (fails(random_, faults.read_error)) return std::make_unique<FailedCursor>();
  return seen_->range(first, last);
}

error_code FaultStore::apply(const Batch& batch, std::uint64_t index) {
  if (fails(random_, faults.apply_error)) return io_error();
  unsynced_.push_back({batch, index});
  return seen_->apply(batch, index);
}

void FaultStore::persist_one() {
  kept_.apply(unsynced_.front().batch, unsynced_.front().index);
  unsynced_.pop_front();
}

void FaultStore::persist() {
  for (std::uint64_t count = random_.below(unsynced_.size() + 1); count > 0; --count) persist_one();
  while (!unsynced_.empty() && unsynced_.front().index <= flush_to_) persist_one();
}

void FaultStore::crash() {
  unsynced_.clear();
  flush_to_ = 0;
  seen_ = kept_.copy();
}

}  // namespace canopy::store
