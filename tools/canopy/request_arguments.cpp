#include "canopy/request_arguments.hpp"

#include <vector>

#include "canopy/access_arguments.hpp"
#include "canopy/failure.hpp"
#include "canopy/header_arguments.hpp"
#include "common/whole_number.hpp"

namespace canopy::tools {

namespace {

constexpr const char* request_footer =
    "One member gets it: the nearest that replies (canopy reply) and is not busy; one that\n"
    "declines it, or is lost with it, is followed by the next. With --all every member gets it,\n"
    "and as many reply as like: it ends when all have said their last, or after --replies that\n"
    "say that all went well. All this takes --timeout at the most (10 s; 30 s with canopyd\n"
    "--profile wan). Ctrl-C cancels the request where it is worked on.\n"
    "\n"
    "Prints the reply: as it is into a file or a pipe, on a terminal in one line of printable\n"
    "text. With --all each reply is such a line, behind the peer's name and a tab; --json has\n"
    "any bytes. The status is 1 if no reply came, or one that says that it failed; with --replies\n"
    "if fewer came that say that all went well.\n"
    "\n"
    "Examples:\n"
    "  canopy reply upper --exec 'tr a-z A-Z'     in another terminal, of any peer\n"
    "  canopy request upper 'hello'\n"
    "  canopy request load '' --all --json";

constexpr const char* reply_footer =
    "Joins the group and replies to requests: always the same TEXT, or what COMMAND prints. It is\n"
    "run by /bin/sh for each request, whose text is its standard input; its output, up to 1 MiB,\n"
    "is the reply. If it fails, so does the reply, with its status. It is killed when nobody\n"
    "waits for it any more: at the deadline, or when the request is cancelled; so is what it has\n"
    "started, even in sessions of its own: whatever has its CANOPY_REQUEST, which is different\n"
    "for each request, in the environment. When it ends by itself, what is left of its process\n"
    "group is killed, and daemons live on.\n"
    "\n"
    "Several of it share the requests to one member: the nearest to who asks gets them first,\n"
    "until it has --parallel of them. Prints the text of each request.";

}  // namespace

class RequestParser::Words {
 public:
  Words(cli::Command request, cli::Command reply) {
    add_group(request, request_.group);
    text_ = request.option("text", request_.text, "The message, or - for standard input")
                .value_name("TEXT");
    request.flag("--all", request_.all, "Ask all members");
    request.option("--replies", request_.replies, "End after so many replies: with --all")
        .check(counting_number)
        .value_name("N");
    add_headers(request, request_headers_, "A header of the message; repeatable");
    add_token_option(request, token_file_);
    request.footer(request_footer);

    add_group(reply, reply_.group);
    reply.option("text", reply_.text, "The reply").value_name("TEXT");
    reply.option("--exec", reply_.exec, "A shell command that makes the reply")
        .value_name("COMMAND");
    reply.option("--parallel", reply_.parallel, "Work on so many requests at once (1)")
        .check(counting_number)
        .value_name("N");
    reply.option("--count", reply_.count, "End after this many replies")
        .check(counting_number)
        .value_name("N");
    add_headers(reply, reply_headers_, "A header of each reply; repeatable");
    add_token_option(reply, token_file_);
    reply.footer(reply_footer);
  }

  RequestCommand request() const {
    RequestCommand command = request_;
    if (!text_->given())
      throw UsageError("request: no message: give its text, or - for standard input");
    if (command.replies > 1 && !command.all)
      throw UsageError("request: one member replies once: give --all for more --replies");
    if (command.replies > replies_max)
      throw UsageError("request: --replies are at most " + std::to_string(replies_max));
    command.headers = parse_headers("request", request_headers_);
    command.token = presented_token(token_file_);
    return command;
  }

  ReplyCommand reply() const {
    ReplyCommand command = reply_;
    if (command.text.has_value() == command.exec.has_value())
      throw UsageError("reply: give one of TEXT and --exec COMMAND");
    if (command.parallel > parallel_max)
      throw UsageError("reply: --parallel is at most " + std::to_string(parallel_max));
    command.headers = parse_headers("reply", reply_headers_);
    command.token = presented_token(token_file_);
    return command;
  }

 private:
  static constexpr std::uint64_t replies_max = 1000;  // that the daemon keeps
  static constexpr std::uint64_t parallel_max = 1024;

  static void add_group(cli::Command command, std::string& group) {
    command.option("group", group, "NAME or NAME@CREATOR").required().value_name("GROUP");
  }
  static void add_headers(cli::Command command, std::vector<std::string>& headers,
                          const char* help) {
    command.option("--header", headers, help).value_name("KEY=VALUE").repeatable();
  }

  RequestCommand request_;
  ReplyCommand reply_;
  std::optional<cli::Option> text_;
  std::vector<std::string> request_headers_;
  std::vector<std::string> reply_headers_;
  std::string token_file_;  // of either
};

RequestParser::RequestParser(cli::Command request, cli::Command reply)
    : words_(std::make_unique<Words>(request, reply)) {}
RequestParser::~RequestParser() = default;

RequestCommand RequestParser::request() const { return words_->request(); }
ReplyCommand RequestParser::reply() const { return words_->reply(); }

}  // namespace canopy::tools
