// What a node keeps on disk of itself: who it is, which cluster it belongs to, and how
// often it has booted.
//
// One process holds the directory, by a lock on DIR/lock. DIR/node.json is
// written whole, beside the old one, and renamed over it, so that a crash
// leaves either. A start that contradicts it is refused. Errors are StartError
// in open(), error codes later. Blocks on the disk: not for the overlay's
// thread. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/system/error_code.hpp>

#include "base/id.hpp"
#include "base/time.hpp"
#include "base/uuid.hpp"

namespace canopy::node {

struct Identity {
  std::string name;
  Id id;
  std::string cluster;  // its name
  Uuid cluster_uuid;    // nil until founded or joined
  Uuid store;           // of the queues kept here; drawn with the directory
  unsigned digit_bits = 4;
  unsigned leaf_set_size = 16;
  std::uint64_t incarnation = 0;  // of the latest boot
};

// Keeps every other process out of a directory while it is looked at.
class DirectoryHold {
 public:
  explicit DirectoryHold(const std::string& path);
  ~DirectoryHold();
  DirectoryHold(const DirectoryHold&) = delete;
  DirectoryHold& operator=(const DirectoryHold&) = delete;

  // Who has the directory instead, in words; empty: nobody.
  const std::string& other() const noexcept { return other_; }

 private:
  int lock_;  // negative: nobody has ever had the directory
  std::string other_;
};

class DataDirectory {
 public:
  // Makes the directory if need be, locks it and checks `wanted` against it
  // (its UUIDs and incarnation are not looked at). Writes and gives an
  // incarnation larger than any before. Throws StartError.
  static DataDirectory open(const std::string& path, const Identity& wanted, WallTime now);

  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

  const Identity& identity() const noexcept { return identity_; }

  // This node has founded or joined that cluster: on disk when it returns.
  boost::system::error_code set_cluster(const Uuid& cluster);

 private:
  DataDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::optional<Identity> read() const;
  boost::system::error_code write(const Identity& identity) const;

  std::string path_;
  int lock_ = -1;
  Identity identity_;
};

}  // namespace canopy::node
