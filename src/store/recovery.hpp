// A peer's data directory: the log in DIR/log, the store in DIR/store.
//
// Start-up: open() both, then replay() what the store lacks into whoever applies
// commands. Errors are Damage, which names the file.
#pragma once

#include <memory>
#include <string>

#include "store/key_value_store.hpp"
#include "store/log.hpp"
#include "store/rocks_store.hpp"
#include "store/segments.hpp"

namespace canopy::store {

struct Options {
  Owner owner;  // of both
  LogOptions log;
  RocksOptions store;
};

struct Opened {
  std::unique_ptr<KeyValueStore> store;
  std::unique_ptr<Log> log;  // goes first
};

std::string log_directory(const std::string& directory);
std::string store_directory(const std::string& directory);

// `events` and what `post` posts to must outlive the log.
Opened open(const std::string& directory, Options options, LogEvents& events, Post post);

// `use` has to apply each record, with its index, to the store.
void replay(KeyValueStore& store, Log& log,
            const std::function<void(std::uint64_t index, std::string_view record)>& use);

}  // namespace canopy::store
