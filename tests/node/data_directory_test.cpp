#include "node/data_directory.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <canopy/options.hpp>

namespace canopy::node {
namespace {

const WallTime written_at(WallClock::duration(1'700'000'000'000));

class DataDirectoryTest : public testing::Test {
 protected:
  DataDirectoryTest() {
    std::string pattern = testing::TempDir() + "canopy-data-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    path_ = root_ + "/data";
  }
  ~DataDirectoryTest() override { std::filesystem::remove_all(root_); }

  static Identity wanted(const std::string& name = "a") {
    Identity identity;
    identity.name = name;
    identity.id = Id::hash_of(name);
    identity.cluster = "canopy";
    return identity;
  }

  // What open() complains about; empty if it does not.
  std::string complaint(const Identity& identity) const {
    try {
      DataDirectory::open(path_, identity, written_at);
      return {};
    } catch (const StartError& error) {
      return error.what();
    }
  }

  void write(const std::string& text) const { std::ofstream(path_ + "/node.json") << text; }

  std::string root_;
  std::string path_;
};

TEST_F(DataDirectoryTest, IsMadeAndKeepsTheIdentity) {
  const Uuid cluster = Uuid::from_random_bits(1, 2);
  {
    DataDirectory directory = DataDirectory::open(path_, wanted(), written_at);
    EXPECT_TRUE(directory.identity().cluster_uuid.is_nil());
    EXPECT_FALSE(directory.set_cluster(cluster));
  }
  DataDirectory again = DataDirectory::open(path_, wanted(), written_at);
  EXPECT_EQ(again.identity().cluster_uuid, cluster);
  EXPECT_EQ(again.identity().id, Id::hash_of("a"));
}

TEST_F(DataDirectoryTest, IncarnationGrowsWithEachBootEvenIfTheClockGoesBack) {
  std::uint64_t first = DataDirectory::open(path_, wanted(), written_at).identity().incarnation;
  EXPECT_EQ(first, 1'700'000'000'000U);
  const WallTime earlier = written_at - std::chrono::hours(1);
  EXPECT_EQ(DataDirectory::open(path_, wanted(), earlier).identity().incarnation, first + 1);
  EXPECT_EQ(DataDirectory::open(path_, wanted(), earlier).identity().incarnation, first + 2);
  const WallTime later = written_at + std::chrono::hours(1);
  EXPECT_EQ(DataDirectory::open(path_, wanted(), later).identity().incarnation, first + 3'600'000);
}

TEST_F(DataDirectoryTest, BelongsToOneProcessAtATime) {
  DataDirectory held = DataDirectory::open(path_, wanted(), written_at);
  const std::string text = complaint(wanted());
  EXPECT_NE(text.find("is in use by process"), std::string::npos) << text;
  EXPECT_NE(text.find(path_), std::string::npos) << text;
}

TEST_F(DataDirectoryTest, IsNotOpenedWhileItIsLookedAt) {
  DataDirectory::open(path_, wanted(), written_at);
  {
    const DirectoryHold hold(path_);
    EXPECT_EQ(hold.other(), "");
    EXPECT_NE(complaint(wanted()).find("is in use by process"), std::string::npos);
    EXPECT_NE(DirectoryHold(path_).other(), "");
  }
  EXPECT_EQ(complaint(wanted()), "");
}

TEST_F(DataDirectoryTest, OfAnotherNodeIsRefused) {
  DataDirectory::open(path_, wanted(), written_at);
  const std::string text = complaint(wanted("b"));
  EXPECT_NE(text.find("belongs to the node 'a', not to 'b'"), std::string::npos) << text;
  EXPECT_NE(text.find("start with --name a"), std::string::npos) << text;
}

TEST_F(DataDirectoryTest, OfAnotherClusterIsRefused) {
  DataDirectory::open(path_, wanted(), written_at);
  Identity other = wanted();
  other.cluster = "other";
  EXPECT_NE(complaint(other).find("'canopy', not to 'other'"), std::string::npos);
}

TEST_F(DataDirectoryTest, WithOtherConstantsIsRefused) {
  DataDirectory::open(path_, wanted(), written_at);
  Identity other = wanted();
  other.digit_bits = 2;
  EXPECT_NE(complaint(other).find("digits of 4 bits, not 2"), std::string::npos);
  other = wanted();
  other.leaf_set_size = 8;
  EXPECT_NE(complaint(other).find("leaf sets of 16 peers, not 8"), std::string::npos);
}

TEST_F(DataDirectoryTest, ThatCannotBeUnderstoodIsRefusedAndLeftAlone) {
  DataDirectory::open(path_, wanted(), written_at);
  for (const char* text : {"", "{", "[]", "{\"format\":2}", "{\"format\":1}"}) {
    write(text);
    const std::string complaint_of_it = complaint(wanted());
    EXPECT_NE(complaint_of_it.find("cannot be understood"), std::string::npos) << text;
    EXPECT_EQ(complaint_of_it.find("/boost/"), std::string::npos) << complaint_of_it;
    std::ifstream file(path_ + "/node.json");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
  }
}

TEST_F(DataDirectoryTest, WhoseFileIsAPipeOrADirectoryIsRefusedAtOnce) {
  DataDirectory::open(path_, wanted(), written_at);
  const std::string file = path_ + "/node.json";
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_NE(complaint(wanted()).find("node.json is no regular file"), std::string::npos);
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_NE(complaint(wanted()).find("node.json is no regular file"), std::string::npos);
}

TEST_F(DataDirectoryTest, SurvivesACrashWhileItWasWritten) {
  DataDirectory::open(path_, wanted(), written_at);
  std::ofstream(path_ + "/node.json.new") << "half";
  EXPECT_EQ(complaint(wanted()), "");
}

TEST_F(DataDirectoryTest, ThatCannotBeMadeIsSaid) {
  std::ofstream(root_ + "/file") << "x";
  path_ = root_ + "/file/data";
  EXPECT_NE(complaint(wanted()).find("cannot make the data directory"), std::string::npos);
}

}  // namespace
}  // namespace canopy::node
