// publish: one message, or one for each line of standard input.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <canopy/error.hpp>

#include "canopy/commands.hpp"
#include "canopy/input.hpp"
#include "canopy/line_tally.hpp"
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
constexpr std::size_t window_max = 32;

// Before lines that were too much for the root are sent again. The daemon has waited
// for it in vain, and will do so again.
constexpr auto pause = 250ms;

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
      : context_(context),
        command_(command),
        group_(parse_group(command.group)),
        pause_(context.client.io()) {
    if (group_.creator.empty()) default_creator_ = cluster_name(context);
    if (group_.creator.empty()) group_.creator = default_creator_;
  }

  int run() {
    try {
      publish_all();
    } catch (const Failure& failure) {
      if (!command_.lines) throw;
      throw Failure(fmt::format("{}: {}", failure.what(), tally_.text(all_read())), failure.code());
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
    // Of those that nobody has asked about, the root may have dropped some.
    const char* const done = command_.ack == wire::AckMode::none ? "sent" : "published";
    std::string text = fmt::format("{} {} {} to {}", done, tally_.sent(),
                                   tally_.sent() == 1 ? "message" : "messages", name());
    if (command_.ack != wire::AckMode::members || tally_.sent() == 0) return text;
    text += fmt::format(", each to at least {}", members_text(fewest_));
    return incomplete_ == 0 ? text + ", which is all"
                            : text + fmt::format("; {} may not have reached all", incomplete_);
  }

  void publish_lines() {
    lines_.emplace(
        context_.client.io(), payload_bytes_max,
        [this](std::string_view line) {
          if (failure_) {
            left_out_ = true;
            return false;
          }
          publish(line);
          return has_room();
        },
        [this] { ended_ = true; });
  }

  // Of the input, also of one whose end has not been seen yet.
  bool all_read() {
    if (ended_ || left_out_) return ended_;
    try {
      return lines_ && lines_->at_end();
    } catch (const Failure&) {
      return false;
    }
  }

  bool has_room() const { return !slowing_down_ && again_.empty() && under_way_.size() < window_; }

  // Answers are waited for as long as --timeout says since the last one, lines
  // for ever.
  void wait() {
    const auto done = [this] {
      return under_way_.empty() && (failure_ || (ended_ && again_.empty()));
    };
    while (!done()) {
      const std::uint64_t before = answers_;
      const bool waiting = !under_way_.empty();
      const auto progress = [&] {
        return done() || answers_ != before || waiting != !under_way_.empty();
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
    if (under_way_.empty()) progress_until_ = context_.deadline();
    send(tally_.sent() + 1, std::string(payload));
  }

  void send(std::uint64_t number, std::string payload) {
    control::Request message = request(payload);
    tally_.sent(number);
    under_way_[number] = command_.lines ? std::move(payload) : "";
    context_.client.start(std::move(message), [this, number](control::Answer answer, bool) {
      std::string sent = std::move(under_way_.extract(number).mapped());
      ++answers_;
      if (is_too_fast(answer) && !failure_ && lines_)
        slow_down(number, std::move(sent), answer);
      else
        on_answer(number, answer);
      go_on();
    });
  }

  // --- Lines that are too much for the root, or the daemon ---
  bool is_too_fast(const control::Answer& answer) const {
    const auto* failure = std::get_if<control::Failure>(&answer);
    if (!failure) return false;
    const auto error = static_cast<errc>(failure->error);
    return error == errc::limit || error == errc::queue_full ||
           (error == errc::chain_broken && slowing_down_);
  }

  // Lines are a chain, so those after it are refused, too, and can be sent again in their
  // order: when all have been answered, as a new chain, and fewer at a time.
  void slow_down(std::uint64_t number, std::string payload, const control::Answer& answer) {
    tally_.refused(number);
    again_[number] = std::move(payload);
    if (std::chrono::steady_clock::now() >= progress_until_) return fail(number, answer);
    if (!std::exchange(slowing_down_, true)) window_ = std::max<std::size_t>(1, window_ / 2);
  }

  void go_on() {
    if (failure_) return;
    if (slowing_down_ && under_way_.empty()) {
      pause_.expires_after(pause);
      pause_.async_wait([this](boost::system::error_code error) {
        slowing_down_ = false;
        ++chain_;
        if (!error) go_on();
      });
    }
    while (!again_.empty() && !slowing_down_ && under_way_.size() < window_) {
      auto first = again_.extract(again_.begin());
      send(first.key(), std::move(first.mapped()));
    }
    if (lines_ && has_room()) lines_->resume();
  }

  void done_with(std::uint64_t number) {
    tally_.published(number);
    progress_until_ = context_.deadline();
    if (tally_.published() % window_ == 0) window_ = std::min(window_ + 1, window_max);
  }

  // Whether the error says that nobody has got the message, nor will.
  static bool is_refusal(const control::Failure& failure) {
    const auto error = static_cast<errc>(failure.error);
    return error != errc::timed_out && error != errc::lost_root && error != errc::shutting_down &&
           error != errc::cancelled;
  }

  void fail(std::uint64_t number, const control::Answer& answer) {
    const auto& failure = std::get<control::Failure>(answer);
    if (is_refusal(failure)) tally_.refused(number);
    if (!failure_)
      failure_.emplace(fmt::format("{}: {}", what(number), failure.text), failure.error);
  }

  std::string what(std::uint64_t number) const {
    return command_.lines ? fmt::format("line {}", number) : name();
  }

  control::Request request(std::string_view payload) const {
    wire::Content content{command_.headers, Buffer::copy_of(payload)};
    if (command_.to_one)
      return control::Anycast{group_, std::move(content), daemons_time(), command_.wait,
                              command_.token};
    const bool tracked = command_.ack == wire::AckMode::members;
    return control::Publish{group_,
                            command_.ack,
                            std::move(content),
                            tracked ? daemons_time() : std::chrono::milliseconds(),
                            command_.token,
                            command_.lines ? chain_ : 0};
  }

  // So much of --timeout that the daemon's answer comes within it.
  std::chrono::milliseconds daemons_time() const {
    if (!context_.timeout) return {};
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(*context_.timeout);
    return std::clamp<std::chrono::milliseconds>(time * 7 / 8, 1ms, 1h);
  }

  void on_answer(std::uint64_t number, const control::Answer& answer) {
    if (std::holds_alternative<control::Failure>(answer)) {
      fail(number, answer);
    } else if (const auto* taken = std::get_if<control::Taken>(&answer)) {
      done_with(number);
      tell(*taken);
    } else if (const auto* published = std::get_if<control::Published>(&answer)) {
      done_with(number);
      if (context_.json)
        print_json(to_json(*published));
      else if (!command_.lines)
        print_line(text_of(*published));
      if (command_.ack == wire::AckMode::members) count(what(number), *published);
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
    fewest_ = tally_.published() == 1 ? members : std::min(fewest_, members);
    if (!published.complete) ++incomplete_;
    if (members >= command_.require || failure_) return;
    std::string text =
        fmt::format("{}: {} {} it, fewer than the {} required", what, members_text(members),
                    members == 1 ? "has" : "have", command_.require);
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
  bool ended_ = false;     // of the input
  bool left_out_ = false;  // a line of it
  LineTally tally_;
  std::uint64_t answers_ = 0;
  std::uint64_t fewest_ = 0;                        // members that have one of them
  std::uint64_t incomplete_ = 0;                    // that may not have reached all
  std::optional<Failure> failure_;                  // the first of the daemon's
  std::map<std::uint64_t, std::string> under_way_;  // lines, kept to be sent again
  std::map<std::uint64_t, std::string> again_;      // those that the root had no room for
  boost::asio::steady_timer pause_;
  bool slowing_down_ = false;  // nothing is sent until the pause is over
  std::uint64_t chain_ = 1;    // of lines
  std::size_t window_ = window_max;
  Client::Deadline progress_until_;  // else it gives up
};

}  // namespace

int run(Context& context, const PublishCommand& command) {
  return Publishing(context, command).run();
}

}  // namespace canopy::tools
