// reply: joins a group and replies to requests, by a text or a command.
#include <csignal>
#include <map>
#include <memory>
#include <set>

#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include "canopy/commands.hpp"
#include "canopy/output.hpp"
#include "canopy/shell_command.hpp"
#include "canopy/values.hpp"

namespace canopy::tools {

namespace asio = boost::asio;
namespace control = wire::control;
namespace json = boost::json;

namespace {

constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;
constexpr std::uint32_t cut_status = 125;  // the command wrote too much

// For the command's environment: whose it is, however it has been started.
std::string mark_of(const wire::MessageId& id) {
  return fmt::format("CANOPY_REQUEST={}-{:x}-{}", id.publisher.to_hex(), id.incarnation,
                     id.sequence);
}

class Replying {
 public:
  Replying(Context& context, const ReplyCommand& command)
      : context_(context),
        command_(command),
        group_(group_of(context, command.group)),
        signals_(context.client.io(), SIGINT, SIGTERM),
        children_(context.client.io(), SIGCHLD) {
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (!error) interrupted_ = true;
    });
    watch_children();
  }

  int run() {
    Client::Deadline deadline;
    if (context_.timeout) deadline = std::chrono::steady_clock::now() + *context_.timeout;
    control::Join join{group_};
    join.token = command_.token;
    join.accept_anycast = false;
    join.requests = static_cast<std::uint32_t>(command_.parallel);
    join_ = context_.client.start(std::move(join), [this](const control::Answer& answer, bool) {
      std::visit([this](const auto& value) { on(value); }, answer);
    });
    const bool in_time = context_.client.run([this] { return interrupted_ || enough(); }, deadline);
    running_.clear();
    if (enough() || (command_.count == 0 && joined_)) return 0;
    if (in_time) return 1;
    throw Failure(
        joined_ ? fmt::format("{} of {} replies were given before --timeout ran out", given_,
                              command_.count)
                : fmt::format("could not join {} in time: try a longer --timeout", command_.group));
  }

 private:
  bool enough() const { return command_.count > 0 && given_ >= command_.count; }

  void watch_children() {
    children_.async_wait([this](boost::system::error_code error, int) {
      if (error) return;
      reap();
      watch_children();
    });
  }

  // One that is done leaves the map, and a signal may stand for several.
  void reap() {
    for (auto next = running_.begin(); next != running_.end();) {
      const auto child = next++;
      child->second->reap();
    }
  }

  json::object event(const char* name) const {
    json::object object;
    object["event"] = name;
    put_group(object, group_);
    return object;
  }

  template <class Other>
  void on(const Other&) {}  // what is published, and what was lost of it

  void on(const control::Joined& joined) {
    joined_ = true;
    if (!context_.json) return complain(fmt::format("joined {}, replies", command_.group));
    json::object object = event("joined");
    object["group_id"] = joined.group_id.to_hex();
    print_json(object);
  }

  void on(const control::Failure& failure) {
    about(command_.group, [&] { throw_if_failure(failure); });
  }

  void on(const control::Message& message) {
    if (!message.reply_within || enough()) return;
    print_request(message);
    if (command_.text) return reply(message.id, 0, *command_.text);
    try {
      start(message);
    } catch (const Failure& failure) {
      complain(failure.what());
      decline(message.id);
    }
  }

  void print_request(const control::Message& message) const {
    const std::string_view payload = message.content.payload.view();
    if (!context_.json) return print_line(escaped(payload));
    json::object object = event("request");
    object["id"] = to_json(message.id);
    object["to_one"] = message.anycast;
    object["reply_within_ms"] = message.reply_within->count();
    put_headers(object, message.content.headers);
    put_bytes(object, "payload", payload);
    print_json(object);
  }

  void start(const control::Message& message) {
    running_[message.id] = std::make_unique<ShellCommand>(
        context_.client.io(), *command_.exec, mark_of(message.id),
        std::string(message.content.payload.view()), reply_bytes_max,
        [this, id = message.id](const ShellCommand::Result& result) {
          const auto child = running_.extract(id);  // lives until this is over
          if (ended_.erase(id) != 0) return;
          finish(id, result);
        });
  }

  void finish(const wire::MessageId& id, const ShellCommand::Result& result) {
    if (result.cut) {
      complain(fmt::format("{}: the command wrote more than {} bytes, and was killed",
                           command_.group, reply_bytes_max));
      return reply(id, cut_status, "more output than a reply may have");
    }
    reply(id, static_cast<std::uint32_t>(result.status), result.output);
  }

  void on(const control::RequestEnded& ended) {
    const auto child = running_.find(ended.id);
    if (child != running_.end()) {
      ended_.insert(ended.id);
      child->second->kill();
    }
    tell_end(ended.id, ended.text);
  }

  void tell_end(const wire::MessageId& id, const std::string& text) const {
    const std::string name = fmt::format("{}-{}", short_id(id.publisher), id.sequence);
    if (!context_.json)
      return complain(fmt::format("{}: request {}: {}", command_.group, name, text));
    json::object object = event("ended");
    object["id"] = to_json(id);
    object["text"] = text;
    print_json(object);
  }

  control::Reply reply_to(const wire::MessageId& id) const {
    control::Reply reply;
    reply.join = join_;
    reply.request = id;
    return reply;
  }

  void decline(const wire::MessageId& id) {
    control::Reply reply = reply_to(id);
    reply.decline = true;
    context_.client.start(std::move(reply), [](const control::Answer&, bool) {});
  }

  void reply(const wire::MessageId& id, std::uint32_t status, std::string_view text) {
    control::Reply reply = reply_to(id);
    reply.status = status;
    reply.content = {command_.headers, Buffer::copy_of(text)};
    context_.client.start(std::move(reply),
                          [this, id, status](const control::Answer& answer, bool) {
                            if (const auto* failure = std::get_if<control::Failure>(&answer))
                              return tell_end(id, failure->text);
                            ++given_;
                            if (!context_.json) return;
                            json::object object = event("replied");
                            object["id"] = to_json(id);
                            object["status"] = status;
                            print_json(object);
                          });
  }

  Context& context_;
  const ReplyCommand& command_;
  wire::GroupName group_;
  asio::signal_set signals_;
  asio::signal_set children_;
  std::uint64_t join_ = 0;  // the request by which it has joined
  std::map<wire::MessageId, std::unique_ptr<ShellCommand>> running_;
  std::set<wire::MessageId> ended_;  // of these, those that nobody waits for
  std::uint64_t given_ = 0;
  bool joined_ = false;
  bool interrupted_ = false;
};

}  // namespace

int run(Context& context, const ReplyCommand& command) { return Replying(context, command).run(); }

}  // namespace canopy::tools
