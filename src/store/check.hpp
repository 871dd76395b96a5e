// Verifies a peer's data directory, for `canopyd --check-store DIR`: every
// checksum, the indices from file to file, whose files they are, and that every
// entry of the store can be read. Changes nothing; no process may have it open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace canopy::store {

struct Finding {
  std::string file;
  std::string problem;
};

struct Report {
  std::vector<Finding> findings;  // none: all is well
  std::uint64_t segments = 0;
  std::uint64_t first = 0;  // records of the log
  std::uint64_t last = 0;
  std::uint64_t store_files = 0;
  std::uint64_t entries = 0;
  std::uint64_t applied = 0;
};

Report check(const std::string& directory);

// One line a finding, and one that sums up.
std::string to_text(const Report& report);

}  // namespace canopy::store
