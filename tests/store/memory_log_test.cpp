#include "store/memory_log.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <canopy/error.hpp>

#include "store/damage.hpp"
#include "store/loop.hpp"

namespace canopy::store {
namespace {

class MemoryLogTest : public testing::Test {
 protected:
  std::uint64_t submit(std::string_view record) {
    return log_.submit(Buffer::copy_of(record)).value();
  }
  std::vector<std::string> replayed(std::uint64_t from) {
    std::vector<std::string> records;
    log_.replay(from,
                [&](std::uint64_t, std::string_view record) { records.emplace_back(record); });
    return records;
  }

  Loop loop_;
  Told told_;
  MemoryLog log_{told_, loop_.post(), 1000};
};

TEST_F(MemoryLogTest, PersistsAllThatIsPendingAtOnce) {
  EXPECT_EQ(submit("one"), 1u);
  EXPECT_EQ(submit("two"), 2u);
  EXPECT_EQ(log_.last(), 0u);
  EXPECT_TRUE(loop_.run_until([&] { return told_.last == 2; }));
  EXPECT_EQ(log_.last(), 2u);
  EXPECT_EQ(loop_.posted(), 1u);
  EXPECT_EQ(submit("three"), 3u);
  EXPECT_TRUE(loop_.run_until([&] { return told_.last == 3; }));
  EXPECT_EQ(replayed(2), (std::vector<std::string>{"two", "three"}));
}

TEST_F(MemoryLogTest, RefusesMoreThanMayBePending) {
  submit(std::string(900, 'x'));
  boost::system::result<std::uint64_t> refused =
      log_.submit(Buffer::copy_of(std::string(200, 'x')));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), make_error_code(errc::queue_full));
}

TEST_F(MemoryLogTest, CutsWhatIsNotNeeded) {
  for (int i = 0; i < 5; ++i) submit("x");
  EXPECT_TRUE(loop_.run_until([&] { return told_.last == 5; }));
  log_.cut_before(4);
  EXPECT_EQ(log_.first(), 4u);
  EXPECT_EQ(replayed(4).size(), 2u);
  EXPECT_THROW(replayed(3), Damage);
  EXPECT_EQ(submit("x"), 6u);
}

}  // namespace
}  // namespace canopy::store
