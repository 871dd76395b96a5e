#include "canopy/queue_arguments.hpp"

#include <fmt/format.h>

#include "base/option_value.hpp"
#include "canopy/failure.hpp"
#include "common/whole_number.hpp"

namespace canopy::tools {

namespace {

constexpr const char* queue_examples =
    "QUEUE is a name, or a URL as AWS's clients have it. The daemon asked needs a gateway:\n"
    "canopyd --gateway 127.0.0.1:9324 --data DIR.\n"
    "\n"
    "Examples:\n"
    "  canopy queue create jobs --attribute VisibilityTimeout=60\n"
    "  canopy queue send jobs 'resize 17.png' --attribute kind=image\n"
    "  canopy queue receive jobs --wait 20 --delete       the next message, once there is one\n"
    "  tail -f app.log | canopy queue send logs - --lines\n"
    "  canopy queue receive logs --max 1000 --delete > logs.txt\n"
    "  canopy queue create orders --fifo --attribute ContentBasedDeduplication=true\n"
    "  canopy queue send orders.fifo 'order 4711' --group customer-12\n"
    "  canopy queue ls                                     all queues, and what waits in them\n"
    "  canopy queue call TagQueue '{\"QueueUrl\": \"/queue/jobs\", \"Tags\": {\"team\": \"a\"}}'\n";

constexpr const char* receive_footer =
    "What is received and not deleted is there again after the visibility timeout. With\n"
    "--delete a message is deleted once it has been printed.";

constexpr const char* call_footer =
    "Prints the answer as it is. Every action of the Amazon SQS API can be called; JSON is\n"
    "what AWS's documentation shows as its request, and a QueueUrl may be /queue/NAME.";

// A third of a year, as that of --timeout.
std::string whole_seconds(const std::string& text) {
  const auto value = OptionValue<std::uint64_t>::parse(text);
  if (value && *value <= 10'000'000) return "";
  return "'" + text + "' is no time: give whole seconds";
}

std::string account(const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  return text.size() == 12 && digits ? "" : "'" + text + "' is no account: give twelve digits";
}

std::pair<std::string, std::string> key_and_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw UsageError(
        fmt::format("queue: --attribute '{}' has no name and value: give them with "
                    "= in between",
                    text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

QueueSend::Attribute message_attribute(const std::string& text) {
  auto [name, value] = key_and_value(text);
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return {std::move(name), "String", std::move(value)};
  return {name.substr(0, colon), name.substr(colon + 1), std::move(value)};
}

}  // namespace

class QueueParser::Words {
 public:
  explicit Words(cli::Command queue) : queue_(queue) {
    queue.require_command();
    queue.footer(queue_examples);
    queue.option("--account", account_, "Whose queues (default: the daemon's default account)")
        .check(account)
        .value_name("DIGITS");
    queue.option("--region", region_, "Of the queues (default: the daemon's default region)")
        .value_name("NAME");
    add_list();
    add_create();
    add_send();
    add_receive();
    add_peek();
    add_delete();
    add_purge();
    add_stats();
    add_remove();
    add_call();
  }

  QueueCommand command() const {
    QueueCommand command{account_, region_, {}};
    finish_(command);
    return command;
  }

 private:
  using Finish = std::function<void(QueueCommand&)>;

  cli::Command add(const char* name, const char* help, const Finish& finish) {
    cli::Command command = queue_.command(name, help);
    command.take_options_of_parent();
    command.footer("");
    command.action([this, finish] { finish_ = finish; });
    return command;
  }
  // One whose words need no further look.
  template <class What>
  cli::Command add(const char* name, const char* help, const What& what) {
    return add(name, help, Finish([&what](QueueCommand& command) { command.what = what; }));
  }

  static void add_queue(cli::Command command, std::string& queue) {
    command.option("queue", queue, "Name or URL").required().value_name("QUEUE");
  }
  static void add_attributes(cli::Command command, std::vector<std::string>& attributes,
                             const char* form, const char* help) {
    command.option("--attribute", attributes, help).value_name(form).repeatable();
  }
  static void add_yes(cli::Command command, bool& sure) {
    command.flag("--yes,-y", sure, "Do not ask first, which is done on a terminal only");
  }

  void add_list() {
    cli::Command command = add("ls", "List the queues and how many messages are in them", list_);
    command.also_called("list");
    command.option("prefix", list_.prefix, "Only those whose names begin like this")
        .value_name("PREFIX");
  }

  void add_create() {
    cli::Command command = add("create", "Make a queue", Finish([this](QueueCommand& result) {
                                 QueueCreate create = create_;
                                 for (const std::string& text : attributes_)
                                   create.attributes.insert(key_and_value(text));
                                 result.what = std::move(create);
                               }));
    command.option("name", create_.name, "1 to 80 letters, digits, - and _")
        .required()
        .value_name("NAME");
    command.flag("--fifo", create_.fifo, "In strict order; .fifo is put behind the name");
    add_attributes(command, attributes_, "K=V",
                   "As CreateQueue of AWS has it: VisibilityTimeout, DelaySeconds, "
                   "RedrivePolicy...; repeatable");
  }

  void add_send() {
    cli::Command command =
        add("send", "Send messages to a queue",
            Finish([this](QueueCommand& result) { result.what = finished_send(); }));
    add_queue(command, send_.queue);
    text_ = command.option("text", send_.text, "The message, or - for standard input")
                .value_name("TEXT");
    command.flag("--lines", send_.lines, "Standard input has a message in each line");
    command.option("--group", send_.group, "Message group, which a FIFO queue keeps in order");
    command.option("--dedup", send_.deduplication,
                   "Deduplication id of a FIFO queue: sent again within 5 minutes it is dropped");
    command.option("--delay", send_.delay_seconds, "Seconds until it can be received")
        .check(whole_seconds)
        .value_name("S");
    add_attributes(command, attributes_, "NAME[:TYPE]=VALUE",
                   "Sent along with each message; a type other than String is Number or Binary "
                   "(in base64), or begins like that; repeatable");
  }

  QueueSend finished_send() const {
    QueueSend send = send_;
    if (send.lines && send.text.empty()) send.text = "-";
    if (send.lines && send.text != "-")
      throw UsageError("queue send: --lines reads standard input: give - instead of the text");
    if (send.lines && send.deduplication)
      throw UsageError("queue send: with one --dedup for all --lines only the first would stay");
    if (send.text.empty())
      throw UsageError(text_->given()
                           ? "queue send: a message cannot be empty"
                           : "queue send: no message: give its text, or - for standard input");
    for (const std::string& text : attributes_) send.attributes.push_back(message_attribute(text));
    return send;
  }

  void add_receive() {
    cli::Command command = add("receive", "Receive messages and print them", receive_);
    command.footer(receive_footer);
    add_queue(command, receive_.queue);
    command.option("--max", receive_.messages_max, "Up to so many messages (default 1)")
        .check(counting_number)
        .value_name("N");
    command.option("--wait", receive_.wait_seconds, "Wait so long for them (default 0)")
        .check(whole_seconds)
        .value_name("S");
    command
        .option("--visibility", receive_.visibility_seconds,
                "Hide them so long from others (default: as the queue has it)")
        .check(whole_seconds)
        .value_name("S");
    command.flag("--delete", receive_.remove, "Delete what has been printed");
  }

  void add_peek() {
    cli::Command command = add("peek", "Print messages without receiving them", peek_);
    add_queue(command, peek_.queue);
    command.option("--max", peek_.messages_max, "Up to so many messages (default 10)")
        .check(counting_number)
        .value_name("N");
  }

  void add_delete() {
    cli::Command command = add("delete", "Delete messages that were received", delete_);
    add_queue(command, delete_.queue);
    command.option("handles", delete_.receipt_handles, "As receive printed them")
        .required()
        .value_name("HANDLE");
  }

  void add_purge() {
    cli::Command command = add("purge", "Delete all messages of a queue", purge_);
    add_queue(command, purge_.queue);
    add_yes(command, purge_.sure);
  }

  void add_stats() {
    add_queue(add("stats", "Show a queue's attributes and counts", stats_), stats_.queue);
  }

  void add_remove() {
    cli::Command command = add("rm", "Delete a queue and its messages", remove_);
    command.also_called("remove");
    add_queue(command, remove_.queue);
    add_yes(command, remove_.sure);
  }

  void add_call() {
    cli::Command command = add("call", "Call any action of the Amazon SQS API", call_);
    command.footer(call_footer);
    command.option("action", call_.action, "SendMessage, ListQueueTags...")
        .required()
        .value_name("ACTION");
    command.option("json", call_.parameters, "Its parameters (default {}); - for standard input")
        .value_name("JSON");
  }

  cli::Command queue_;
  Finish finish_;  // that of the command given
  std::string account_;
  std::string region_;
  std::vector<std::string> attributes_;
  std::optional<cli::Option> text_;
  QueueList list_;
  QueueCreate create_;
  QueueSend send_;
  QueueReceive receive_;
  QueuePeek peek_;
  QueueDelete delete_;
  QueuePurge purge_;
  QueueStats stats_;
  QueueRemove remove_;
  QueueCallAction call_;
};

QueueParser::QueueParser(cli::Command queue) : words_(std::make_unique<Words>(queue)) {}
QueueParser::~QueueParser() = default;

QueueCommand QueueParser::command() const { return words_->command(); }

}  // namespace canopy::tools
