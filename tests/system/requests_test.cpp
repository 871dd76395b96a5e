// Competing consumers, requests and replies, with daemons and commands that run
// for real and are killed.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include <canopy/error.hpp>

#include "system/cluster.hpp"
#include "system/figures.hpp"

namespace canopy::system_test {
namespace {

constexpr std::size_t ring_size = 6;

class RequestsTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.start(ring_size);
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(20) * slowness)) << cluster_.logs();
  }

  // What a member's client gets. It has up to `requests` at once.
  struct Member {
    std::uint64_t join = 0;
    bool joined = false;
    std::vector<control::Message> messages;
    std::vector<control::RequestEnded> ended;
  };
  Member& join(std::size_t daemon, std::uint32_t requests) {
    Member& member = members_[daemon];
    member.join = cluster_[daemon].client().send(
        control::Join{{"jobs", ""}, "", false, false, requests == 0, requests},
        [&member](const control::AnswerEnvelope& envelope) {
          if (std::holds_alternative<control::Joined>(envelope.answer)) member.joined = true;
          if (const auto* message = std::get_if<control::Message>(&envelope.answer))
            member.messages.push_back(*message);
          if (const auto* ended = std::get_if<control::RequestEnded>(&envelope.answer))
            member.ended.push_back(*ended);
        });
    EXPECT_TRUE(cluster_.until(seconds(10) * slowness, [&] { return member.joined; }));
    return member;
  }

  void reply(std::size_t daemon, const control::Message& message, const std::string& text) {
    control::Reply reply{members_[daemon].join, message.id, false, 0, {}};
    reply.content.payload = Buffer::copy_of(text);
    cluster_[daemon].client().send(std::move(reply), [](const control::AnswerEnvelope&) {});
  }

  // Replies to one request, and its end.
  struct Outcome {
    std::vector<control::Replied> replies;
    std::optional<control::Replied> end;
  };
  std::shared_ptr<Outcome> ask(std::size_t daemon, const std::string& text,
                               milliseconds within = seconds(20), bool to_all = false) {
    auto outcome = std::make_shared<Outcome>();
    control::Ask request{{"jobs", ""}, {}, to_all, 0, within};
    request.content.payload = Buffer::copy_of(text);
    last_ask_ = cluster_[daemon].client().send(
        std::move(request), [outcome](const control::AnswerEnvelope& envelope) {
          const auto* replied = std::get_if<control::Replied>(&envelope.answer);
          if (replied && replied->peer) outcome->replies.push_back(*replied);
          if (replied && !replied->peer) outcome->end = *replied;
        });
    return outcome;
  }
  bool ends(const Outcome& outcome, milliseconds within) {
    return cluster_.until(within * slowness, [&] { return outcome.end.has_value(); });
  }

  // A `canopy reply` that runs, once it has joined.
  Process& start_reply(std::size_t daemon, const std::vector<std::string>& words) {
    std::vector<std::string> arguments{CANOPY_BIN_DIR "/canopy",
                                       "--control",
                                       cluster_[daemon].control_path(),
                                       "reply",
                                       "jobs",
                                       "--json"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const std::string stem = cluster_.directory() + "/reply-" + std::to_string(processes_.size());
    processes_.push_back(std::make_unique<Process>(arguments, stem));
    Process& process = *processes_.back();
    EXPECT_TRUE(eventually(seconds(10) * slowness, [&] {
      return process.out().find("\"joined\"") != std::string::npos;
    })) << process.err();
    return process;
  }
  static std::size_t said(const Process& process, const std::string& event) {
    const std::string out = process.out();
    const std::string text = "\"event\":\"" + event + "\"";
    std::size_t found = 0;
    for (std::size_t at = out.find(text); at != std::string::npos; at = out.find(text, at + 1))
      ++found;
    return found;
  }

  Cluster cluster_;
  std::map<std::size_t, Member> members_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::uint64_t last_ask_ = 0;
};

TEST_F(RequestsTest, AThousandAnycastsArriveOnceEach) {
  constexpr std::size_t messages = 1000;
  constexpr std::size_t window = 50;
  for (const std::size_t daemon : {1, 2, 3}) join(daemon, 0);
  std::size_t sent = 0;
  std::map<std::string, std::string> taken;  // by text, the member's name
  std::size_t failed = 0;
  const auto send_more = [&] {
    for (; sent < messages && sent < taken.size() + failed + window; ++sent) {
      const std::string text = std::to_string(sent);
      control::Anycast anycast{{"jobs", ""}, {}, {}, false};
      anycast.content.payload = Buffer::copy_of(text);
      cluster_[sent % ring_size].client().send(
          std::move(anycast), [&, text](const control::AnswerEnvelope& envelope) {
            const auto* answer = std::get_if<control::Taken>(&envelope.answer);
            if (answer)
              taken[text] = answer->member.name;
            else
              ++failed;
          });
    }
    return taken.size() + failed == messages;
  };
  ASSERT_TRUE(cluster_.until(seconds(60) * slowness, send_more)) << cluster_.logs();
  EXPECT_EQ(failed, 0U);
  std::map<std::string, std::string> received;
  std::size_t copies = 0;
  const auto collect = [&] {
    received.clear();
    copies = 0;
    for (const auto& [daemon, member] : members_) {
      for (const control::Message& message : member.messages) {
        received[std::string(message.content.payload.view())] = cluster_[daemon].name();
        ++copies;
      }
    }
    return copies >= messages;
  };
  EXPECT_TRUE(cluster_.until(seconds(10) * slowness, collect));
  EXPECT_EQ(copies, messages);
  EXPECT_EQ(received, taken);
}

TEST_F(RequestsTest, CommandsShareTheRequests) {
  constexpr std::size_t requests = 200;
  for (const std::size_t daemon : {1, 2, 3})
    start_reply(daemon, {"--exec", "cat", "--parallel", "2"});
  std::vector<std::shared_ptr<Outcome>> outcomes;
  const auto ask_more = [&] {
    const auto ended = std::count_if(outcomes.begin(), outcomes.end(),
                                     [](const auto& outcome) { return outcome->end.has_value(); });
    while (outcomes.size() < requests && outcomes.size() < static_cast<std::size_t>(ended) + 12)
      outcomes.push_back(ask(outcomes.size() % ring_size, std::to_string(outcomes.size())));
    return static_cast<std::size_t>(ended) == requests;
  };
  ASSERT_TRUE(cluster_.until(seconds(60) * slowness, ask_more)) << cluster_.logs();
  for (std::size_t i = 0; i < requests; ++i) {
    ASSERT_EQ(outcomes[i]->replies.size(), 1U) << outcomes[i]->end->text;
    EXPECT_EQ(outcomes[i]->replies[0].content.payload.view(), std::to_string(i));
  }
  std::size_t had = 0;
  for (const auto& process : processes_) {
    const std::size_t share = said(*process, "request");
    EXPECT_GT(share, 0U);
    had += share;
  }
  EXPECT_EQ(had, requests);
}

TEST_F(RequestsTest, AllReplyAndEachIsToldApart) {
  for (std::size_t daemon = 0; daemon < ring_size; ++daemon) join(daemon, 1);
  const auto outcome = ask(0, "who?", seconds(20), true);
  const auto all_have_it = [&] {
    return std::all_of(members_.begin(), members_.end(),
                       [](const auto& entry) { return !entry.second.messages.empty(); });
  };
  ASSERT_TRUE(cluster_.until(seconds(10) * slowness, all_have_it));
  for (auto& [daemon, member] : members_)
    reply(daemon, member.messages.front(), cluster_[daemon].name());
  ASSERT_TRUE(ends(*outcome, seconds(10)));
  EXPECT_EQ(outcome->end->error, 0);
  EXPECT_TRUE(outcome->end->complete);
  EXPECT_EQ(outcome->end->members, ring_size);
  std::set<std::string> names;
  for (const control::Replied& replied : outcome->replies) {
    EXPECT_EQ(replied.peer->name, replied.content.payload.view());
    names.insert(replied.peer->name);
  }
  EXPECT_EQ(names.size(), ring_size);
}

TEST_F(RequestsTest, AnotherRepliesForADaemonThatIsKilled) {
  join(2, 1);
  const auto outcome = ask(0, "question", seconds(30));
  ASSERT_TRUE(
      cluster_.until(seconds(10) * slowness, [&] { return !members_[2].messages.empty(); }));
  join(4, 1);
  cluster_[2].process().signal(SIGKILL);
  ASSERT_TRUE(cluster_.until(seconds(20) * slowness, [&] { return !members_[4].messages.empty(); }))
      << cluster_.logs();
  reply(4, members_[4].messages.front(), "answer");
  ASSERT_TRUE(ends(*outcome, seconds(5)));
  ASSERT_EQ(outcome->replies.size(), 1U) << outcome->end->text;
  EXPECT_EQ(outcome->replies[0].peer->name, cluster_[4].name());
}

TEST_F(RequestsTest, TheLossOfTheOnlyDaemonIsToldInTime) {
  join(2, 1);
  const auto outcome = ask(0, "question", seconds(12));
  ASSERT_TRUE(
      cluster_.until(seconds(10) * slowness, [&] { return !members_[2].messages.empty(); }));
  cluster_[2].process().signal(SIGKILL);
  ASSERT_TRUE(ends(*outcome, seconds(14)));
  // It may have died before it had said that it has the request.
  const auto error = static_cast<errc>(outcome->end->error);
  EXPECT_TRUE(error == errc::lost_member || error == errc::timed_out) << outcome->end->text;
}

TEST_F(RequestsTest, AnotherRepliesForACommandThatIsKilled) {
  Process& first = start_reply(0, {"--exec", "cat >/dev/null; exec sleep 100"});
  const auto outcome = ask(0, "question", seconds(30));
  ASSERT_TRUE(cluster_.until(seconds(10) * slowness, [&] { return said(first, "request") == 1; }));
  start_reply(3, {"answer"});
  first.signal(SIGKILL);
  ASSERT_TRUE(ends(*outcome, seconds(10)));
  ASSERT_EQ(outcome->replies.size(), 1U) << outcome->end->text;
  EXPECT_EQ(outcome->replies[0].peer->name, cluster_[3].name());
}

TEST_F(RequestsTest, ACancelledRequestEndsItsCommand) {
  const std::string pid_file = cluster_.directory() + "/pid";
  Process& process = start_reply(3, {"--exec", "echo $$ > " + pid_file + "; sleep 100"});
  ask(0, "question", seconds(60));
  ASSERT_TRUE(
      cluster_.until(seconds(10) * slowness, [&] { return said(process, "request") == 1; }));
  cluster_[0].client().cancel(last_ask_);
  ASSERT_TRUE(cluster_.until(seconds(10) * slowness, [&] { return said(process, "ended") == 1; }));
  // It is free again.
  Process& other = start_reply(3, {"answer", "--count", "1"});
  const auto outcome = ask(3, "question");
  EXPECT_TRUE(cluster_.until(seconds(10) * slowness, [&] {
    return said(process, "request") + said(other, "request") == 2;
  }));
}

TEST_F(RequestsTest, AtTheDeadlineBothSidesAreTold) {
  Member& member = join(5, 1);
  const auto outcome = ask(0, "question", milliseconds(500));
  ASSERT_TRUE(ends(*outcome, seconds(5)));
  EXPECT_EQ(outcome->end->error, static_cast<std::uint16_t>(errc::timed_out));
  EXPECT_TRUE(cluster_.until(seconds(5) * slowness, [&] { return !member.ended.empty(); }));
}

}  // namespace
}  // namespace canopy::system_test
