// Who may be part of a cluster, and what a start that may not says.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <boost/asio/ip/tcp.hpp>
#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"

namespace canopy::system_test {
namespace {

const std::string nobody = "127.0.0.1:1";  // refuses connections

class IdentityTest : public testing::Test {
 protected:
  std::string data(const std::string& name) { return cluster_.directory() + "/" + name + ".data"; }

  // Ends in failure and says so.
  void expect_failure(Daemon& daemon, const std::string& words) {
    EXPECT_EQ(daemon.process().wait(seconds(15) * slowness), 1) << daemon.process().err();
    EXPECT_NE(daemon.process().err().find(words), std::string::npos)
        << "missing '" << words << "' in:\n"
        << daemon.process().err();
  }

  void expect_log(Daemon& daemon, const std::string& words) {
    EXPECT_TRUE(
        cluster_.until(seconds(15) * slowness,
                       [&] { return daemon.process().err().find(words) != std::string::npos; }))
        << "missing '" << words << "' in:\n"
        << daemon.process().err();
  }

  bool becomes_active(Daemon& daemon, seconds time_max = seconds(15)) {
    return cluster_.until(time_max * slowness, [&] { return daemon.active(); });
  }

  void end(Daemon& daemon, int number = SIGTERM) {
    daemon.process().signal(number);
    ASSERT_TRUE(cluster_.until(seconds(10), [&] { return !daemon.process().running(); }));
    daemon.client().close();
  }

  Cluster cluster_;
};

TEST_F(IdentityTest, ANameUsedTwiceInASmallRingIsRefused) {
  cluster_.start(4);
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  Cluster other;
  Daemon& second = other.add("peer-2", {"--join", cluster_[0].address()});
  expect_failure(second, "the name peer-2 is in use");
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(5) * slowness)) << cluster_.logs();
}

TEST_F(IdentityTest, ANameUsedTwiceFarFromTheSeedIsRefused) {
  Cluster ring({"--digit-bits", "2", "--leaf-set", "4"});
  ring.start(20);
  ASSERT_TRUE(ring.becomes_one_ring(seconds(20) * slowness)) << ring.logs();
  for (const char* name : {"peer-3", "peer-11", "peer-19"}) {
    Cluster other({"--digit-bits", "2", "--leaf-set", "4"});
    Daemon& second = other.add(name, {"--join", ring[0].address()});
    expect_failure(second, "is in use");
  }
  EXPECT_TRUE(ring.becomes_one_ring(seconds(10) * slowness)) << ring.logs();
}

TEST_F(IdentityTest, ANodeMayMoveToAnotherAddressOnceItIsGone) {
  cluster_.start(4);
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  end(cluster_[2], SIGKILL);
  cluster_.remove(2);
  cluster_.add("peer-2");
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
}

TEST_F(IdentityTest, WhoHungUntilAnotherTookItsPlaceStopsAndSaysSo) {
  cluster_.start(4);
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  cluster_[2].process().signal(SIGSTOP);
  Cluster other;
  Daemon& successor = other.add("peer-2", {"--join", cluster_[0].address()});
  ASSERT_TRUE(becomes_active(successor)) << successor.process().err();
  cluster_[2].process().signal(SIGCONT);
  expect_failure(cluster_[2], "another process has this node's place in the ring");
  EXPECT_TRUE(successor.becomes_active());
}

TEST_F(IdentityTest, AnotherClustersNameIsRefused) {
  Daemon& first = cluster_.add("a");
  ASSERT_TRUE(first.up());
  Daemon& second = cluster_.add("b", {"--cluster", "other"});
  expect_failure(second, "is of the cluster");
  EXPECT_TRUE(first.becomes_active());
}

TEST_F(IdentityTest, OtherConstantsAreRefused) {
  Daemon& first = cluster_.add("a");
  ASSERT_TRUE(first.up());
  expect_failure(cluster_.add("b", {"--digit-bits", "2"}), "--digit-bits");
  expect_failure(cluster_.add("c", {"--leaf-set", "8"}), "--leaf-set");
  EXPECT_TRUE(first.becomes_active());
}

TEST_F(IdentityTest, ADirectoryOfAnotherClusterOfTheSameNameIsRefused) {
  Daemon& founder = cluster_.add("a");
  ASSERT_TRUE(founder.up());
  Daemon& wanderer = cluster_.add_stranger("b", {"--data", data("b")});
  ASSERT_TRUE(becomes_active(wanderer));
  end(wanderer);
  cluster_.remove(1);
  Daemon& refused = cluster_.add("b", {"--data", data("b")});
  expect_failure(refused, "two clusters have the name 'canopy'");
}

TEST_F(IdentityTest, AMemberPassesOverASeedOfAnotherCluster) {
  Daemon& good = cluster_.add("a");
  Daemon& wrong = cluster_.add_stranger("b");
  ASSERT_TRUE(becomes_active(good) && becomes_active(wrong));
  Daemon& member = cluster_.add("c", {"--data", data("c")});
  ASSERT_TRUE(becomes_active(member));
  end(member);
  cluster_.remove(2);
  Daemon& restarted = cluster_.add_stranger(
      "c", {"--data", data("c"), "--join", wrong.address(), "--join", good.address()});
  ASSERT_TRUE(becomes_active(restarted)) << restarted.process().err();
  EXPECT_EQ(restarted.status().cluster_uuid, good.status().cluster_uuid);
  end(restarted);
  cluster_.remove(2);
  Daemon& waiting = cluster_.add_stranger(
      "c", {"--data", data("c"), "--join", wrong.address(), "--join", nobody});
  expect_log(waiting, "two clusters have the name 'canopy'");
  expect_log(waiting, "is passed over");
  EXPECT_TRUE(becomes_active(waiting)) << waiting.process().err();
}

TEST_F(IdentityTest, SeedsOfTwoClustersAreRefusedByWhoKnowsNeither) {
  Daemon& one = cluster_.add("a");
  Daemon& other = cluster_.add_stranger("b");
  ASSERT_TRUE(becomes_active(one) && becomes_active(other));
  Daemon& joiner = cluster_.add_stranger("c", {"--join", one.address(), "--join", other.address()});
  // Whose second seed answers when it is active already says so and goes on.
  EXPECT_TRUE(cluster_.until(seconds(15) * slowness, [&] {
    return joiner.process().err().find("two clusters have the name") != std::string::npos;
  }));
}

TEST_F(IdentityTest, ADirectoryOfAnotherNodeIsRefused) {
  Daemon& first = cluster_.add("a", {"--data", data("a")});
  ASSERT_TRUE(becomes_active(first));
  end(first);
  expect_failure(cluster_.add_stranger("b", {"--data", data("a")}), "belongs to the node 'a'");
}

TEST_F(IdentityTest, TwoDaemonsOnOneDirectoryAreRefused) {
  Daemon& first = cluster_.add("a", {"--data", data("a")});
  ASSERT_TRUE(first.up());
  Cluster other;
  expect_failure(other.add("a", {"--data", data("a")}), "is in use by process");
  EXPECT_TRUE(becomes_active(first));
}

TEST_F(IdentityTest, ASeedThatRefusesConnectionsIsTriedAgain) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  Daemon& joiner = cluster_.add_stranger("b", {"--join", address});
  ASSERT_TRUE(joiner.up());
  expect_log(joiner, "seed " + address + " does not answer");
  expect_log(joiner, "trying again in");
  EXPECT_EQ(joiner.status().state, "joining");
  Daemon& seed = cluster_.add_stranger("a", {"--listen", address});
  ASSERT_TRUE(seed.up()) << seed.process().err();
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(20) * slowness)) << cluster_.logs();
}

TEST_F(IdentityTest, ASeedThatAcceptsAndSaysNothingDelaysNobody) {
  boost::asio::ip::tcp::acceptor silent(cluster_.io(),
                                        {boost::asio::ip::make_address("127.0.0.1"), 0});
  const std::string mute = "127.0.0.1:" + std::to_string(silent.local_endpoint().port());
  Daemon& first = cluster_.add("a");
  ASSERT_TRUE(first.up());
  Daemon& joiner = cluster_.add("b", {"--join", mute, "--join", first.address()});
  EXPECT_TRUE(becomes_active(joiner, seconds(2)));
  Daemon& lonely = cluster_.add_stranger("c", {"--join", mute});
  expect_log(lonely, "seed " + mute + " does not answer");
}

TEST_F(IdentityTest, NeverFoundsWhileASeedIsGiven) {
  Daemon& joiner = cluster_.add_stranger("a", {"--join", nobody});
  ASSERT_TRUE(joiner.up());
  EXPECT_FALSE(becomes_active(joiner, seconds(5)));
}

TEST_F(IdentityTest, FoundsOnlyIfAllowedAndNoSeedAnswers) {
  Daemon& founder = cluster_.add_stranger("a", {"--join", nobody, "--found"});
  ASSERT_TRUE(becomes_active(founder));
  EXPECT_TRUE(founder.status().founded);
  Daemon& joiner = cluster_.add("b", {"--found"});
  ASSERT_TRUE(becomes_active(joiner));
  EXPECT_FALSE(joiner.status().founded);
  EXPECT_EQ(joiner.status().cluster_uuid, founder.status().cluster_uuid);
}

TEST_F(IdentityTest, ASeedThatIsTheNodeItselfIsNoSeed) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  Daemon& joiner = cluster_.add_stranger("a", {"--listen", address, "--join", address});
  ASSERT_TRUE(joiner.up());
  expect_log(joiner, "no seed but this node itself is given");
}

TEST_F(IdentityTest, FoundOnAFoundedDirectoryDoesNothing) {
  Daemon& first = cluster_.add("a", {"--data", data("a"), "--found"});
  ASSERT_TRUE(becomes_active(first));
  const std::string cluster = first.status().cluster_uuid;
  EXPECT_FALSE(cluster.empty());
  end(first);
  first.process().start();
  ASSERT_TRUE(becomes_active(first));
  EXPECT_EQ(first.status().cluster_uuid, cluster);
  EXPECT_FALSE(first.status().founded);
}

TEST_F(IdentityTest, AMemberWithoutItsSeedsFormsARingOfOneAndMeetsThemLater) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  Daemon& seed = cluster_.add("a", {"--data", data("a"), "--listen", address});
  ASSERT_TRUE(seed.up());
  Daemon& member = cluster_.add("b", {"--data", data("b")});
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  end(member);
  end(seed);
  member.process().start();
  ASSERT_TRUE(becomes_active(member)) << member.process().err();
  seed.process().start();
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(30) * slowness)) << cluster_.logs();
  EXPECT_EQ(seed.status().cluster_uuid, member.status().cluster_uuid);
}

// Its own seed is gone for good, but the peers of its ring call it.
TEST_F(IdentityTest, ARestartedMemberJoinsByWhoeverCallsIt) {
  cluster_.start(3);
  Daemon& restarted =
      cluster_.add("restarted", {"--listen", "127.0.0.1:" + std::to_string(free_port())});
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  end(cluster_[0], SIGKILL);
  end(restarted, SIGKILL);
  restarted.process().start();
  ASSERT_TRUE(becomes_active(restarted)) << restarted.process().err();
  cluster_.remove(0);
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
}

// As it was started the first time: without a seed. It has forgotten whom it knew.
TEST_F(IdentityTest, AFounderThatWasKilledJoinsByWhoeverCallsIt) {
  Daemon& founder = cluster_.add_stranger(
      "a", {"--data", data("a"), "--listen", "127.0.0.1:" + std::to_string(free_port())});
  ASSERT_TRUE(founder.up());
  cluster_.start(4);
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  end(founder, SIGKILL);
  std::filesystem::remove(data("a") + "/peers.json");
  founder.process().start();
  ASSERT_TRUE(becomes_active(founder)) << founder.process().err();
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(60) * slowness)) << cluster_.logs();
}

// At another address, so that nobody finds it; it left cleanly, so that nobody looks for it.
TEST_F(IdentityTest, AFounderThatIsStartedAgainJoinsByThePeersThatItKnew) {
  Daemon& founder = cluster_.add_stranger("a", {"--data", data("a")});
  ASSERT_TRUE(founder.up());
  cluster_.start(3);
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  end(founder);
  founder.process().start();
  ASSERT_TRUE(founder.up());
  EXPECT_NE(founder.process().out().find("again by peers that it knows"), std::string::npos)
      << founder.process().out();
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
}

TEST_F(IdentityTest, TwoThatAreEachOthersOnlySeedsComeBackToTheirRing) {
  const std::vector<std::string> addresses{"127.0.0.1:" + std::to_string(free_port()),
                                           "127.0.0.1:" + std::to_string(free_port())};
  Daemon& first = cluster_.add_stranger(
      "a", {"--data", data("a"), "--listen", addresses[0], "--join", addresses[1], "--found"});
  ASSERT_TRUE(becomes_active(first));
  Daemon& second = cluster_.add_stranger(
      "b", {"--data", data("b"), "--listen", addresses[1], "--join", addresses[0]});
  ASSERT_TRUE(becomes_active(second));
  // Of these nobody is told of the two but the first, and only that there was one.
  Daemon& third = cluster_.add_stranger("c", {"--join", addresses[0]});
  ASSERT_TRUE(becomes_active(third));
  ASSERT_TRUE(becomes_active(cluster_.add_stranger("d", {"--join", third.address()})));
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
  end(first);
  end(second);
  first.process().start();
  second.process().start();
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(15) * slowness)) << cluster_.logs();
}

// Neither those that have gone nor those of another cluster keep it.
TEST_F(IdentityTest, AMemberThatKnowsOnlyPeersThatHaveGoneIsARingOfOne) {
  Daemon& founder = cluster_.add_stranger("a", {"--data", data("a")});
  ASSERT_TRUE(founder.up());
  Daemon& member = cluster_.add("b", {"--data", data("b")});
  ASSERT_TRUE(becomes_active(founder) && becomes_active(member)) << cluster_.logs();
  const std::string address = member.address();
  const std::string cluster = founder.status().cluster_uuid;
  end(member);
  end(founder);
  Daemon& other = cluster_.add_stranger("x", {"--listen", address});
  ASSERT_TRUE(becomes_active(other));
  founder.process().start();
  ASSERT_TRUE(becomes_active(founder)) << founder.process().err();
  EXPECT_EQ(founder.status().cluster_uuid, cluster);
  EXPECT_EQ(founder.ring().size(), 1U);
}

TEST_F(IdentityTest, AJoinerWhoseDiskIsFullKeepsItsClusterOnceThereIsRoom) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  Daemon& joiner = cluster_.add_stranger("b", {"--data", data("b"), "--join", address});
  ASSERT_TRUE(joiner.up());
  const std::filesystem::path obstacle = data("b") + "/node.json.new";
  std::filesystem::create_directory(obstacle);
  Daemon& seed = cluster_.add_stranger("a", {"--listen", address});
  ASSERT_TRUE(seed.up());
  expect_log(joiner, "cannot keep the cluster's UUID on disk");
  EXPECT_GT(joiner.counter("node.disk_failures"), 0U);
  std::filesystem::remove(obstacle);
  expect_log(joiner, "the cluster's UUID is on disk now");
  std::ifstream file(data("b") + "/node.json");
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(kept.find(seed.status().cluster_uuid), std::string::npos) << kept;
}

TEST_F(IdentityTest, AWholeClusterCanBeSwitchedOffAndOn) {
  std::vector<std::string> addresses;
  for (int i = 0; i < 3; ++i) addresses.push_back("127.0.0.1:" + std::to_string(free_port()));
  const std::vector<std::string> names{"a", "b", "c"};
  // Each is told of both others; the first of all founded the cluster once.
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::string> arguments{"--data", data(names[i]), "--listen", addresses[i]};
    for (std::size_t j = 0; j < 3; ++j)
      if (j != i) arguments.insert(arguments.end(), {"--join", addresses[j]});
    if (i == 0) arguments.push_back("--found");
    ASSERT_TRUE(cluster_.add_stranger(names[i], arguments).up());
  }
  ASSERT_TRUE(cluster_.becomes_one_ring(seconds(30) * slowness)) << cluster_.logs();
  const std::string cluster = cluster_[0].status().cluster_uuid;
  for (std::size_t i = 0; i < 3; ++i) end(cluster_[i], SIGKILL);
  for (std::size_t i = 0; i < 3; ++i) cluster_[i].process().start();
  EXPECT_TRUE(cluster_.becomes_one_ring(seconds(30) * slowness)) << cluster_.logs();
  EXPECT_EQ(cluster_[2].status().cluster_uuid, cluster);
}

}  // namespace
}  // namespace canopy::system_test
