// What RocksDB gets from us instead of the machine's file system and a log file.
// Thread-safe.
#pragma once

#include <memory>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace canopy::store {

// The machine's files, with one difference: an error of a write or a sync is one to
// try again after. By itself RocksDB takes most of them as final, until the process
// starts again; but what it could not write is still in our log and its buffers, so
// it may write the files anew.
std::shared_ptr<rocksdb::FileSystem> retrying_files();

// Drops what RocksDB has to tell: errors come by status and listener. In a file its
// lines fill the disk, and one that fails to be written aborts the process where
// RocksDB is built with assertions, as Debian's is.
std::shared_ptr<rocksdb::Logger> no_log();

}  // namespace canopy::store
