// join: prints what is published to groups.
#include <csignal>

#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "canopy/commands.hpp"
#include "canopy/descriptor_watch.hpp"
#include "canopy/output.hpp"
#include "canopy/presence.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace asio = boost::asio;
namespace control = wire::control;
namespace json = boost::json;

namespace {

class Joining {
 public:
  Joining(Context& context, const JoinCommand& command)
      : context_(context),
        command_(command),
        signals_(context.client.io(), SIGINT, SIGTERM),
        output_(context.client.io(), STDOUT_FILENO, 0) {
    // Where nobody reads standard output any more, the groups are left before
    // the next message comes.
    if (output_.works()) output_.wait([this] { output_closed_ = true; });
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (!error) interrupted_ = true;
    });
  }

  int run() {
    Client::Deadline deadline;
    if (context_.timeout) deadline = std::chrono::steady_clock::now() + *context_.timeout;
    for (const std::string& text : command_.groups) start(parse_group(text));
    const bool in_time = context_.client.run([this] { return over(); }, deadline);
    if (output_closed_) throw OutputClosed();
    // The end of the connection leaves the groups.
    if (enough() || (command_.count == 0 && all_joined())) return 0;
    if (interrupted_) return 1;
    if (in_time) return 1;  // a membership ended; said already
    const std::string missing = not_in_time();
    if (!missing.empty())
      throw Failure(fmt::format("could not join {} in time: try a longer --timeout", missing));
    if (command_.count == 0) return 1;  // a membership ended; said already
    throw Failure(
        fmt::format("{} of {} messages came before --timeout ran out", received_, command_.count));
  }

 private:
  struct Membership {
    wire::GroupName group;
    std::string label;  // as the user called it
    bool joined = false;
    bool ended = false;
  };

  bool enough() const { return command_.count > 0 && received_ >= command_.count; }
  bool over() const { return interrupted_ || output_closed_ || enough() || active_ == 0; }

  bool all_joined() const {
    for (const auto& membership : memberships_)
      if (!membership->joined || membership->ended) return false;
    return true;
  }

  std::string not_in_time() const {
    std::string missing;
    for (const auto& membership : memberships_)
      if (!membership->joined && !membership->ended)
        missing += (missing.empty() ? "" : ", ") + membership->label;
    return missing;
  }

  void start(const wire::GroupName& group) {
    auto& membership = memberships_.emplace_back(std::make_unique<Membership>());
    membership->group = group;
    membership->label = display_name(group, "");
    ++active_;
    context_.client.start(control::Join{group, command_.token, command_.presence, command_.last,
                                        !command_.no_anycast},
                          [this, &member = *membership](control::Answer answer, bool) {
                            if (over()) return;
                            std::visit([&](auto& value) { on(member, value); }, answer);
                          });
  }

  json::object event(const char* name, const Membership& member) const {
    json::object object;
    object["event"] = name;
    put_group(object, member.group);
    return object;
  }

  template <class Other>
  void on(Membership&, const Other&) {}  // of a later version

  void on(Membership& member, const control::Joined& joined) {
    member.joined = true;
    member.group = joined.group;  // with its creator
    if (context_.json) {
      json::object object = event("joined", member);
      object["group_id"] = joined.group_id.to_hex();
      object["mode"] = text_of(joined.mode);
      print_json(object);
    } else {
      complain(fmt::format("joined {}, {}", member.label, text_of(joined.mode)));
    }
  }

  void on(Membership& member, const control::Message& message) {
    ++received_;
    const std::string_view payload = message.content.payload.view();
    if (context_.json) {
      json::object object = event("message", member);
      object["id"] = to_json(message.id);
      if (message.epoch != 0) {
        object["epoch"] = message.epoch;
        object["position"] = message.position;
      }
      object["anycast"] = message.anycast;
      if (message.last) object["last"] = true;
      put_headers(object, message.content.headers);
      put_bytes(object, "payload", payload);
      print_json(object);
    } else if (memberships_.size() > 1) {
      print_line(member.label + "\t" + escaped(payload));
    } else {
      print_line(escaped(payload));
    }
  }

  void on(Membership& member, const control::NoLast&) {
    if (context_.json) {
      print_json(event("no_last", member));
    } else {
      complain(fmt::format("{}: no message yet, waiting for the first", member.label));
    }
  }

  void on(Membership& member, const control::Presence& presence) {
    if (context_.json) {
      json::object object = event("presence", member);
      put_presence(object, presence);
      print_json(object);
    } else {
      const std::string label = memberships_.size() > 1 ? member.label + ": " : "";
      complain(label + text_of(presence));
    }
  }

  void on(Membership& member, const control::Lost& lost) {
    if (context_.json) {
      json::object object = event("lost", member);
      object["count"] = lost.count;
      object["on_the_way"] = lost.on_the_way;
      print_json(object);
    } else {
      complain(fmt::format(
          "{}: {} messages lost, because {}", member.label, lost.count,
          lost.on_the_way ? "a peer on their way has failed" : "this command reads too slowly"));
    }
  }

  void on(Membership& member, const control::Gap& gap) {
    if (context_.json) {
      json::object object = event("gap", member);
      object["epoch"] = gap.epoch;
      object["first"] = gap.first;
      object["last"] = gap.last == 0 ? json::value(nullptr) : json::value(gap.last);
      print_json(object);
    } else if (gap.last == 0) {
      complain(
          fmt::format("{}: the root of its order has changed without handing over: messages "
                      "from {} of epoch {} on may be missing",
                      member.label, gap.first, gap.epoch));
    } else {
      complain(fmt::format("{}: messages {} to {} of epoch {} could not be got any more",
                           member.label, gap.first, gap.last, gap.epoch));
    }
  }

  void on(Membership& member, const control::Failure& failure) {
    member.ended = true;
    --active_;
    if (context_.json) {
      json::object object = event(member.joined ? "detached" : "failed", member);
      object["error"] = failure.error;
      object["text"] = failure.text;
      print_json(object);
    }
    complain(fmt::format("{}: {}", member.label, failure.text));
  }

  Context& context_;
  const JoinCommand& command_;
  asio::signal_set signals_;
  DescriptorWatch output_;
  std::vector<std::unique_ptr<Membership>> memberships_;
  std::uint64_t received_ = 0;
  std::size_t active_ = 0;
  bool interrupted_ = false;
  bool output_closed_ = false;
};

}  // namespace

int run(Context& context, const JoinCommand& command) { return Joining(context, command).run(); }

}  // namespace canopy::tools
