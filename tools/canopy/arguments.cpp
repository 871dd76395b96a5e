#include "canopy/arguments.hpp"

#include <charconv>
#include <functional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <canopy/message.hpp>

#include "base/text.hpp"
#include "canopy/failure.hpp"
#include "canopy/header_arguments.hpp"
#include "common/cli.hpp"
#include "common/whole_number.hpp"
#include "node/control_path.hpp"

namespace canopy::tools {

namespace {

constexpr const char* summary =
    "canopy: join groups of a Canopy cluster, publish to them, use queues, and look around,\n"
    "through the canopyd daemon of this machine";

constexpr const char* examples =
    "A group is named NAME@CREATOR; NAME alone means the cluster's own group of that\n"
    "name, the same one for everybody.\n"
    "\n"
    "Examples:\n"
    "  canopy join prices                      print what arrives, until Ctrl-C\n"
    "  canopy join prices --count 1 --json     wait for one message, as JSON\n"
    "  canopy join prices --last --count 1     the latest message, and end\n"
    "  canopy publish prices 'ACME 12.50'\n"
    "  canopy publish jobs 'resize 17.png' --to-one  to one member, which is near\n"
    "  canopy request upper 'hello'            ask a member, and print its reply\n"
    "  tail -f app.log | canopy publish logs - --lines\n"
    "  canopy tree prices --dot | dot -Tsvg > prices.svg\n"
    "  canopy create prices --allow-publish peer:a\n"
    "  canopy route --name order-4711          the peers on the way to a key\n"
    "  canopy queue send jobs 'resize 17.png'  canopy queue --help shows more\n"
    "  canopy bridge add prices jobs           what is published becomes messages of a queue\n"
    "  canopy --control /tmp/a.sock status     the daemon with that socket\n"
    "\n"
    "Status: 0 done, 1 failed, 2 a mistake in the command line. With --json a failure is\n"
    "an object on standard output as well: {\"error\": {\"code\": C, \"message\": TEXT}}, C only\n"
    "if it comes from the daemon (a number) or its queues (AWS's name of the error); join says\n"
    "it of a group by an event.\n";

// What is wrong with a --timeout. A third of a year is longer than anybody
// waits, and can be added to any time.
std::string seconds(const std::string& text) {
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end && value >= 0.001 && value <= 1e7) return "";
  return "'" + text + "' is no time: give seconds, from 0.001 to 10000000";
}

std::string ack_mode(const std::string& text) {
  return text == "none" || text == "root" || text == "members"
             ? ""
             : "'" + text + "' is not allowed: give none, root or members";
}

std::string group_mode(const std::string& text) {
  return text == "best-effort" || text == "ordered"
             ? ""
             : "'" + text + "' is not allowed: give best-effort or ordered";
}

class Parser {
 public:
  Parser() : line_("canopy", summary, "Print the version") {
    line_.footer(examples);
    line_.require_command();
    line_
        .option("--control", arguments_.control,
                "Socket of the daemon (default " + node::default_control_path() + ")")
        .environment("CANOPY_CONTROL")
        .value_name("SOCKET");
    line_.flag("--json", arguments_.json, "Print JSON, one object a line");
    line_.option("--timeout", timeout_, "Longest wait, in seconds (default 30; join: no end)")
        .check(seconds)
        .value_name("S");
    add_looking();
    add_messages();
    add_access();
    queue_.emplace(add("queue", "Work with the queues of the daemon's gateway",
                       [this] { arguments_.command = queue_->command(); }));
    bridge_.emplace(add("bridge", "Let queues of the daemon's gateway subscribe to groups",
                        [this] { finish_bridge(); }));
  }

  std::optional<Arguments> parse(int argc, const char* const* argv) {
    try {
      if (!line_.parse(argc, argv)) return std::nullopt;
    } catch (const cli::Mistake& mistake) {
      throw UsageError(mistake.what());
    }
    if (arguments_.control.empty()) arguments_.control = node::default_control_path();
    if (timeout_ > 0)
      arguments_.timeout = Duration(static_cast<std::int64_t>(timeout_ * 1'000'000));
    return arguments_;
  }

 private:
  cli::Command add(const char* name, const char* help, const std::function<void()>& finish) {
    cli::Command command = line_.command(name, help);
    command.take_options_of_parent();
    command.footer("");
    command.action(finish);
    return command;
  }

  void add_looking() {
    cli::Command command = add("status", "Show the daemon and its place in the ring",
                               [this] { arguments_.command = status_; });
    command.flag("--counters", status_.counters, "Show all counters as well");

    add("ring", "List every peer of the cluster, in id order",
        [this] { arguments_.command = RingCommand{}; });

    command = add("route", "Show the peers on the way to a key", [this] { finish_route(); });
    command.footer("Give one of KEY, --name and --group.");
    command.option("key", key_, "Up to 40 hexadecimal digits; missing ones are 0")
        .value_name("KEY");
    command.option("--name", route_.name, "The key is the hash of this text").value_name("TEXT");
    command.option("--group", route_.group, "The key is the id of this group").value_name("GROUP");

    add("groups", "List the groups in whose trees the daemon is",
        [this] { arguments_.command = GroupsCommand{}; });

    command = add("tree", "Draw the whole tree of a group, its members marked with *",
                  [this] { finish_tree(); });
    add_group(command, tree_.group);
    add_token_option(command, token_file_);
    command.flag("--dot", tree_.dot, "For Graphviz");
    command.footer(
        "Of each peer: how deep it is below the root, the round trip to its parent and\n"
        "all the way from the root, as far as measured, and whether it is no member but\n"
        "forwards only. Who is told of a group that not anyone may join: see members.");

    command = add("members", "Count the members of a group", [this] {
      parse_group(members_.group);
      members_.token = presented_token(token_file_);
      arguments_.command = members_;
    });
    add_group(command, members_.group);
    add_token_option(command, token_file_);
    command.flag("--watch", members_.watch, "Ask again every second, print when it has changed");
    command.footer(
        "Members are daemons, however many programs have joined through each. The group's\n"
        "root knows the number; \"about\" it says while some may be counted twice or not at\n"
        "all: for some seconds after peers of the tree have changed their places, and for a\n"
        "minute after one was lost. Of a group that not anyone may join, only those are told\n"
        "who may, or are listed as allowed to publish or manage. join --presence tells who\n"
        "comes and who goes.");

    add("shutdown", "Let the daemon leave the ring and end",
        [this] { arguments_.command = ShutdownCommand{}; });
  }

  void add_messages() {
    cli::Command command =
        add("create", "Make a group known before anybody joins it (joining does so, too)",
            [this] { finish_create(); });
    add_group(command, create_.group);
    command.option("--mode", mode_, "What it promises its members (best-effort, the default)")
        .check(group_mode)
        .value_name("best-effort|ordered");
    add_allow_options(command, create_.access);
    add_token_option(command, token_file_);
    command.footer(
        std::string(
            "best-effort  a message may be lost where the tree is being repaired.\n"
            "ordered      all members get the same messages in the same order; what is missing is\n"
            "             filled in, or told as a gap. Who joins a group follows its mode.\n"
            "\n"
            "Without more, anyone may publish and join, and this daemon manages the group.\n") +
        who_footer);

    command = add("join", "Join groups and print what is published, until Ctrl-C",
                  [this] { finish_join(); });
    command.option("groups", join_.groups, "NAME or NAME@CREATOR, several if you like")
        .required()
        .value_name("GROUP");
    command.option("--count", join_.count, "End after this many messages")
        .check(counting_number)
        .value_name("N");
    command.flag("--last", join_.last, "Print the latest message first, as if it came now");
    command.flag("--presence", join_.presence, "Tell on standard error who comes and who goes");
    add_token_option(command, token_file_);
    command.flag("--no-anycast", join_.no_anycast, "Take no messages to one member (--to-one)");
    command.footer(
        "\"joined\" on standard error (with --json, an event line) says that the daemon\n"
        "is in the tree: whatever anybody publishes from then on arrives. What is missed\n"
        "after a failure is told: in an ordered group as a gap, in a best-effort one as a\n"
        "number of lost messages. With --json each is an event; a gap whose last is null\n"
        "has no known end.\n"
        "\n"
        "--presence: \"3 members (+1: b)\", at most once a second; the number is right as soon\n"
        "as nothing changes any more, names are as far as known. --last: peers of the tree\n"
        "remember the latest message as long as anybody is in it. Where nobody has one, \"no\n"
        "message yet\" on standard error (an event no_last) says so, and join waits for the\n"
        "first: `--last --count 1` prints the current value and ends, or the first one when it\n"
        "comes. --timeout ends the waiting, with status 1 if --count asks for more messages.");

    command =
        add("publish", "Send a message to the members of a group", [this] { finish_publish(); });
    add_group(command, publish_.group);
    text_ = command.option("text", publish_.text, "The message, or - for standard input")
                .value_name("TEXT");
    command.flag("--lines", publish_.lines, "Standard input has a message in each line");
    command.option("--header", headers_, "A header for each message; repeatable")
        .value_name("KEY=VALUE")
        .repeatable();
    command.option("--ack", ack_, "Wait until the group's root has it (root, the default)")
        .check(ack_mode)
        .value_name("none|root|members");
    command
        .option("--require", publish_.require,
                "Fail if fewer members have it; waits as --ack members")
        .check(counting_number)
        .value_name("N");
    add_token_option(command, token_file_);
    command.flag("--to-one", publish_.to_one, "Send it to one member, and say which took it");
    command.flag("--wait", publish_.wait, "Wait until a member takes it: --to-one");
    command.footer(
        "--ack members waits until every member has the message, or 10 s (25 s with canopyd\n"
        "--profile wan; with --timeout, a little less than that), and says how many have it at\n"
        "least. That these are all it says only if it is certain: parts of the tree that do not\n"
        "answer, or were lost within the last minute, are named. The status is 0 if the root has\n"
        "the message, 1 if fewer members have it than --require says.\n"
        "\n"
        "--lines has up to 32 lines under way. What is too much for the root (canopyd\n"
        "--limit-publish-messages) is slowed down and sent again, in its order, until none has\n"
        "been taken for --timeout (30 s). Whatever ends it early, it says which of the lines that\n"
        "it has read were not published, which may have been, and from which line on nothing\n"
        "was read; the status is 1.\n"
        "\n"
        "--to-one sends it to one member only: the nearest in the group's tree whose queue has\n"
        "room, so that several share the work when the nearest is busy. The status is 1 if nobody\n"
        "takes it; with --wait it looks again until --timeout (5 s). A member that dies with it\n"
        "takes it along, and one whose word gets lost may not be the only one who has it.");

    request_.emplace(
        add("request", "Send a message to a member that replies, or to all, and print replies",
            [this] { finish_request(); }),
        add("reply", "Join a group and reply to requests", [this] { finish_reply(); }));
  }

  void add_access() {
    cli::Command command =
        add("access", "Show or change who may do what in a group that was created",
            [this] { finish_access(); });
    add_group(command, access_.group);
    add_allow_options(command, access_.changes);
    add_deny_options(command, access_.changes);
    add_token_option(command, token_file_);
    command.footer(std::string("Without options it shows. A change needs the right to manage.\n") +
                   who_footer);

    command = add("delete", "Delete a group that was created, and put its members out",
                  [this] { finish_delete(); });
    add_group(command, delete_.group);
    add_token_option(command, token_file_);
    command.footer(
        "It needs the right to manage. Nobody can join the group until it is created anew.");

    command = add("token", "Print a fresh token, a secret that gives rights in groups",
                  [this] { arguments_.command = token_; });
    command.option("file", token_.file, "Print the public half of the token in this file instead")
        .value_name("FILE");
    command.footer(
        "canopy token > secret                           keep it, and hand it to whom you like\n"
        "canopy create prices --allow-join token:secret\n"
        "canopy join prices --token-file secret");
  }

  static void add_group(cli::Command command, std::string& group) {
    command.option("group", group, "NAME or NAME@CREATOR").required().value_name("GROUP");
  }

  void finish_route() {
    const int given = (key_.empty() ? 0 : 1) + (route_.name ? 1 : 0) + (route_.group ? 1 : 0);
    if (route_.group) parse_group(*route_.group);
    if (given != 1) throw UsageError("route: give one of KEY, --name TEXT and --group GROUP");
    if (!key_.empty()) {
      route_.key = Id::from_hex(key_);
      if (!route_.key) {
        throw UsageError(fmt::format(
            "route: '{}' is no key of 1 to 40 hexadecimal digits: use --name or --group for names",
            key_));
      }
    }
    arguments_.command = route_;
  }

  // Groups are looked at here, so that a mistake shows before a daemon is asked.
  void finish_tree() {
    parse_group(tree_.group);
    if (arguments_.json && tree_.dot) throw UsageError("tree: give one of --json and --dot");
    tree_.token = presented_token(token_file_);
    arguments_.command = tree_;
  }

  void finish_bridge() {
    const BridgeCommand command = bridge_->command();
    std::visit(
        [](const auto& what) {
          if constexpr (requires { what.group; }) parse_group(what.group);
        },
        command.what);
    arguments_.command = command;
  }

  void finish_request() {
    const RequestCommand command = request_->request();
    parse_group(command.group);
    arguments_.command = command;
  }

  void finish_reply() {
    const ReplyCommand command = request_->reply();
    parse_group(command.group);
    arguments_.command = command;
  }

  void finish_create() {
    parse_group(create_.group);
    if (mode_ == "ordered") create_.mode = wire::GroupMode::ordered;
    check(create_.access);
    create_.token = presented_token(token_file_);
    arguments_.command = create_;
  }

  void finish_access() {
    parse_group(access_.group);
    check(access_.changes);
    access_.token = presented_token(token_file_);
    arguments_.command = access_;
  }

  void finish_delete() {
    parse_group(delete_.group);
    delete_.token = presented_token(token_file_);
    arguments_.command = delete_;
  }

  void finish_join() {
    for (const std::string& group : join_.groups) parse_group(group);
    join_.token = presented_token(token_file_);
    arguments_.command = join_;
  }

  void finish_publish() {
    parse_group(publish_.group);
    if (ack_.empty() && publish_.require != 0) ack_ = "members";
    if (ack_ != "members" && publish_.require != 0)
      throw UsageError("publish: --require counts members: give --ack members");
    if (ack_ == "none") publish_.ack = wire::AckMode::none;
    if (ack_ == "members") publish_.ack = wire::AckMode::members;
    if (publish_.lines && publish_.text.empty()) publish_.text = "-";
    if (publish_.lines && publish_.text != "-")
      throw UsageError("publish: --lines reads standard input: give - instead of the text");
    if (publish_.text.empty() && !text_->given())
      throw UsageError("publish: no message: give its text, or - for standard input");
    if (publish_.to_one && (!ack_.empty() || publish_.require != 0))
      throw UsageError("publish: --to-one waits for its one member: leave --ack and --require out");
    if (publish_.wait && !publish_.to_one)
      throw UsageError("publish: --wait is for a member to take the message: give --to-one");
    publish_.headers = parse_headers("publish", headers_);
    publish_.token = presented_token(token_file_);
    arguments_.command = publish_;
  }

  cli::CommandLine line_;
  Arguments arguments_;
  double timeout_ = 0;
  std::string key_;
  std::vector<std::string> headers_;
  std::string ack_;
  std::string mode_;
  std::string token_file_;
  std::optional<cli::Option> text_;
  StatusCommand status_;
  RouteCommand route_;
  CreateCommand create_;
  JoinCommand join_;
  PublishCommand publish_;
  AccessCommand access_;
  DeleteCommand delete_;
  TokenCommand token_;
  TreeCommand tree_;
  MembersCommand members_;
  std::optional<RequestParser> request_;
  std::optional<QueueParser> queue_;
  std::optional<BridgeParser> bridge_;
};

}  // namespace

std::optional<Arguments> parse_arguments(int argc, const char* const* argv) {
  return Parser().parse(argc, argv);
}

wire::GroupName parse_group(const std::string& text) {
  GroupName group = GroupName::parse(text);
  const bool creator_missing = group.creator.empty() && text.ends_with('@');
  if (!is_valid_name(group.name) || creator_missing ||
      (!group.creator.empty() && !is_valid_name(group.creator))) {
    throw UsageError("'" + text +
                     "' is no group: give NAME or NAME@CREATOR, each of 1 to 255 bytes of "
                     "printable text");
  }
  return {std::move(group.name), std::move(group.creator)};
}

}  // namespace canopy::tools
