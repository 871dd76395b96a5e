#include "node/known_peers.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "node/peer_record.hpp"

namespace canopy::node {
namespace {

using namespace std::chrono_literals;
using Addresses = std::vector<std::string>;

const Uuid cluster = *Uuid::parse("6ba7b810-9dad-41d1-80b4-00c04fd430c8");
const WallTime present(WallClock::duration(1'700'000'000'000));

class KnownPeersTest : public testing::Test {
 protected:
  KnownPeersTest() {
    std::string pattern = testing::TempDir() + "canopy-peers-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~KnownPeersTest() override { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ + "/peers.json"; }
  void put(const std::string& text) const { std::ofstream(path()) << text; }
  KnownPeers read() const { return read_known_peers(directory_, cluster); }

  // A file with these entries.
  static std::string file_of(const std::string& entries, const std::string& format = "1") {
    return R"({"format": )" + format + R"(, "cluster": ")" + cluster.to_string() +
           R"(", "peers": [)" + entries + "]}";
  }

  std::string directory_;
};

TEST_F(KnownPeersTest, AreThereAgain) {
  EXPECT_TRUE(read().empty());
  const KnownPeers peers{{"10.0.0.1:7400", present}, {"[::1]:7400", present - 1h}};
  ASSERT_FALSE(write_known_peers(directory_, cluster, peers));
  EXPECT_EQ(read(), peers);
}

TEST_F(KnownPeersTest, AFileThatCannotBeUnderstoodIsLeftOut) {
  const std::string address = R"({"address": "10.0.0.1:7400", "seen": 1})";
  put(file_of(address));
  EXPECT_EQ(read().size(), 1U);
  for (const std::string& text : {
           std::string(),
           std::string("{"),
           std::string("[]"),
           std::string(R"({"format": 1})"),
           R"({"format": 1, "cluster": ")" + cluster.to_string() + R"(", "peers": 7})",
           R"({"format": 1, "peers": [)" + address + "]}",
           R"({"format": 1, "cluster": "", "peers": [)" + address + "]}",
           file_of(address, "2"),
           file_of(R"({"address": "10.0.0.1:7400"})"),
           file_of(address) + std::string(70'000, ' '),
       }) {
    put(text);
    EXPECT_TRUE(read().empty()) << text.substr(0, 80);
  }
  std::filesystem::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_TRUE(read().empty());
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_TRUE(read().empty());
}

TEST_F(KnownPeersTest, PeersOfAnotherClusterAreLeftOut) {
  ASSERT_FALSE(write_known_peers(directory_, cluster, {{"10.0.0.1:7400", present}}));
  EXPECT_TRUE(read_known_peers(directory_, Uuid()).empty());
}

TEST_F(KnownPeersTest, AnAddressThatIsNoneIsLeftOutAlone) {
  const std::string long_name(2'000, 'x');
  put(file_of(R"({"address": "nowhere", "seen": 1}, {"address": ")" + long_name +
              R"(:7400", "seen": 1}, {"address": "10.0.0.1:7400", "seen": 1})"));
  EXPECT_EQ(addresses_of(read()), (Addresses{"10.0.0.1:7400"}));
}

TEST_F(KnownPeersTest, OfTooManyInTheFileAFewAreTaken) {
  std::string entries;
  for (int i = 1; i <= 100; ++i)
    entries +=
        (i > 1 ? "," : "") + (R"({"seen": 1, "address": "10.0.0.1:)" + std::to_string(i)) + R"("})";
  put(file_of(entries));
  const Addresses addresses = addresses_of(read());
  ASSERT_EQ(addresses.size(), known_peers_max);
  EXPECT_EQ(addresses.front(), "10.0.0.1:1");
}

TEST_F(KnownPeersTest, ThoseInTheRingComeFirstAndOthersStayWhileThereIsRoom) {
  const KnownPeers before{{"a", present - 1h}, {"b", present - 2h}};
  EXPECT_EQ(updated(before, {"c", "b", "c"}, present),
            (KnownPeers{{"c", present}, {"b", present}, {"a", present - 1h}}));
  EXPECT_EQ(updated(before, {}, present), before);
  const Addresses many{"1", "2", "3", "4", "5", "6", "7", "8", "9"};
  EXPECT_EQ(addresses_of(updated(before, many, present)),
            Addresses(many.begin(), many.begin() + known_peers_max));
}

TEST_F(KnownPeersTest, WhoHasNotBeenSeenForLongIsForgotten) {
  const KnownPeers before{{"a", present - 8 * 24h}, {"b", present - 6 * 24h}};
  EXPECT_EQ(addresses_of(updated(before, {"c"}, present)), (Addresses{"c", "b"}));
  // Whatever a file says.
  const KnownPeers odd{{"a", WallTime::max()}, {"b", WallTime::min()}};
  EXPECT_EQ(updated(odd, {"c"}, present), (KnownPeers{{"c", present}, {"a", present}}));
}

// Else a ring that stays the same for long would be forgotten by the first start that finds
// nobody there.
TEST(KnownPeersNews, AreOthersOrTheSameADayLater) {
  const KnownPeers peers{{"10.0.0.1:7400", present}, {"10.0.0.2:7400", present - 1h}};
  EXPECT_TRUE(are_news(peers, {}));
  EXPECT_TRUE(are_news({}, peers));
  EXPECT_FALSE(are_news({}, {}));
  EXPECT_FALSE(are_news(peers, peers));
  EXPECT_FALSE(are_news({peers[1], peers[0]}, peers));
  KnownPeers later = peers;
  later.front().seen += 23h;
  EXPECT_FALSE(are_news(later, peers));
  later.front().seen += 1h;
  EXPECT_TRUE(are_news(later, peers));
  for (const WallTime whatever : {WallTime::min(), WallTime::max()}) {
    KnownPeers odd = peers;
    odd.front().seen = whatever;
    EXPECT_FALSE(are_news(odd, odd));
    EXPECT_EQ(are_news(peers, odd), whatever == WallTime::min());
  }
}

class PeerRecordTest : public testing::Test {
 protected:
  using Kept = std::function<void(boost::system::error_code)>;

  boost::asio::io_context io;
  TimerQueue timers{io};
  Addresses in_ring;
  std::vector<std::pair<Addresses, Kept>> writes;
  PeerRecord record{"node", timers,
                    [this](const KnownPeers& peers, Kept kept) {
                      writes.emplace_back(addresses_of(peers), std::move(kept));
                    },
                    [this] { return in_ring; }};
};

TEST_F(PeerRecordTest, WritesWhenThereAreOthersThanBefore) {
  record.start();
  EXPECT_TRUE(writes.empty());  // alone
  in_ring = {"a", "b"};
  record.look_now();
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].first, in_ring);
  writes[0].second({});
  record.look_now();
  EXPECT_EQ(writes.size(), 1U);
  in_ring = {"a", "c"};
  record.look_now();
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[1].first, (Addresses{"a", "c", "b"}));
}

TEST_F(PeerRecordTest, WritesAgainWhatTheDiskRefused) {
  in_ring = {"a"};
  record.start();
  ASSERT_EQ(writes.size(), 1U);
  record.look_now();
  EXPECT_EQ(writes.size(), 1U);  // one at a time
  writes[0].second(make_error_code(boost::system::errc::no_space_on_device));
  EXPECT_EQ(record.failures(), 1U);
  record.look_now();
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[1].first, in_ring);
}

TEST_F(PeerRecordTest, AloneItKeepsWhomItKnewAndWritesNothing) {
  record.restore({{"a", WallTime::min()}});
  record.start();
  EXPECT_TRUE(writes.empty());
  in_ring = {"b"};
  record.look_now();
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].first, (Addresses{"b"}));  // "a" was seen too long ago
}

TEST_F(PeerRecordTest, WritesAtOnceWhatHasChangedWhileItWrote) {
  in_ring = {"a"};
  record.start();
  in_ring = {"b"};
  record.look_now();
  ASSERT_EQ(writes.size(), 1U);
  record.stop();
  writes[0].second({});
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[1].first, (Addresses{"b", "a"}));
}

}  // namespace
}  // namespace canopy::node
