#include "store/fault_log.hpp"

#include <algorithm>
#include <utility>

#include <canopy/error.hpp>

namespace canopy::store {

using boost::system::error_code;
using boost::system::result;

FaultLog::FaultLog(Disk& disk, const LogOptions& options, LogEvents& events)
    : options_(options), events_(events), segments_(disk, options) {}

result<std::uint64_t> FaultLog::submit(Buffer record) {
  if (record.size() > options_.record_bytes_max) return make_error_code(errc::too_large);
  if (fault_) return fault_;
  if (!pending_.empty() && pending_bytes_ + record.size() > options_.pending_bytes_max)
    return make_error_code(errc::queue_full);
  pending_bytes_ += record.size();
  pending_.push_back(std::move(record));
  return segments_.last() + pending_.size();
}

void FaultLog::cut_before(std::uint64_t index) { cut_before_ = std::max(cut_before_, index); }

void FaultLog::write() {
  if (fault_) {
    segments_.cut_before(cut_before_);
    fault_ = segments_.prepare();
  } else if (!pending_.empty()) {
    write_pending();
  } else {
    segments_.cut_before(cut_before_);
  }
}

void FaultLog::write_pending() {
  std::vector<Buffer> batch;
  batch.swap(pending_);
  pending_bytes_ = 0;
  std::uint64_t before = segments_.last();
  fault_ = segments_.append(batch);
  error_code error = fault_;
  if (segments_.last() > before) events_.persisted(segments_.last());
  if (error) events_.failed(segments_.last() + 1, error);
}

}  // namespace canopy::store
