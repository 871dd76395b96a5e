#include "node/group_record.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace canopy::node {
namespace {

class GroupRecordTest : public testing::Test {
 protected:
  using Kept = std::function<void(boost::system::error_code)>;

  static wire::GroupState state(const std::string& name) {
    wire::GroupState state;
    state.group = Id::hash_of(name);
    state.name = {name, ""};
    return state;
  }
  static std::vector<std::string> names_in(const std::vector<GroupFiles::Change>& changes) {
    std::vector<std::string> names;
    for (const GroupFiles::Change& change : changes) names.push_back(change.state->name.name);
    return names;
  }

  boost::asio::io_context io;
  TimerQueue timers{io};
  std::vector<std::pair<std::vector<std::string>, Kept>> batches;
  std::vector<std::string> written;
  std::function<void()> when_written = [] {};
  GroupRecord record{"node", timers,
                     [this](const std::vector<GroupFiles::Change>& changes, Kept kept) {
                       batches.emplace_back(names_in(changes), std::move(kept));
                     },
                     [this](const wire::GroupState& state) {
                       written.push_back(state.name.name);
                       std::exchange(when_written, [] {})();
                     }};
};

TEST_F(GroupRecordTest, OneBatchIsUnderWayAtATime) {
  record.keep(state("a"));
  record.keep(state("b"));
  ASSERT_EQ(batches.size(), 1U);
  batches[0].second({});
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].first, std::vector<std::string>{"b"});
  EXPECT_EQ(written, std::vector<std::string>{"a"});
}

TEST_F(GroupRecordTest, WhatIsToBeKeptOnceAnotherIsWrittenIsNoExceptionToThat) {
  when_written = [this] {
    record.keep(state("b"));
    record.keep(state("c"));
  };
  record.keep(state("a"));
  batches[0].second({});
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].first, std::vector<std::string>{"b"});
  batches[1].second({});
  EXPECT_EQ(written, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[2].first, std::vector<std::string>{"c"});
}

}  // namespace
}  // namespace canopy::node
