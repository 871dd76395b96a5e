#include "node/group_files.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <canopy/options.hpp>

#include "node/store_check.hpp"

namespace canopy::node {
namespace {

using namespace std::chrono_literals;

constexpr WallTime group_files_now{std::chrono::hours(24 * 365 * 50)};

class GroupFilesTest : public testing::Test {
 protected:
  GroupFilesTest() {
    char name[] = "/tmp/canopy-groups-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  ~GroupFilesTest() override { std::filesystem::remove_all(directory_); }

  static wire::GroupState state(const std::string& name) {
    wire::GroupState state;
    state.group = Id::hash_of(name);
    state.name = {name, "ann"};
    state.mode = wire::GroupMode::ordered;
    state.epoch = 7;
    state.version = 3;
    state.created = true;
    wire::AccessList list;
    list.join = {false, {Id::hash_of("node")}, {PublicKey{1, 2, 3}}};
    list.mark = 99;
    list.ancestors = {5, 6};
    state.access = std::make_shared<const wire::AccessList>(list);
    return state;
  }
  std::string file_of(const std::string& name) const {
    return directory_ + "/groups/" + Id::hash_of(name).to_hex() + ".group";
  }
  std::string problem() const {
    try {
      GroupFiles(directory_).read(group_files_now);
    } catch (const StartError& error) {
      return error.what();
    }
    return {};
  }

  std::string directory_;
};

TEST_F(GroupFilesTest, WhatWasWrittenIsReadAgain) {
  const GroupFiles files(directory_);
  EXPECT_TRUE(files.read(group_files_now).empty());
  ASSERT_FALSE(files.write({{Id::hash_of("a"), state("a")}, {Id::hash_of("b"), state("b")}},
                           group_files_now));
  ASSERT_FALSE(files.write({{Id::hash_of("b"), std::nullopt}, {Id::hash_of("c"), std::nullopt}},
                           group_files_now));
  const auto read = GroupFiles(directory_).read(group_files_now);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].name, state("a").name);
  EXPECT_EQ(read[0].mode, wire::GroupMode::ordered);
  EXPECT_EQ(read[0].epoch, 7u);
  EXPECT_TRUE(read[0].created);
  EXPECT_EQ(read[0].access->join, state("a").access->join);
  EXPECT_EQ(read[0].access->mark, 99u);
  EXPECT_EQ(read[0].access->ancestors, (std::vector<std::uint64_t>{5, 6}));
}

TEST_F(GroupFilesTest, ADeletedGroupIsRememberedUntilItsTimeIsUp) {
  wire::GroupState deleted = state("a");
  deleted.life = 1;
  deleted.deleted_for_ms = 60'000;
  const GroupFiles files(directory_);
  ASSERT_FALSE(files.write({{deleted.group, deleted}}, group_files_now));
  const auto read = files.read(group_files_now + 20s);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_TRUE(read[0].deleted());
  EXPECT_NEAR(read[0].deleted_for_ms, 40'000, 1);
  EXPECT_TRUE(files.read(group_files_now + 61s).empty());
  EXPECT_FALSE(std::filesystem::exists(file_of("a")));
}

TEST_F(GroupFilesTest, ADamagedFileIsNamedAndNothingIsLeftOut) {
  ASSERT_FALSE(GroupFiles(directory_).write({{Id::hash_of("a"), state("a")}}, group_files_now));
  const auto size = std::filesystem::file_size(file_of("a"));
  for (std::uintmax_t at = 0; at < size; ++at) {
    std::fstream file(file_of("a"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
    file.close();
    EXPECT_NE(problem().find(file_of("a")), std::string::npos) << at;
    file.open(file_of("a"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
  }
  EXPECT_EQ(problem(), "");
  std::filesystem::resize_file(file_of("a"), size - 1);
  EXPECT_NE(problem().find(file_of("a")), std::string::npos);
  std::filesystem::resize_file(file_of("a"), 0);
  EXPECT_NE(problem().find(file_of("a")), std::string::npos);
}

TEST_F(GroupFilesTest, ACheckNamesEachDamagedFileAndChangesNothing) {
  EXPECT_EQ(check_store(directory_, false).status, 2);
  wire::GroupState deleted = state("c");
  deleted.life = 1;
  deleted.deleted_for_ms = 1;
  const GroupFiles files(directory_);
  ASSERT_FALSE(files.write(
      {{Id::hash_of("a"), state("a")}, {Id::hash_of("b"), state("b")}, {Id::hash_of("c"), deleted}},
      group_files_now));
  EXPECT_EQ(check_store(directory_, false).status, 0);
  EXPECT_NE(check_store(directory_, false).text.find("definitions of 2 groups"), std::string::npos);
  std::filesystem::resize_file(file_of("a"), 60);
  std::fstream(file_of("b"), std::ios::in | std::ios::out | std::ios::binary).seekp(40).put('?');
  for (const bool json : {false, true}) {
    const StoreCheck check = check_store(directory_, json);
    EXPECT_EQ(check.status, 1);
    for (const char* name : {"a", "b"})
      EXPECT_NE(check.text.find(file_of(name) + (json ? "\"" : " is damaged")), std::string::npos)
          << check.text;
    EXPECT_EQ(check.text.find(file_of("c")), std::string::npos);
  }
  EXPECT_NE(check_store(directory_, false).text.find("its checksum is wrong"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(file_of("c")));
}

TEST_F(GroupFilesTest, WhatAWriteLeftUnfinishedGoes) {
  ASSERT_FALSE(GroupFiles(directory_).write({{Id::hash_of("a"), state("a")}}, group_files_now));
  std::ofstream(file_of("b") + ".new") << "half";
  EXPECT_EQ(GroupFiles(directory_).read(group_files_now).size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(file_of("b") + ".new"));
}

TEST_F(GroupFilesTest, ADiskThatTakesNothingIsAnError) {
  const GroupFiles files(directory_);
  std::filesystem::remove_all(directory_ + "/groups");
  EXPECT_TRUE(files.write({{Id::hash_of("a"), state("a")}}, group_files_now));
}

}  // namespace
}  // namespace canopy::node
