// The log's files without the thread, for tests on a FaultDisk: write() does what
// the writer of a SegmentedLog would do next, and tells at once. After
// FaultDisk::crash() a new FaultLog on the same disk sees what a restart would.
#pragma once

#include <vector>

#include "store/disk.hpp"
#include "store/log.hpp"
#include "store/segments.hpp"

namespace canopy::store {

class FaultLog final : public Log {
 public:
  // Throws Damage.
  FaultLog(Disk& disk, const LogOptions& options, LogEvents& events);

  // One round of the writer: a write and a sync of what is pending, or another
  // try after a failure, or a cut.
  void write();
  std::size_t pending() const { return pending_.size(); }

  boost::system::result<std::uint64_t> submit(Buffer record) override;
  boost::system::error_code fault() const override { return fault_; }
  std::uint64_t first() const override { return segments_.first(); }
  std::uint64_t last() const override { return segments_.last(); }
  void replay(std::uint64_t from, const UseRecord& use) override { segments_.replay(from, use); }
  void cut_before(std::uint64_t index) override;

 private:
  void write_pending();

  const LogOptions options_;
  LogEvents& events_;
  Segments segments_;
  std::vector<Buffer> pending_;
  std::uint64_t pending_bytes_ = 0;
  std::uint64_t cut_before_ = 0;
  boost::system::error_code fault_;
};

}  // namespace canopy::store
