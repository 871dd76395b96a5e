// A log that forgets everything with the process: for tests, and for a peer
// without a data directory. Records are persisted when the posted call runs.
#pragma once

#include <deque>
#include <memory>

#include "store/log.hpp"

namespace canopy::store {

class MemoryLog final : public Log {
 public:
  // `events` and what `post` posts to must outlive it.
  MemoryLog(LogEvents& events, Post post, std::uint64_t pending_bytes_max = 64 << 20);
  MemoryLog(const MemoryLog&) = delete;
  MemoryLog& operator=(const MemoryLog&) = delete;

  boost::system::result<std::uint64_t> submit(Buffer record) override;
  boost::system::error_code fault() const override { return {}; }
  std::uint64_t first() const override { return first_; }
  std::uint64_t last() const override { return last_; }
  void replay(std::uint64_t from,
              const std::function<void(std::uint64_t, std::string_view)>& use) override;
  void cut_before(std::uint64_t index) override;

 private:
  void persist();

  LogEvents& events_;
  const Post post_;
  const std::shared_ptr<MemoryLog*> self_;  // expires with it; posted calls look
  const std::uint64_t pending_bytes_max_;
  std::uint64_t pending_bytes_ = 0;
  std::deque<Buffer> records_;  // from first_ on, pending ones too
  std::uint64_t first_ = 1;
  std::uint64_t last_ = 0;
};

}  // namespace canopy::store
