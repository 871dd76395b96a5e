// The writes of the commands being applied, and the store as they leave it. A
// command may read what an earlier one of the same batch wrote, although the
// batch is not in the store yet.
//
// Reading throws boost::system::system_error when the store cannot be read: a
// state machine that guesses instead would part from its log.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/key_value_store.hpp"

namespace canopy::queue {

class Transaction {
 public:
  explicit Transaction(const store::Reader& reader) : reader_(&reader) {}

  // Where writes go until end().
  void begin(store::Batch& batch) { batch_ = &batch; }
  void end();

  // What get() will give.
  void put(std::string key, std::string value);
  void erase(std::string key);
  void erase_range(std::string first, std::string last);
  std::optional<std::string> get(const std::string& key) const;

  // For what is read only after the batch is in the store: messages.
  void put_unread(std::string key, std::string value);
  void erase_unread(std::string key);
  // See Batch.
  void erase_put_once_unread(std::string key);

 private:
  const store::Reader* reader_;
  store::Batch* batch_ = nullptr;
  std::map<std::string, std::optional<std::string>> changed_;
  std::vector<std::pair<std::string, std::string>> erased_;
};

// A value that cannot be what was written: throws system_error as well.
[[noreturn]] void damaged(const char* what);

std::optional<std::string> read(const store::Reader& reader, std::string_view key);

// After a walk: throws if it ended by an error.
void check(const store::Cursor& cursor);

}  // namespace canopy::queue
