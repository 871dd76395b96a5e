// A disk in memory that does what real ones do at the worst moment, decided by a
// seed: for tests.
//
// crash() keeps what was synced, and of the rest some: sectors of writes, each by
// its own luck, and the first few of the changes of names. A failed write leaves
// a part; a failed sync leaves some of the sectors and forgets the others, so that
// the next sync reports success without them. Room may run out. Files are used by
// one thread, and belong to the disk: one that was open at a crash must not be
// used again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "store/disk.hpp"

namespace canopy::store {

struct Faults {
  double write_error = 0;  // chances a call
  double sync_error = 0;
  double name_error = 0;  // creating, renaming, removing, syncing the directory
  std::uint64_t room = std::uint64_t{1} << 40;  // bytes of all files together
  bool ignores_syncs = false;                   // of files: a bug that tests have to notice
};

class FaultDisk final : public Disk {
 public:
  explicit FaultDisk(std::uint64_t seed) : random_(seed) {}

  Faults faults;

  // What a restart would see.
  void crash();
  // How often file contents or names were made to last.
  std::uint64_t syncs() const { return syncs_; }
  // Changes a byte, on the disk too.
  void flip(const std::string& name, std::uint64_t offset);
  std::uint64_t size(const std::string& name) const;

  boost::system::result<std::vector<std::string>> list() override;
  boost::system::result<std::string> read(const std::string& name, std::uint64_t offset,
                                          std::uint64_t size_max) override;
  boost::system::result<std::unique_ptr<File>> open(const std::string& name, bool create) override;
  boost::system::error_code rename(const std::string& from, const std::string& to) override;
  boost::system::error_code remove(const std::string& name) override;
  boost::system::error_code sync() override;
  std::string path(const std::string& name) const override { return "fault/" + name; }

 private:
  friend class FaultFile;

  struct Change {  // of a file: bytes at an offset, or its size
    bool is_size = false;
    std::uint64_t offset = 0;
    std::string bytes;
  };
  struct Node {
    std::string seen;
    std::string kept;
    std::vector<Change> unsynced;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;

  static void apply(const Change& change, std::string& bytes);
  void apply_some(const Change& change, std::string& bytes);
  void keep_some(Node& node);
  std::uint64_t used() const;
  bool fails(double chance) { return chance > 0 && random_.chance(chance); }
  void change_names(const std::function<void(Names&)>& change);

  Random random_;
  Names seen_;
  Names kept_;
  std::vector<std::function<void(Names&)>> unsynced_;
  std::uint64_t syncs_ = 0;
};

}  // namespace canopy::store
