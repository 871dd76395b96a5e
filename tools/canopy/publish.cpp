// publish: one message, or one for each line of standard input.
#include <algorithm>
#include <chrono>

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include "canopy/commands.hpp"
#include "canopy/input.hpp"
#include "canopy/output.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace control = wire::control;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

// What fits a frame with the largest headers. A daemon may allow less.
constexpr std::size_t payload_bytes_max =
    wire::default_max_frame - wire::max_content_header_bytes - wire::max_short_header;

// Publishes under way, so that lines do not wait for each other's answers.
constexpr std::size_t window = 32;

const char* ack_name(wire::AckMode ack) {
  switch (ack) {
    case wire::AckMode::none: return "none";
    case wire::AckMode::root: break;
    case wire::AckMode::members: return "members";
  }
  return "root";
}

std::string members_text(std::uint64_t members) {
  return fmt::format("{} {}", members, members == 1 ? "member" : "members");
}

// Who did not answer; empty if nobody is missing, or nobody knows who.
std::string unreachable_text(const control::Published& published) {
  std::string text;
  for (const control::Peer& peer : published.unreachable)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", peer.name, short_id(peer.id));
  if (published.unreachable_more == 0) return text;
  const char* const what = published.unreachable_more == 1 ? "part" : "parts";
  return text.empty() ? fmt::format("{} {} of the tree", published.unreachable_more, what)
                      : text + fmt::format(" and {} more", published.unreachable_more);
}

std::string reach_text(const control::Published& published) {
  const std::uint64_t members = published.members.value_or(0);
  const std::string have =
      fmt::format("; {} {} it", members_text(members), members == 1 ? "has" : "have");
  if (published.complete) return have + ", which is all";
  const std::string missing = unreachable_text(published);
  return have + ", maybe not all" + (missing.empty() ? "" : ": no answer from " + missing);
}

void put_reach(json::object& object, const control::Published& published) {
  object["members"] = published.members.value_or(0);
  object["complete"] = published.complete;
  json::array unreachable;
  for (const control::Peer& peer : published.unreachable) unreachable.push_back(to_json(peer));
  object["unreachable"] = std::move(unreachable);
  object["unreachable_more"] = published.unreachable_more;
}

class Publishing {
 public:
  Publishing(Context& context, const PublishCommand& command)
      : context_(context), command_(command), group_(parse_group(command.group)) {
    if (group_.creator.empty()) default_creator_ = cluster_name(context);
    if (group_.creator.empty()) group_.creator = default_creator_;
  }

  int run() {
    try {
      publish_all();
    } catch (const Failure& failure) {
      if (!command_.lines) throw;
      throw Failure(fmt::format("{}: {}", failure.what(), tally()), failure.code());
    }
    if (command_.lines && !command_.to_one && !context_.json) print_line(summary());
    return 0;
  }

 private:
  void publish_all() {
    if (command_.lines) {
      publish_lines();
    } else {
      publish(command_.text == "-" ? read_input(payload_bytes_max) : command_.text);
      ended_ = true;
    }
    wait();
    if (failure_) throw Failure(*failure_);
  }

  std::string summary() const {
    std::string text =
        fmt::format("published {} {} to {}", sent_, sent_ == 1 ? "message" : "messages", name());
    if (command_.ack != wire::AckMode::members || sent_ == 0) return text;
    text += fmt::format(", each to at least {}", members_text(fewest_));
    return incomplete_ == 0 ? text + ", which is all"
                            : text + fmt::format("; {} may not have reached all", incomplete_);
  }

  // What a failure leaves behind.
  std::string tally() const {
    std::string text = fmt::format("{} of {} messages were published", published_, sent_);
    if (under_way_ > 0) text += fmt::format(", {} more may have been", under_way_);
    return text;
  }

  void publish_lines() {
    lines_.emplace(
        context_.client.io(), payload_bytes_max,
        [this](std::string_view line) {
          if (failure_) return false;
          publish(line);
          return under_way_ < window;
        },
        [this] { ended_ = true; });
  }

  // Answers are waited for as long as --timeout says since the last one, lines
  // for ever.
  void wait() {
    const auto done = [this] { return (ended_ || failure_) && under_way_ == 0; };
    while (!done()) {
      const std::uint64_t before = answers_;
      const bool waiting = under_way_ > 0;
      const auto progress = [&] {
        return done() || answers_ != before || waiting != (under_way_ > 0);
      };
      if (!context_.client.run(progress, waiting ? context_.deadline() : Client::Deadline())) {
        throw Failure(command_.lines ? "no answer in time"
                                     : "no answer in time: the message may have arrived");
      }
    }
  }

  void publish(std::string_view payload) {
    if (payload.size() > payload_bytes_max)
      throw Failure(fmt::format("the message has {} bytes, more than the {} that fit a frame",
                                payload.size(), payload_bytes_max));
    ++sent_;
    ++under_way_;
    context_.client.start(request(payload), [this, number = sent_](control::Answer answer, bool) {
      --under_way_;
      ++answers_;
      on_answer(number, answer);
      if (lines_ && under_way_ < window && !failure_) lines_->resume();
    });
  }

  control::Request request(std::string_view payload) const {
    wire::Content content{command_.headers, Buffer::copy_of(payload)};
    if (command_.to_one)
      return control::Anycast{group_, std::move(content), daemons_time(), command_.wait,
                              command_.token};
    const bool tracked = command_.ack == wire::AckMode::members;
    return control::Publish{group_, command_.ack, std::move(content),
                            tracked ? daemons_time() : std::chrono::milliseconds(), command_.token};
  }

  // So much of --timeout that the daemon's answer comes within it.
  std::chrono::milliseconds daemons_time() const {
    if (!context_.timeout) return {};
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(*context_.timeout);
    return std::clamp<std::chrono::milliseconds>(time * 7 / 8, 1ms, 1h);
  }

  void on_answer(std::uint64_t number, const control::Answer& answer) {
    const std::string what = command_.lines ? fmt::format("line {}", number) : name();
    if (const auto* failure = std::get_if<control::Failure>(&answer)) {
      if (!failure_) failure_.emplace(fmt::format("{}: {}", what, failure->text), failure->error);
    } else if (const auto* taken = std::get_if<control::Taken>(&answer)) {
      ++published_;
      tell(*taken);
    } else if (const auto* published = std::get_if<control::Published>(&answer)) {
      ++published_;
      if (context_.json)
        print_json(to_json(*published));
      else if (!command_.lines)
        print_line(text_of(*published));
      if (command_.ack == wire::AckMode::members) count(what, *published);
    }
  }

  void tell(const control::Taken& taken) const {
    if (context_.json) {
      json::object object;
      put_group(object, group_);
      object["id"] = tools::to_json(taken.id);
      object["member"] = tools::to_json(taken.member);
      print_json(object);
    } else if (command_.lines) {
      print_line(taken.member.name);
    } else {
      print_line(fmt::format("sent to {} as {}-{}, taken by {}", name(),
                             short_id(taken.id.publisher), taken.id.sequence, taken.member.name));
    }
  }

  // A daemon of an earlier version counts nobody.
  void count(const std::string& what, const control::Published& published) {
    const std::uint64_t members = published.members.value_or(0);
    fewest_ = published_ == 1 ? members : std::min(fewest_, members);
    if (!published.complete) ++incomplete_;
    if (members >= command_.require || failure_) return;
    std::string text = fmt::format("{}: {} have it, fewer than the {} required", what,
                                   members_text(members), command_.require);
    const std::string missing = unreachable_text(published);
    if (!missing.empty()) text += "; no answer from " + missing;
    failure_.emplace(text);
  }

  json::object to_json(const control::Published& published) const {
    json::object object;
    put_group(object, group_);
    object["id"] = tools::to_json(published.id);
    if (published.epoch != 0) {
      object["epoch"] = published.epoch;
      object["position"] = published.position;
    }
    object["ack"] = ack_name(command_.ack);
    if (command_.ack == wire::AckMode::members) put_reach(object, published);
    if (published.root)
      object["root"] = tools::to_json(*published.root);
    else
      object["root"] = nullptr;
    return object;
  }

  std::string text_of(const control::Published& published) const {
    std::string text = fmt::format("published to {} as {}-{}", name(),
                                   short_id(published.id.publisher), published.id.sequence);
    if (!published.root) return text;
    const bool acknowledged = command_.ack != wire::AckMode::none;
    text += fmt::format(", {} its root {}", acknowledged ? "acknowledged by" : "sent to",
                        published.root->name);
    return command_.ack == wire::AckMode::members ? text + reach_text(published) : text;
  }

  std::string name() const { return display_name(group_, default_creator_); }

  Context& context_;
  const PublishCommand& command_;
  wire::GroupName group_;
  std::string default_creator_;
  std::optional<LineReader> lines_;
  bool ended_ = false;  // of the input
  std::uint64_t sent_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t fewest_ = 0;        // members that have one of them
  std::uint64_t incomplete_ = 0;    // that may not have reached all
  std::optional<Failure> failure_;  // the first of the daemon's
  std::size_t under_way_ = 0;
};

}  // namespace

int run(Context& context, const PublishCommand& command) {
  return Publishing(context, command).run();
}

}  // namespace canopy::tools
