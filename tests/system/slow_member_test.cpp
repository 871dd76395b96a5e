// A member that stops reading for half a minute under load, in an ordered and a
// best-effort group: the others get their messages as before, nobody's memory
// grows beyond its bounds, and once it goes on it gets the rest, or is told how
// much it does not get. Small digits and leaf sets, so that trees have forwarders.
#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "system/cluster.hpp"
#include "system/figures.hpp"
#include "system/members.hpp"
#include "system/told.hpp"

namespace canopy::system_test {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr std::size_t member_daemons = 8;  // the very first publishes
constexpr std::size_t hop_daemons = 8;
constexpr std::size_t all_daemons = member_daemons + hop_daemons;
constexpr std::size_t publisher = 0;
constexpr unsigned bits_per_digit = 2;

constexpr std::size_t load_rate = 160 / slowness;  // messages a second to each group
constexpr std::size_t payload_size = 4096;         // 20 MB in the time of the stop
constexpr seconds before_time{10};
constexpr seconds stop_time{30};
constexpr seconds after_time{5};
constexpr seconds calm_time{60};

// What a daemon may keep for members that are behind, of both groups: histories of
// 16 MiB, a queue of 8 MiB, a client's of 4 MiB, and what all that comes to in an
// allocator.
constexpr long growth_kib_max = 96L << 10;
// The machine has other work: a guard against seconds, the figures are printed.
constexpr double p99_ratio_max = 1.5;
constexpr double p99_slack_us = 300'000;

enum Kind : std::size_t { ordered, best_effort, kinds };

struct Arrival {
  std::uint64_t number = 0;
  double latency_us = 0;
};

double p99(std::vector<double> latencies) {
  if (latencies.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>((latencies.size() - 1) * 99 / 100);
  std::ranges::nth_element(latencies, latencies.begin() + rank);
  return latencies[static_cast<std::size_t>(rank)];
}

// One group, and what its members were told.
class Stream {
 public:
  Stream(Cluster& cluster, std::string name) : cluster_(cluster), name_(std::move(name)) {}

  const std::string& name() const noexcept { return name_; }
  std::uint64_t published() const noexcept { return published_at_.size(); }
  std::uint64_t failed() const noexcept { return failed_; }
  bool answered() const noexcept { return answered_ == published(); }
  std::size_t joined() const noexcept { return joined_; }
  std::map<std::size_t, Told>& told() noexcept { return told_; }

  void join(std::size_t daemon) {
    cluster_[daemon].client().send(
        control::Join{{name_, ""}}, [this, daemon](const control::AnswerEnvelope& envelope) {
          joined_ += std::holds_alternative<control::Joined>(envelope.answer);
          Told& told = told_[daemon];
          const std::size_t before = told.numbers.size();
          told.note(envelope.answer);
          if (told.numbers.size() == before) return;
          const std::uint64_t number = told.numbers.back();
          const Microseconds latency = Clock::now() - published_at_.at(number);
          arrivals_[daemon].push_back({number, latency.count()});
        });
  }

  void publish_until(std::uint64_t count) {
    while (published() < count) {
      std::string text = std::to_string(published()) + " ";
      text.resize(payload_size, 'x');
      published_at_.push_back(Clock::now());
      publish(cluster_[publisher], name_, text, [this](const control::AnswerEnvelope& envelope) {
        failed_ += std::holds_alternative<control::Failure>(envelope.answer);
        ++answered_;
      });
    }
  }

  // Of messages from `first` on, before `last`, at those daemons.
  double p99_of(const std::set<std::size_t>& daemons, std::uint64_t first, std::uint64_t last) {
    std::vector<double> latencies;
    for (const std::size_t daemon : daemons)
      for (const Arrival& arrival : arrivals_[daemon])
        if (arrival.number >= first && arrival.number < last)
          latencies.push_back(arrival.latency_us);
    return p99(std::move(latencies));
  }

 private:
  Cluster& cluster_;
  std::string name_;
  std::vector<Clock::time_point> published_at_;
  std::uint64_t answered_ = 0;
  std::uint64_t failed_ = 0;
  std::size_t joined_ = 0;
  std::map<std::size_t, Told> told_;
  std::map<std::size_t, std::vector<Arrival>> arrivals_;
};

// Of another group whose trees go through the same hops.
std::string sibling_of(const std::string& group) {
  const auto digit = [](const std::string& name) {
    return id_of_group(name).digit(0, bits_per_digit);
  };
  for (int n = 0;; ++n) {
    const std::string name = "news-" + std::to_string(n);
    if (digit(name) == digit(group)) return name;
  }
}

class SlowMemberTest : public testing::Test {
 protected:
  SlowMemberTest()
      : cluster_({"--digit-bits", "2", "--leaf-set", "4"}),
        streams_{Stream(cluster_, "orders"), Stream(cluster_, sibling_of("orders"))} {}

  void grow() {
    for (const std::string& name :
         names_around(id_of_group("orders"), bits_per_digit, member_daemons, hop_daemons)) {
      Daemon& daemon = cluster_.add(name);
      if (cluster_.size() == 1) {
        ASSERT_TRUE(daemon.up()) << cluster_.logs();
      }
    }
    for (std::size_t i = 0; i < cluster_.size(); ++i) ASSERT_TRUE(cluster_[i].up());
    ASSERT_TRUE(cluster_.becomes_one_ring(seconds(60) * slowness)) << cluster_.logs();
    cluster_[publisher].client().ask<control::Done>(
        control::Create{{streams_[ordered].name(), ""}, wire::GroupMode::ordered});
    for (std::size_t i = 0; i < member_daemons; ++i) ASSERT_NO_FATAL_FAILURE(join(i));
  }

  void join(std::size_t daemon) {
    for (Stream& stream : streams_) {
      const std::size_t wanted = stream.joined() + 1;
      stream.join(daemon);
      ASSERT_TRUE(
          cluster_.until(seconds(20) * slowness, [&] { return stream.joined() == wanted; }));
    }
    members_.insert(daemon);
  }

  // A member that is nobody's parent; a tree has no other way to some where it is sparse.
  std::optional<std::size_t> leaf() {
    for (std::size_t daemon = 1; daemon < member_daemons; ++daemon) {
      const auto childless = [&](const Stream& stream) {
        return below(daemon, cluster_[publisher].tree(stream.name())).empty();
      };
      if (std::ranges::all_of(streams_, childless)) return daemon;
    }
    return std::nullopt;
  }

  // A hop with members below it in the ordered group's tree, and no group's root.
  std::optional<std::size_t> forwarder() {
    std::optional<std::size_t> found;
    cluster_.until(seconds(10) * slowness, [&] {
      const auto nodes = cluster_[publisher].tree(streams_[ordered].name());
      const auto others = cluster_[publisher].tree(streams_[best_effort].name());
      for (std::size_t n = 1; n < nodes.size() && !found; ++n) {
        const std::size_t daemon = daemon_named(nodes[n].peer.name);
        if (daemon < member_daemons || daemon_named(others.at(0).peer.name) == daemon) continue;
        if (!below(daemon, nodes).empty()) found = daemon;
      }
      return found.has_value();
    });
    return found;
  }

  std::size_t daemon_named(const std::string& name) {
    for (std::size_t i = 0; i < cluster_.size(); ++i)
      if (cluster_[i].name() == name) return i;
    return cluster_.size();
  }

  std::set<std::size_t> below(std::size_t daemon, const std::vector<control::TreeNode>& nodes) {
    std::set<std::size_t> found;
    std::set<std::uint32_t> inner;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      const std::size_t self = daemon_named(nodes[n].peer.name);
      const bool under = nodes[n].parent && inner.contains(*nodes[n].parent);
      if (under && nodes[n].member) found.insert(self);
      if (under || self == daemon) inner.insert(n);
    }
    return found;
  }

  // Publishes at the rate, and watches everybody's memory.
  void load_for(seconds time) {
    const auto begun = Clock::now();
    const std::uint64_t before = streams_[ordered].published();
    auto look = begun;
    while (Clock::now() < begun + time) {
      const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - begun).count();
      for (Stream& stream : streams_)
        stream.publish_until(before + static_cast<std::uint64_t>(passed) * load_rate / 1000);
      if (Clock::now() >= look) {
        look += seconds(1);
        look_at_memory();
      }
      cluster_.io().restart();
      cluster_.io().run_one_for(milliseconds(1));
    }
  }

  void look_at_memory() {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      const long resident = cluster_[i].process().resident_kib();
      resident_kib_[i] = std::max(resident_kib_[i], resident);
    }
  }

  // The load, with the process stopped in between. Trees are at rest by then.
  void load_while_stopped(Process& process) {
    // Histories are filled by a load, whoever is slow: what is measured from is full.
    const auto filled = resident_kib_;
    stopped_from_ = streams_[ordered].published();
    process.signal(SIGSTOP);
    load_for(stop_time);
    stopped_until_ = streams_[ordered].published();
    process.signal(SIGCONT);
    load_for(after_time);
    for (std::size_t i = 0; i < cluster_.size(); ++i)
      growth_kib_ = std::max(growth_kib_, resident_kib_[i] - filled.at(i));
    EXPECT_LT(growth_kib_, growth_kib_max * slowness);
  }

  // Everybody has, or knows that it lacks, everything.
  void settle() {
    EXPECT_TRUE(cluster_.until(calm_time * slowness, [this] {
      return std::ranges::all_of(streams_, [](const Stream& stream) { return stream.answered(); });
    }));
    // One more, by which the loss of a last one shows.
    Stream& news = streams_[best_effort];
    news.publish_until(news.published() + 1);
    EXPECT_TRUE(cluster_.until(calm_time * slowness, [this] {
      return std::ranges::all_of(streams_, [this](Stream& stream) {
        return std::ranges::all_of(members_, [&](std::size_t member) {
          return stream.told()[member].accounted() >= stream.published();
        });
      });
    }));
    for (const Stream& stream : streams_) EXPECT_EQ(stream.failed(), 0U) << stream.name();
  }

  void expect_everything_told(const Told& told, std::uint64_t published, Kind kind) {
    EXPECT_EQ(told.accounted(), published);
    if (kind == ordered) {
      EXPECT_EQ(told.lost + told.dropped, 0U);
    }
    EXPECT_EQ(std::set(told.numbers.begin(), told.numbers.end()).size(), told.numbers.size());
    for (const control::Gap& gap : told.gaps) EXPECT_NE(gap.last, 0U);
    if (kind == ordered) {
      EXPECT_TRUE(std::ranges::is_sorted(told.numbers));
    }
  }

  // Who did not wait below the stopped one had all of it, and in time.
  void expect_unharmed(const std::set<std::size_t>& daemons, const std::string& who) {
    if (daemons.empty()) return;
    for (const Kind kind : {ordered, best_effort}) {
      Stream& stream = streams_[kind];
      const double before = stream.p99_of(daemons, 0, stopped_from_);
      const double during = stream.p99_of(daemons, stopped_from_, stopped_until_);
      std::cout << fmt::format("  {} {}: p99 {:.1f} ms before, {:.1f} ms during ({:.2f} times)\n",
                               stream.name(), who, before / 1000, during / 1000, during / before);
      if (!sanitized) {
        EXPECT_LE(during, p99_ratio_max * before + p99_slack_us);
      }
    }
  }

  void report(const Told& told, Kind kind) {
    std::cout << fmt::format("  {} woken: got {} of {}, {} in {} gaps, {} lost, {} dropped\n",
                             streams_[kind].name(), told.numbers.size(), streams_[kind].published(),
                             told.in_gaps(), told.gaps.size(), told.lost, told.dropped);
  }

  std::set<std::size_t> without(const std::set<std::size_t>& taken) const {
    std::set<std::size_t> rest;
    std::ranges::set_difference(members_, taken, std::inserter(rest, rest.end()));
    return rest;
  }

  Cluster cluster_;
  std::array<Stream, kinds> streams_;
  std::set<std::size_t> members_;
  std::map<std::size_t, long> resident_kib_;  // at most so far
  long growth_kib_ = 0;
  std::uint64_t stopped_from_ = 0;
  std::uint64_t stopped_until_ = 0;
};

TEST_F(SlowMemberTest, ALeafThatIsStoppedHarmsNobody) {
  ASSERT_NO_FATAL_FAILURE(grow());
  load_for(before_time);
  const auto stopped = leaf();
  ASSERT_TRUE(stopped) << "no member is a leaf of both trees";
  load_while_stopped(cluster_[*stopped].process());
  settle();
  std::cout << fmt::format("a leaf stopped: nobody's memory grew by more than {} KiB\n",
                           growth_kib_);
  const std::set<std::size_t> others = without({*stopped});
  expect_unharmed(others, "others");
  for (const Kind kind : {ordered, best_effort}) {
    Stream& stream = streams_[kind];
    report(stream.told()[*stopped], kind);
    expect_everything_told(stream.told()[*stopped], stream.published(), kind);
    for (const std::size_t other : others)
      EXPECT_EQ(stream.told()[other].numbers.size(), stream.published())
          << stream.name() << " at " << cluster_[other].name();
  }
}

TEST_F(SlowMemberTest, AForwarderThatIsStoppedCostsThoseBelowItAPause) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const auto stopped = forwarder();
  ASSERT_TRUE(stopped) << "the tree has no forwarder to stop";
  ASSERT_NO_FATAL_FAILURE(join(*stopped));
  load_for(before_time);
  std::array<std::set<std::size_t>, kinds> beneath;
  std::set<std::size_t> affected{*stopped};
  for (const Kind kind : {ordered, best_effort}) {
    beneath[kind] = below(*stopped, cluster_[publisher].tree(streams_[kind].name()));
    affected.insert(beneath[kind].begin(), beneath[kind].end());
  }
  ASSERT_FALSE(beneath[ordered].empty()) << "nobody is below it any more";
  load_while_stopped(cluster_[*stopped].process());
  settle();
  std::cout << fmt::format("a forwarder of {} stopped: nobody's memory grew by more than {} KiB\n",
                           affected.size() - 1, growth_kib_);
  expect_unharmed(without(affected), "beside it");
  for (const Kind kind : {ordered, best_effort}) {
    Stream& stream = streams_[kind];
    std::cout << fmt::format("  {} {} below it: p99 {:.1f} ms before, {:.1f} ms during\n",
                             stream.name(), beneath[kind].size(),
                             stream.p99_of(beneath[kind], 0, stopped_from_) / 1000,
                             stream.p99_of(beneath[kind], stopped_from_, stopped_until_) / 1000);
    report(stream.told()[*stopped], kind);
    for (const std::size_t member : members_) {
      SCOPED_TRACE(stream.name() + " at " + cluster_[member].name());
      const Told& told = stream.told()[member];
      expect_everything_told(told, stream.published(), kind);
      if (!affected.contains(member) || (kind == ordered && member != *stopped)) {
        EXPECT_EQ(told.numbers.size(), stream.published());
      }
    }
  }
}

// What `canopy join --json` has printed.
std::map<std::string, Told> printed(const std::string& out) {
  std::map<std::string, Told> told;
  std::size_t begin = 0;
  for (std::size_t end; (end = out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto line = boost::json::parse(std::string_view(out).substr(begin, end - begin));
    const auto& object = line.as_object();
    const std::string_view event = object.at("event").as_string();
    Told& one = told[std::string(object.at("group").as_string())];
    const auto number = [&](const char* key) { return object.at(key).to_number<std::uint64_t>(); };
    if (event == "message") {
      one.numbers.push_back(std::stoull(std::string(object.at("payload").as_string())));
    } else if (event == "gap") {
      const bool open = object.at("last").is_null();
      one.gaps.push_back({number("epoch"), number("first"), open ? 0 : number("last")});
    } else if (event == "lost") {
      (object.at("on_the_way").as_bool() ? one.lost : one.dropped) += number("count");
    }
  }
  return told;
}

TEST_F(SlowMemberTest, AClientThatReadsNothingHarmsNobody) {
  ASSERT_NO_FATAL_FAILURE(grow());
  Process client({CANOPY_BIN_DIR "/canopy", "--control", cluster_[1].control_path(), "--json",
                  "join", streams_[ordered].name(), streams_[best_effort].name()},
                 cluster_.directory() + "/client");
  const auto joined = [&] {
    const std::string out = client.out();
    return std::ranges::count(out, '\n') == kinds;
  };
  ASSERT_TRUE(cluster_.until(seconds(20) * slowness, joined)) << client.err();
  load_for(before_time);
  load_while_stopped(client);
  settle();
  std::map<std::string, Told> told;
  EXPECT_TRUE(eventually(calm_time * slowness, [&] {
    told = printed(client.out());
    return std::ranges::all_of(streams_, [&](const Stream& stream) {
      return told[stream.name()].accounted() >= stream.published();
    });
  }));
  std::cout << fmt::format("a client stopped: nobody's memory grew by more than {} KiB\n",
                           growth_kib_);
  expect_unharmed(members_, "others");
  for (const Kind kind : {ordered, best_effort}) {
    Stream& stream = streams_[kind];
    report(told[stream.name()], kind);
    expect_everything_told(told[stream.name()], stream.published(), kind);
    for (const std::size_t member : members_)
      EXPECT_EQ(stream.told()[member].numbers.size(), stream.published())
          << stream.name() << " at " << cluster_[member].name();
  }
}

}  // namespace
}  // namespace canopy::system_test
