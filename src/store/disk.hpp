// The part of a file system that the log stands on: files in one directory.
//
// posix_disk.hpp is the real one; fault_disk.hpp loses what was not synced, tears
// writes and fails. What a call did is on the disk for certain only after the
// sync() of the file (contents and size) or of the directory (names). After a
// failed sync() nobody knows what is there, and a second one proves nothing.
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace canopy::store {

class File {
 public:
  virtual ~File() = default;
  // The pieces one after the other, all of them unless it fails.
  virtual boost::system::error_code write(std::uint64_t offset,
                                          std::span<const std::string_view> pieces) = 0;
  virtual boost::system::error_code sync() = 0;
  // Reserves room up to `size`, so that writes below it find some.
  virtual boost::system::error_code allocate(std::uint64_t size) = 0;
  virtual boost::system::error_code truncate(std::uint64_t size) = 0;
};

class Disk {
 public:
  virtual ~Disk() = default;
  virtual boost::system::result<std::vector<std::string>> list() = 0;  // sorted
  // Fewer bytes than asked for at the end of the file.
  virtual boost::system::result<std::string> read(const std::string& name, std::uint64_t offset,
                                                  std::uint64_t size_max) = 0;
  virtual boost::system::result<std::unique_ptr<File>> open(const std::string& name,
                                                            bool create) = 0;
  virtual boost::system::error_code rename(const std::string& from, const std::string& to) = 0;
  virtual boost::system::error_code remove(const std::string& name) = 0;
  virtual boost::system::error_code sync() = 0;
  // The file's name for messages.
  virtual std::string path(const std::string& name) const = 0;
};

}  // namespace canopy::store
