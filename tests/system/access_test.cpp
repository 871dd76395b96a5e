// Access lists in rings of real daemons: by peer and by token, while roots are killed,
// and after everything was off.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <canopy/access.hpp>
#include <canopy/error.hpp>

#include "node/access_text.hpp"
#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/told.hpp"

namespace canopy::system_test {
namespace {

constexpr std::size_t access_daemons = 6;
const wire::GroupName closed_group{"closed", ""};

class AccessTest : public testing::Test {
 protected:
  static std::string name_of_daemon(std::size_t index) { return "peer-" + std::to_string(index); }

  // Each with a data directory of its own, which outlives it.
  void start() {
    for (std::size_t i = 0; i < access_daemons; ++i) {
      Daemon& daemon = cluster_->add(name_of_daemon(i), {"--data", data_of(i)});
      ASSERT_TRUE(daemon.up()) << cluster_->logs();
      ASSERT_TRUE(daemon.becomes_active()) << cluster_->logs();
    }
    ASSERT_TRUE(cluster_->becomes_one_ring(seconds(30))) << cluster_->logs();
  }
  std::string data_of(std::size_t index) const { return directory_ + "/" + name_of_daemon(index); }

  void SetUp() override {
    char name[] = "/tmp/canopy-access-XXXXXX";
    directory_ = ::mkdtemp(name);
    cluster_.emplace();
    ASSERT_NO_FATAL_FAILURE(start());
  }
  void TearDown() override {
    cluster_.reset();
    std::filesystem::remove_all(directory_);
  }

  // Closed to all but who has the token, and the last daemon.
  control::Create creation() const {
    control::AccessRights rights;
    rights.join = {false, {Id::hash_of(name_of_daemon(access_daemons - 1))}, {token_id(secret_)}};
    rights.publish = rights.join;
    rights.manage = {false, {Id::hash_of(name_of_daemon(0))}, {}};
    return {closed_group, wire::GroupMode::ordered, rights, ""};
  }

  // What comes of it: 0, or the error.
  unsigned join(std::size_t index, const std::string& token = "") {
    return outcome(index, control::Join{closed_group, token});
  }
  unsigned publish(std::size_t index, const std::string& token = "") {
    return outcome(index, control::Publish{closed_group, wire::AckMode::root, {}, {}, token});
  }
  unsigned outcome(std::size_t index, control::Request request) {
    std::optional<unsigned> error;
    const bool joins = std::holds_alternative<control::Join>(request);
    Client& client = (*cluster_)[index].client();
    const auto id =
        client.send(std::move(request), [&error](const control::AnswerEnvelope& envelope) {
          const auto* failure = std::get_if<control::Failure>(&envelope.answer);
          error = failure ? failure->error : 0;
        });
    EXPECT_TRUE(cluster_->until(seconds(40) * slowness, [&] { return error.has_value(); }));
    client.forget(id);
    if (joins && error == 0U) client.cancel(id);  // who is a member shares that
    return error.value_or(0xffff);
  }

  void expect_enforced(const std::vector<std::size_t>& running) {
    for (const std::size_t index : running) {
      const bool listed = index == access_daemons - 1;
      EXPECT_EQ(publish(index), listed ? 0 : unsigned(errc::denied)) << index;
      EXPECT_EQ(publish(index, secret_), 0u) << index;
      EXPECT_EQ(join(index), listed ? 0 : unsigned(errc::denied)) << index;
      EXPECT_EQ(join(index, secret_), 0u) << index;
    }
  }

  std::size_t root() {
    const Id id = id_of_group(closed_group.name);
    std::size_t best = access_daemons;
    for (std::size_t i = 0; i < access_daemons; ++i) {
      if (!(*cluster_)[i].process().running()) continue;
      if (best == access_daemons ||
          closer_to(id, Id::hash_of(name_of_daemon(i)), Id::hash_of(name_of_daemon(best)))) {
        best = i;
      }
    }
    return best;
  }

  struct Manager {
    explicit Manager(std::size_t of) : daemon(of) {}
    std::size_t daemon;
    int changes = 0;
    bool waits = false;
    std::chrono::steady_clock::time_point asked{};
    std::vector<std::pair<std::string, milliseconds>> took;
  };

  static constexpr int changes_each = 4;

  // Looks, and changes what it has seen, several times.
  void change_list(Manager& manager) {
    if (manager.changes++ == changes_each) return;
    ask_as(manager, "look", control::GetAccess{closed_group}, [&](const control::Answer& answer) {
      const auto* access = std::get_if<control::Access>(&answer);
      if (!access) return change_list(manager);
      control::AccessRights rights = access->access.value_or(control::AccessRights{});
      rights.join.peers = {Id::hash_of(name_of_daemon(manager.daemon)),
                           Id::hash_of("change " + std::to_string(manager.changes))};
      ask_as(manager, "set", control::SetAccess{closed_group, access->version, rights, ""},
             [&](const control::Answer&) { change_list(manager); });
    });
  }

  void ask_as(Manager& manager, const std::string& what, control::Request request,
              std::function<void(const control::Answer&)> then) {
    manager.waits = true;
    manager.asked = std::chrono::steady_clock::now();
    (*cluster_)[manager.daemon].client().send(
        std::move(request), [&manager, what, then](const control::AnswerEnvelope& envelope) {
          const auto* failure = std::get_if<control::Failure>(&envelope.answer);
          manager.waits = false;
          manager.took.emplace_back(what + (failure ? ": " + failure->text : ""),
                                    std::chrono::duration_cast<milliseconds>(
                                        std::chrono::steady_clock::now() - manager.asked));
          then(envelope.answer);
        });
  }

  std::string directory_;
  std::optional<Cluster> cluster_;
  const std::string secret_ = make_token();
};

TEST_F(AccessTest, ListsHoldWhileRootsAreKilled) {
  EXPECT_FALSE((*cluster_)[0].client().ask<control::Done>(creation()).front().existed);
  std::vector<std::size_t> running{0, 1, 2, 3, 4, 5};
  expect_enforced(running);
  for (int round = 0; round < 2; ++round) {
    const std::size_t victim = root();
    (*cluster_)[victim].process().signal(SIGKILL);
    (*cluster_)[victim].process().wait(seconds(5));
    (*cluster_)[victim].client().close();
    std::erase(running, victim);
    ASSERT_TRUE(cluster_->becomes_one_ring(seconds(30) * slowness)) << cluster_->logs();
    expect_enforced(running);
  }
}

TEST_F(AccessTest, ListsModesAndDeletionsAreThereAgainAfterEverythingWasKilled) {
  (*cluster_)[0].client().ask<control::Done>(creation());
  const wire::GroupName deleted{"deleted", ""};
  (*cluster_)[1].client().ask<control::Done>(control::Create{deleted});
  (*cluster_)[1].client().ask<control::Done>(control::DeleteGroup{deleted, ""});
  for (std::size_t i = 0; i < access_daemons; ++i) {
    (*cluster_)[i].process().signal(SIGKILL);
    (*cluster_)[i].process().wait(seconds(5));
  }
  cluster_.emplace();
  ASSERT_NO_FATAL_FAILURE(start());
  const auto known =
      (*cluster_)[2].client().ask<control::Access>(control::GetAccess{closed_group}).front();
  EXPECT_EQ(known.mode, wire::GroupMode::ordered);
  EXPECT_TRUE(known.created);
  expect_enforced({0, 1, 2, 3, 4, 5});
  EXPECT_EQ(outcome(3, control::Join{deleted, ""}), unsigned(errc::no_such_group));
}

// Two who manage a group change its list at the same time, again and again, while its
// root is stopped now and then: each call is answered, in its time.
TEST_F(AccessTest, EveryChangeIsAnsweredWhileTheRootIsStopped) {
  control::Create open = creation();
  open.access->manage = {true, {}, {}};
  (*cluster_)[0].client().ask<control::Done>(open);
  constexpr int rounds = 4;
  for (int round = 0; round < rounds; ++round) {
    const std::size_t stopped = root();
    std::vector<Manager> managers;
    for (std::size_t i = 0; managers.size() < 2; ++i) {
      if (i != stopped) managers.emplace_back(i);
    }
    (*cluster_)[stopped].process().signal(SIGSTOP);
    const auto begun = std::chrono::steady_clock::now();
    const auto resume_at = begun + milliseconds(500 + 1200 * round);
    bool resumed = false;
    for (Manager& manager : managers) change_list(manager);
    cluster_->until(seconds(40) * slowness, [&] {
      if (!resumed && std::chrono::steady_clock::now() > resume_at) {
        (*cluster_)[stopped].process().signal(SIGCONT);
        resumed = true;
      }
      return resumed && std::ranges::none_of(managers, &Manager::waits);
    });
    for (const Manager& manager : managers) {
      EXPECT_FALSE(manager.waits) << "round " << round << cluster_->logs();
      for (const auto& [what, took] : manager.took)
        EXPECT_LE(took, seconds(11) * slowness) << "round " << round << " " << what;
    }
    ASSERT_TRUE(cluster_->becomes_one_ring(seconds(30) * slowness)) << cluster_->logs();
  }
}

}  // namespace
}  // namespace canopy::system_test
