// publish: one message, or one for each line of standard input.
#include <fmt/format.h>

#include "canopy/commands.hpp"
#include "canopy/input.hpp"
#include "canopy/output.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace control = wire::control;
namespace json = boost::json;

namespace {

// What fits a frame with the largest headers. A daemon may allow less.
constexpr std::size_t payload_bytes_max =
    wire::default_max_frame - wire::max_content_header_bytes - wire::max_short_header;

// Publishes under way, so that lines do not wait for each other's answers.
constexpr std::size_t window = 32;

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
    if (command_.lines && !context_.json) {
      print_line(
          fmt::format("published {} {} to {}", sent_, sent_ == 1 ? "message" : "messages", name()));
    }
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
    control::Publish request{group_, command_.ack, {command_.headers, Buffer::copy_of(payload)}};
    context_.client.start(std::move(request), [this, number = sent_](control::Answer answer, bool) {
      --under_way_;
      ++answers_;
      on_answer(number, answer);
      if (lines_ && under_way_ < window && !failure_) lines_->resume();
    });
  }

  void on_answer(std::uint64_t number, const control::Answer& answer) {
    if (const auto* failure = std::get_if<control::Failure>(&answer)) {
      const std::string what = command_.lines ? fmt::format("line {}", number) : name();
      if (!failure_) failure_.emplace(fmt::format("{}: {}", what, failure->text), failure->error);
    } else if (const auto* published = std::get_if<control::Published>(&answer)) {
      ++published_;
      if (context_.json)
        print_json(to_json(*published));
      else if (!command_.lines)
        print_line(text_of(*published));
    }
  }

  json::object to_json(const control::Published& published) const {
    json::object object;
    put_group(object, group_);
    object["id"] = tools::to_json(published.id);
    if (published.epoch != 0) {
      object["epoch"] = published.epoch;
      object["position"] = published.position;
    }
    object["ack"] = command_.ack == wire::AckMode::none ? "none" : "root";
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
    return text + fmt::format(", {} its root {}", acknowledged ? "acknowledged by" : "sent to",
                              published.root->name);
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
  std::optional<Failure> failure_;  // the first of the daemon's
  std::size_t under_way_ = 0;
};

}  // namespace

int run(Context& context, const PublishCommand& command) {
  return Publishing(context, command).run();
}

}  // namespace canopy::tools
