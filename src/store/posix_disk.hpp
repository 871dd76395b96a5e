// A directory of the machine as a Disk. It is made if need be, and locked by
// DIR/lock: a second process gets a Damage. Every call blocks on the disk.
#pragma once

#include <memory>
#include <string>

#include "store/disk.hpp"

namespace canopy::store {

class PosixDisk final : public Disk {
 public:
  explicit PosixDisk(std::string directory);
  PosixDisk(const PosixDisk&) = delete;
  PosixDisk& operator=(const PosixDisk&) = delete;
  ~PosixDisk() override;

  boost::system::result<std::vector<std::string>> list() override;
  boost::system::result<std::string> read(const std::string& name, std::uint64_t offset,
                                          std::uint64_t size_max) override;
  boost::system::result<std::unique_ptr<File>> open(const std::string& name, bool create) override;
  boost::system::error_code rename(const std::string& from, const std::string& to) override;
  boost::system::error_code remove(const std::string& name) override;
  boost::system::error_code sync() override;
  std::string path(const std::string& name) const override;

 private:
  void lock();

  std::string directory_path_;
  int directory_ = -1;
  int lock_ = -1;
};

// A directory that was just made or renamed in: makes its name last.
boost::system::error_code sync_directory(const std::string& path);

}  // namespace canopy::store
