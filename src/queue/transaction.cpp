#include "queue/transaction.hpp"

#include <algorithm>

#include <boost/system/system_error.hpp>

#include "base/assert.hpp"

namespace canopy::queue {

void Transaction::end() {
  batch_ = nullptr;
  changed_.clear();
  erased_.clear();
}

void Transaction::put(std::string key, std::string value) {
  changed_[key] = value;
  put_unread(std::move(key), std::move(value));
}

void Transaction::erase(std::string key) {
  changed_[key] = std::nullopt;
  erase_unread(std::move(key));
}

std::optional<std::string> Transaction::get(const std::string& key) const {
  const auto found = changed_.find(key);
  if (found != changed_.end()) return found->second;
  const bool erased = std::ranges::any_of(
      erased_, [&key](const auto& range) { return range.first <= key && key < range.second; });
  return erased ? std::nullopt : read(*reader_, key);
}

void Transaction::put_unread(std::string key, std::string value) {
  CANOPY_ASSERT(batch_ != nullptr);
  batch_->put(std::move(key), std::move(value));
}

void Transaction::erase_unread(std::string key) {
  CANOPY_ASSERT(batch_ != nullptr);
  batch_->erase(std::move(key));
}

void Transaction::erase_put_once_unread(std::string key) {
  CANOPY_ASSERT(batch_ != nullptr);
  batch_->erase_put_once(std::move(key));
}

void Transaction::erase_range(std::string first, std::string last) {
  CANOPY_ASSERT(batch_ != nullptr);
  changed_.erase(changed_.lower_bound(first), changed_.lower_bound(last));
  erased_.emplace_back(first, last);
  batch_->erase_range(std::move(first), std::move(last));
}

void damaged(const char* what) {
  throw boost::system::system_error(
      boost::system::errc::make_error_code(boost::system::errc::illegal_byte_sequence), what);
}

std::optional<std::string> read(const store::Reader& reader, std::string_view key) {
  auto value = reader.get(key);
  if (!value) throw boost::system::system_error(value.error(), "read of the queue store");
  return std::move(*value);
}

void check(const store::Cursor& cursor) {
  if (const auto error = cursor.error()) {
    throw boost::system::system_error(error, "walk through the queue store");
  }
}

}  // namespace canopy::queue
