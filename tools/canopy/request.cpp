// request: a message to members of a group, and their replies.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>

#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <canopy/error.hpp>

#include "canopy/commands.hpp"
#include "canopy/input.hpp"
#include "canopy/output.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace asio = boost::asio;
namespace control = wire::control;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t request_bytes_max = std::size_t{1} << 20;
// The daemon keeps the deadline; this is how long its answer may take then.
constexpr Duration grace = 5s;

class Requesting {
 public:
  Requesting(Context& context, const RequestCommand& command)
      : context_(context),
        command_(command),
        group_(group_of(context, command.group)),
        signals_(context.client.io(), SIGINT, SIGTERM) {
    // The end of the connection cancels the request.
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (!error) interrupted_ = true;
    });
  }

  int run() {
    control::Ask ask;
    ask.group = group_;
    ask.token = command_.token;
    ask.content.headers = command_.headers;
    ask.content.payload =
        Buffer::copy_of(command_.text == "-" ? read_input(request_bytes_max) : command_.text);
    ask.to_all = command_.all;
    ask.replies = static_cast<std::uint32_t>(command_.replies);
    if (context_.timeout)
      ask.within = std::chrono::ceil<std::chrono::milliseconds>(*context_.timeout);
    context_.client.start(std::move(ask), [this](const control::Answer& answer, bool) {
      about(command_.group, [&] { throw_if_failure(answer); });
      if (const auto* replied = std::get_if<control::Replied>(&answer)) on(*replied);
    });
    const bool in_time = context_.client.run([this] { return ended_ || interrupted_; }, deadline());
    if (interrupted_) return 1;
    if (!in_time) throw Failure("no answer in time: is the daemon alive?");
    return status();
  }

 private:
  Client::Deadline deadline() const {
    if (!context_.timeout) return std::nullopt;
    return std::chrono::steady_clock::now() + *context_.timeout + grace;
  }

  void on(const control::Replied& replied) {
    if (!replied.peer) {
      ended_ = replied;
      if (context_.json) print_end(replied);
      return;
    }
    ++(replied.status == 0 ? good_ : failed_);
    if (context_.json) return print_reply(replied);
    std::string_view payload = replied.content.payload.view();
    // Lines are for people, and where there are several; else it is a command's output.
    const bool as_it_is = !command_.all && ::isatty(STDOUT_FILENO) == 0;
    if (as_it_is && replied.status == 0) return print(payload);
    // Commands end what they print with the end of a line.
    if (payload.ends_with('\n')) payload.remove_suffix(1);
    const std::string text = escaped(payload);
    const std::string line = command_.all ? replied.peer->name + "\t" + text : text;
    if (replied.status == 0) return print_line(line);
    complain(fmt::format("{}: {} has failed with status {}{}{}", command_.group, replied.peer->name,
                         replied.status, text.empty() ? "" : ": ", text));
  }

  void print_reply(const control::Replied& replied) const {
    json::object object;
    object["event"] = "reply";
    put_group(object, group_);
    object["id"] = to_json(replied.id);
    object["peer"] = to_json(*replied.peer);
    object["status"] = replied.status;
    put_headers(object, replied.content.headers);
    put_bytes(object, "payload", replied.content.payload.view());
    print_json(object);
  }

  void print_end(const control::Replied& end) const {
    json::object object;
    object["event"] = "end";
    put_group(object, group_);
    object["id"] = to_json(end.id);
    if (end.members) object["members"] = *end.members;
    if (command_.all) object["complete"] = end.complete;
    object["declined"] = end.declined;
    object["dropped"] = end.dropped;
    print_json(object);
  }

  int status() const {
    if (ended_->error != 0)
      throw Failure(fmt::format("{}: {}", command_.group, problem()), ended_->error);
    if (ended_->dropped != 0)
      complain(fmt::format("{}: {} more replies were dropped", command_.group, ended_->dropped));
    if (command_.all && command_.replies == 0 && !ended_->complete)
      complain(fmt::format("{}: not every member has replied in time", command_.group));
    if (good_ < command_.replies)
      throw Failure(fmt::format("{}: {} of {} replies came, and no more will", command_.group,
                                good_, command_.replies));
    const bool enough = command_.replies != 0;
    return good_ != 0 && (enough || failed_ == 0) ? 0 : 1;
  }

  std::string problem() const {
    const auto error = static_cast<errc>(ended_->error);
    if (error == errc::timed_out && good_ != 0)
      return fmt::format("{} of {} replies came before the deadline", good_,
                         std::max<std::uint64_t>(command_.replies, 1));
    if (error == errc::timed_out)
      return "no reply before the deadline: nobody there replies (canopy reply does), or it takes "
             "longer than --timeout";
    if (error == errc::no_member && ended_->declined != 0)
      return "no member replied: nobody there does (canopy reply does), or all have declined";
    if (error == errc::no_member)
      return "no member took it: nobody there replies (canopy reply does), or all are busy";
    return ended_->text;
  }

  Context& context_;
  const RequestCommand& command_;
  wire::GroupName group_;
  asio::signal_set signals_;
  std::optional<control::Replied> ended_;
  // Replies, by what they say of themselves.
  std::uint64_t good_ = 0;
  std::uint64_t failed_ = 0;
  bool interrupted_ = false;
};

}  // namespace

int run(Context& context, const RequestCommand& command) {
  return Requesting(context, command).run();
}

}  // namespace canopy::tools
