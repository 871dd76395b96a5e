#include "store/rocks_store.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <thread>

#include <gtest/gtest.h>

#include "store/damage.hpp"
#include "store/scratch_directory.hpp"

namespace canopy::store {
namespace {

namespace fs = std::filesystem;

class RocksStoreTest : public testing::Test {
 protected:
  RocksStoreTest() {
    options_.owner = {Uuid::from_random_bits(1, 2), Uuid::from_random_bits(3, 4)};
    options_.memory_bytes = 4 << 20;
    options_.on_problem = [this](const std::string& problem) {
      std::lock_guard lock(mutex_);
      told_ += (problem.empty() ? "works again" : problem) + "\n";
    };
  }

  void open() {
    store_.reset();
    store_ = std::make_unique<RocksStore>(path_, options_);
  }

  void put(const std::string& key, const std::string& value) {
    Batch batch;
    batch.put(key, value);
    ASSERT_FALSE(store_->apply(batch, store_->applied() + 1));
  }

  bool wait_until_persisted(std::uint64_t index) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (store_->persisted() < index && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    return store_->persisted() >= index;
  }

  // The files as they are now: what a killed process leaves. First those that name
  // the others, which may still grow.
  void crash() {
    std::string copy = path_ + ".copy";
    fs::create_directory(copy);
    for (bool names : {true, false})
      for (const fs::directory_entry& entry : fs::directory_iterator(path_))
        if ((entry.path().extension() != ".sst") == names)
          fs::copy(entry.path(), copy + "/" + entry.path().filename().string());
    store_.reset();
    fs::remove_all(path_);
    fs::rename(path_ + ".copy", path_);
    store_ = std::make_unique<RocksStore>(path_, options_);
  }

  // Files may go while they are looked at.
  std::uintmax_t bytes_of_tables() const {
    std::uintmax_t bytes = 0;
    std::error_code gone;
    for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() != ".sst") continue;
      const std::uintmax_t size = entry.file_size(gone);
      if (!gone) bytes += size;
    }
    return bytes;
  }

  bool was_told(const std::string& text) {
    std::lock_guard lock(mutex_);
    return told_.find(text) != std::string::npos;
  }

  std::string complaint() {
    try {
      open();
      return {};
    } catch (const Damage& damage) {
      return damage.what();
    }
  }

  ScratchDirectory directory_;
  std::string path_ = directory_.path() + "/store";
  RocksOptions options_;
  std::mutex mutex_;
  std::string told_;
  std::unique_ptr<RocksStore> store_;
};

TEST_F(RocksStoreTest, KeepsItsEntriesAndTheIndex) {
  open();
  put("a", "1");
  put("b", "2");
  open();
  EXPECT_EQ(store_->applied(), 2u);
  EXPECT_EQ(store_->persisted(), 2u);
  EXPECT_EQ(store_->get("b").value(), "2");
}

TEST_F(RocksStoreTest, ACrashLeavesTheStateOfTheLastFlush) {
  open();
  put("a", "1");
  put("b", "1");
  store_->flush();
  ASSERT_TRUE(wait_until_persisted(2));
  put("a", "2");
  put("c", "1");
  EXPECT_EQ(store_->persisted(), 2u);
  crash();
  EXPECT_EQ(store_->applied(), 2u);
  EXPECT_EQ(store_->get("a").value(), "1");
  EXPECT_EQ(store_->get("c").value(), std::nullopt);
}

TEST_F(RocksStoreTest, FlushesByItselfWhenItsBuffersAreFull) {
  open();
  for (int i = 0; i < 1500; ++i) put("key" + std::to_string(i), std::string(1000, 'x'));
  ASSERT_TRUE(wait_until_persisted(400));
  std::uint64_t persisted = store_->persisted();
  crash();
  EXPECT_GE(store_->applied(), persisted);
  EXPECT_TRUE(store_->get("key" + std::to_string(store_->applied() - 1)).value());
  EXPECT_FALSE(store_->get("key" + std::to_string(store_->applied())).value());
}

TEST_F(RocksStoreTest, WhatCameAndWentBetweenTwoFlushesTakesNothingOnTheDisk) {
  open();
  put("a", "1");
  store_->flush();
  ASSERT_TRUE(wait_until_persisted(1));
  std::uintmax_t before = bytes_of_tables();
  for (int i = 0; i < 1000; ++i) {
    Batch batch;
    batch.put("key" + std::to_string(i), std::string(100, 'x'));
    ASSERT_FALSE(store_->apply(batch, store_->applied() + 1));
    batch.clear();
    batch.erase_put_once("key" + std::to_string(i));
    ASSERT_FALSE(store_->apply(batch, store_->applied() + 1));
  }
  store_->flush();
  ASSERT_TRUE(wait_until_persisted(2001));
  EXPECT_LT(bytes_of_tables(), before + 4096);
}

// Else walks would cross what was erased for as long as nothing else is written.
TEST_F(RocksStoreTest, WhatIsErasedLaterIsCompactedAway) {
  open();
  const auto write = [this](auto each) {
    Batch batch;
    for (int i = 0; i < 10'000; ++i) each(batch, "key" + std::to_string(10'000 + i));
    ASSERT_FALSE(store_->apply(batch, store_->applied() + 1));
    store_->flush();
    ASSERT_TRUE(wait_until_persisted(store_->applied()));
  };
  write([](Batch& batch, std::string key) { batch.put(key, key); });
  std::uintmax_t full = bytes_of_tables();
  write([](Batch& batch, std::string key) { batch.erase_put_once(key); });
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (bytes_of_tables() > full / 4 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_LE(bytes_of_tables(), full / 4);
}

TEST_F(RocksStoreTest, HidesItsOwnKeys) {
  open();
  put("a", "1");
  std::unique_ptr<Cursor> all = store_->range(std::string_view("\0", 1), "z");
  ASSERT_TRUE(all->valid());
  EXPECT_EQ(all->key(), "a");
  all.reset();
  Batch batch;
  batch.erase_range("", "z");
  ASSERT_FALSE(store_->apply(batch, 2));
  open();
  EXPECT_EQ(store_->applied(), 2u);
  EXPECT_EQ(store_->get("a").value(), std::nullopt);
}

TEST_F(RocksStoreTest, RefusesAnotherOwnersStore) {
  open();
  options_.owner.cluster = Uuid::from_random_bits(9, 9);
  EXPECT_NE(complaint().find("another cluster"), std::string::npos);
}

TEST_F(RocksStoreTest, RefusesAStoreThatIsOpen) {
  open();
  EXPECT_THROW(RocksStore(path_, options_), Damage);
}

TEST_F(RocksStoreTest, IsNeverEmptiedForLackOfAFile) {
  open();
  put("a", "1");
  store_.reset();
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    std::string name = entry.path().filename().string();
    bool needed = name == "CURRENT" || name.starts_with("MANIFEST") || name.ends_with(".sst");
    if (!needed) continue;
    fs::rename(entry.path(), directory_.path() + "/aside");
    EXPECT_NE(complaint().find(path_), std::string::npos) << name;
    fs::rename(directory_.path() + "/aside", entry.path());
  }
  EXPECT_EQ(complaint(), "");
  EXPECT_EQ(store_->get("a").value(), "1");
}

// Files may not grow beyond a limit, as if the disk failed; for this process only.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &kept_);
    rlimit limit{bytes, kept_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &kept_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit kept_{};
  void (*before_)(int) = nullptr;
};

TEST_F(RocksStoreTest, FailsAndServesReadsWhileItCannotWriteAndRecoversByItself) {
  open();
  put("a", "1");
  std::uint64_t failed_at = 0;
  auto apply_next = [&] {
    std::uint64_t index = store_->applied() + 1;
    Batch batch;
    batch.put("b" + std::to_string(index), std::string(10'000, 'x'));
    return store_->apply(batch, index);
  };
  {
    FileLimit limit(20'000);
    while (!apply_next()) ASSERT_LT(store_->applied(), 10'000u);
    failed_at = store_->applied() + 1;
    EXPECT_EQ(store_->get("a").value(), "1");
    EXPECT_TRUE(store_->range("a", "c")->valid());
  }
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (apply_next() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(store_->applied(), failed_at);
  store_->flush();
  EXPECT_TRUE(wait_until_persisted(failed_at));
  while (!was_told("works again") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_TRUE(was_told("cannot write: IO error"));
  EXPECT_TRUE(was_told("works again"));
}

TEST_F(RocksStoreTest, ClosesWhileItCannotWrite) {
  for (int pause_ms : {0, 200, 700}) {
    open();
    {
      FileLimit limit(20'000);
      put("a" + std::to_string(pause_ms), std::string(100'000, 'x'));
      store_->flush();
      auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!was_told("cannot write") && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
      EXPECT_TRUE(was_told("cannot write"));
      auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(pause_ms);
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
      store_.reset();
    }
    std::lock_guard lock(mutex_);
    told_.clear();
  }
}

TEST_F(RocksStoreTest, NamesTheFileThatIsDamagedWhenItIsRead) {
  open();
  for (int i = 0; i < 100; ++i) put("key" + std::to_string(i), std::string(10'000, 'v'));
  store_.reset();  // flushes
  fs::path largest;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_))
    if (entry.path().extension() == ".sst" &&
        (largest.empty() || entry.file_size() > fs::file_size(largest)))
      largest = entry.path();
  {
    std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(largest) / 2));
    file << "damage";
  }
  open();
  const auto walk = store_->range("key", "kez");
  while (walk->valid()) walk->next();
  EXPECT_TRUE(walk->error());
  EXPECT_NE(store_->problem().find(largest.filename().string()), std::string::npos)
      << store_->problem();
  EXPECT_TRUE(store_->get("key0"));
  EXPECT_EQ(store_->problem(), "") << "what was read last is whole";
}

TEST_F(RocksStoreTest, AnUnfinishedOneIsMadeAnew) {
  fs::create_directories(path_ + ".new");
  std::ofstream(path_ + ".new/CURRENT") << "MANIFEST-";
  open();
  put("a", "1");
  open();
  EXPECT_EQ(store_->get("a").value(), "1");
}

}  // namespace
}  // namespace canopy::store
