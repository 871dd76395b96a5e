// What every store promises, tried on all of them.
#include "store/key_value_store.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "store/fault_store.hpp"
#include "store/memory_store.hpp"
#include "store/rocks_store.hpp"
#include "store/scratch_directory.hpp"

namespace canopy::store {
namespace {

struct MemoryKind {
  MemoryStore store;
};
struct FaultKind {
  FaultStore store{1};
};
struct RocksKind {
  ScratchDirectory directory;
  RocksStore store{directory.path() + "/store", {}};
};

template <typename Kind>
class KeyValueStoreTest : public testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) {
    Batch batch;
    batch.put(key, value);
    apply(batch);
  }
  void apply(const Batch& batch) { ASSERT_FALSE(store().apply(batch, ++index_)); }

  std::optional<std::string> get(const std::string& key) { return store().get(key).value(); }

  std::string keys(std::string_view first, std::string_view last) {
    return rest_of(*store().range(first, last));
  }
  static std::string rest_of(Cursor& cursor) {
    std::string text;
    for (; cursor.valid(); cursor.next()) text += std::string(cursor.key()) + " ";
    EXPECT_FALSE(cursor.error());
    return text;
  }

  KeyValueStore& store() { return kind_.store; }

  Kind kind_;
  std::uint64_t index_ = 0;
};

using Kinds = testing::Types<MemoryKind, FaultKind, RocksKind>;
TYPED_TEST_SUITE(KeyValueStoreTest, Kinds);

TYPED_TEST(KeyValueStoreTest, StartsEmpty) {
  EXPECT_EQ(this->get("a"), std::nullopt);
  EXPECT_EQ(this->keys("", "z"), "");
  EXPECT_EQ(this->store().applied(), 0u);
}

TYPED_TEST(KeyValueStoreTest, LaterWritesOfABatchWin) {
  Batch batch;
  batch.put("a", "1");
  batch.put("b", "1");
  batch.put("a", "2");
  batch.erase("b");
  batch.put("c", "1");
  batch.erase_range("c", "d");
  batch.put("cc", "2");
  this->apply(batch);
  EXPECT_EQ(this->get("a"), "2");
  EXPECT_EQ(this->keys("", "z"), "a cc ");
}

TYPED_TEST(KeyValueStoreTest, ValuesAreAnyBytes) {
  std::string key("k\0\xff", 3);
  std::string value("\0\xff\n", 3);
  this->put(key, value);
  this->put("empty", "");
  EXPECT_EQ(this->get(key), value);
  EXPECT_EQ(this->get("empty"), "");
}

TYPED_TEST(KeyValueStoreTest, ARangeHasItsFirstKeyAndNotItsLast) {
  for (const char* key : {"a", "b", "c", "d"}) this->put(key, key);
  EXPECT_EQ(this->keys("b", "d"), "b c ");
  EXPECT_EQ(this->keys("bb", "z"), "c d ");
  EXPECT_EQ(this->keys("", "b"), "a ");
  EXPECT_EQ(this->keys("c", "c"), "");
  EXPECT_EQ(this->keys("d", "a"), "");
}

TYPED_TEST(KeyValueStoreTest, ErasesARangeInTheSameWay) {
  for (const char* key : {"a", "b", "c", "d"}) this->put(key, key);
  Batch batch;
  batch.erase_range("b", "d");
  batch.erase_range("d", "a");
  this->apply(batch);
  EXPECT_EQ(this->keys("", "z"), "a d ");
}

TYPED_TEST(KeyValueStoreTest, ACursorSeesWhatWasThereWhenItWasMade) {
  for (const char* key : {"a", "b", "c"}) this->put(key, key);
  std::unique_ptr<Cursor> cursor = this->store().range("", "z");
  cursor->next();
  Batch batch;
  batch.erase("b");
  batch.erase("c");
  batch.put("d", "d");
  this->apply(batch);
  EXPECT_EQ(this->rest_of(*cursor), "b c ");
  EXPECT_EQ(this->keys("", "z"), "a d ");
}

TYPED_TEST(KeyValueStoreTest, CountsIndices) {
  this->put("a", "1");
  this->index_ = 41;
  this->put("a", "2");
  EXPECT_EQ(this->store().applied(), 42u);
  EXPECT_LE(this->store().persisted(), 42u);
}

TYPED_TEST(KeyValueStoreTest, AgreesWithAMapAfterRandomWrites) {
  Random random(3);
  std::map<std::string, std::string> expected;
  auto key = [&] { return "k" + std::to_string(100 + random.below(200)); };
  for (int round = 0; round < 300; ++round) {
    Batch batch;
    for (std::uint64_t i = random.below(20); i > 0; --i) {
      std::string at = key();
      if (random.chance(0.6)) {
        batch.put(at, std::to_string(round));
        expected[at] = std::to_string(round);
      } else if (random.chance(0.9)) {
        batch.erase(at);
        expected.erase(at);
      } else {
        std::string end = at + "5";
        batch.erase_range(at, end);
        expected.erase(expected.lower_bound(at), expected.lower_bound(end));
      }
    }
    this->apply(batch);
    if (round % 50 == 0) this->store().flush();
  }
  std::string text;
  for (const auto& [name, value] : expected) {
    text += name + " ";
    EXPECT_EQ(this->get(name), value);
  }
  EXPECT_EQ(this->keys("", "z"), text);
}

// Purges come in between, as queues do them.
TYPED_TEST(KeyValueStoreTest, WhatWasPutOnceComesAndGoesForGood) {
  Random random(4);
  std::set<std::string> expected;
  for (int round = 0; round < 300; ++round) {
    Batch batch;
    for (int i = 0; i < 20; ++i) {
      std::string at = "k" + std::to_string(100 + random.below(200));
      if (random.chance(0.02)) {
        batch.erase_range(at, at + "5");
        expected.erase(at);
      } else if (expected.insert(at).second) {
        batch.put(at, at);
      } else {
        batch.erase_put_once(at);
        expected.erase(at);
      }
    }
    this->apply(batch);
    if (round % 25 == 0) this->store().flush();
  }
  std::string text;
  for (const std::string& name : expected) text += name + " ";
  EXPECT_EQ(this->keys("", "z"), text);
}

TEST(MemoryStoreDeathTest, HoldsCallersToPuttingOnce) {
  MemoryStore store;
  Batch batch;
  batch.put("a", "1");
  batch.put("a", "2");
  batch.erase_put_once("a");
  EXPECT_DEATH(store.apply(batch, 1), "put_once");
}

TEST(FaultStore, GoesBackToWhatIsPersisted) {
  FaultStore store(1);
  Batch batch;
  batch.put("a", "1");
  ASSERT_FALSE(store.apply(batch, 1));
  store.flush();
  store.persist();
  EXPECT_EQ(store.persisted(), 1u);
  batch.put("b", "1");
  ASSERT_FALSE(store.apply(batch, 2));
  store.crash();
  EXPECT_EQ(store.applied(), 1u);
  EXPECT_EQ(store.get("a").value(), "1");
  EXPECT_EQ(store.get("b").value(), std::nullopt);
}

TEST(FaultStore, Fails) {
  FaultStore store(1);
  store.faults = {1, 1};
  EXPECT_FALSE(store.get("a"));
  std::unique_ptr<Cursor> cursor = store.range("a", "b");
  EXPECT_FALSE(cursor->valid());
  EXPECT_TRUE(cursor->error());
  EXPECT_TRUE(store.apply({}, 1));
  EXPECT_EQ(store.applied(), 0u);
}

}  // namespace
}  // namespace canopy::store
