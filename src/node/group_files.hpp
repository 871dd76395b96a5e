// The groups' definitions that a node keeps on disk: DIR/groups/ID.group, a file
// each.
//
//   "canopy group 1\n\n" | u64 forgotten at (milliseconds of wall time; 0: never) |
//   GroupState of overlay.proto | SHA-256 of all that
//
// A file is written beside the old one and renamed over it, so that a crash leaves
// either; the last step of write() syncs the directory. A damaged one stops the start
// with its name, and nothing is left out. Blocks on the disk: not for the overlay's
// thread. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/system/error_code.hpp>

#include "base/id.hpp"
#include "base/time.hpp"
#include "wire/scribe_messages.hpp"

namespace canopy::node {

class GroupFiles {
 public:
  // Of the data directory, which is this process's. Throws StartError.
  explicit GroupFiles(const std::string& data_directory);

  // All of them; those of deleted groups that are to be forgotten by now go. Throws
  // StartError that names a damaged one.
  std::vector<wire::GroupState> read(WallTime now) const;

  // Changes nothing. Of a data directory that no process uses.
  struct Report {
    struct Finding {
      std::string file;
      std::string problem;
    };
    std::vector<Finding> findings;  // none: all is well
    std::uint64_t kept = 0;         // groups that there are
    std::uint64_t deleted = 0;      // remembered as that
  };
  static Report check(const std::string& data_directory, WallTime now);
  // Whether it keeps any.
  static bool any(const std::string& data_directory);

  struct Change {
    Id id;
    std::optional<wire::GroupState> state;  // none: the file goes
  };
  // On disk when it returns without an error; else any part of it may be.
  boost::system::error_code write(const std::vector<Change>& changes, WallTime now) const;

 private:
  std::string path_of(const Id& id) const;

  std::string directory_;
};

}  // namespace canopy::node
