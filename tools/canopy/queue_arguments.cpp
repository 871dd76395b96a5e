#include "canopy/queue_arguments.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

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
  std::uint64_t value = 0;
  if (CLI::detail::lexical_cast(text, value) && value <= 10'000'000 && !text.starts_with("-"))
    return "";
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
  explicit Words(CLI::App& app) : app_(app) {
    app.require_subcommand(1);
    app.footer(queue_examples);
    app.add_option("--account", account_, "Whose queues (default: the daemon's default account)")
        ->check(account)
        ->type_name("DIGITS");
    app.add_option("--region", region_, "Of the queues (default: the daemon's default region)")
        ->type_name("NAME");
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
    for (const auto& [app, finish] : finishers_)
      if (app_.got_subcommand(app)) finish(command);
    return command;
  }

 private:
  using Finish = std::function<void(QueueCommand&)>;

  CLI::App* add(const char* name, const char* help, Finish finish) {
    CLI::App* app = app_.add_subcommand(name, help);
    app->fallthrough();
    app->footer("");
    finishers_.emplace_back(app, std::move(finish));
    return app;
  }
  // One whose words need no further look.
  template <class What>
  CLI::App* add(const char* name, const char* help, const What& what) {
    return add(name, help, Finish([&what](QueueCommand& command) { command.what = what; }));
  }

  static CLI::Option* add_queue(CLI::App* app, std::string& queue) {
    return app->add_option("queue", queue, "Name or URL")->required()->type_name("QUEUE");
  }
  static void add_attributes(CLI::App* app, std::vector<std::string>& attributes, const char* form,
                             const char* help) {
    app->add_option("--attribute", attributes, help)->type_name(form)->expected(1)->take_all();
  }
  static void add_yes(CLI::App* app, bool& sure) {
    app->add_flag("--yes,-y", sure, "Do not ask first, which is done on a terminal only");
  }

  void add_list() {
    CLI::App* app = add("ls", "List the queues and how many messages are in them", list_);
    app->add_option("prefix", list_.prefix, "Only those whose names begin like this")
        ->type_name("PREFIX");
  }

  void add_create() {
    CLI::App* app = add("create", "Make a queue", Finish([this](QueueCommand& command) {
                          QueueCreate create = create_;
                          for (const std::string& text : attributes_)
                            create.attributes.insert(key_and_value(text));
                          command.what = std::move(create);
                        }));
    app->add_option("name", create_.name, "1 to 80 letters, digits, - and _")
        ->required()
        ->type_name("NAME");
    app->add_flag("--fifo", create_.fifo, "In strict order; .fifo is put behind the name");
    add_attributes(app, attributes_, "K=V",
                   "As CreateQueue of AWS has it: VisibilityTimeout, DelaySeconds, "
                   "RedrivePolicy...; repeatable");
  }

  void add_send() {
    CLI::App* app = add("send", "Send messages to a queue",
                        Finish([this](QueueCommand& command) { command.what = finished_send(); }));
    add_queue(app, send_.queue);
    text_ = app->add_option("text", send_.text, "The message, or - for standard input");
    text_->type_name("TEXT");
    app->add_flag("--lines", send_.lines, "Standard input has a message in each line");
    app->add_option("--group", send_.group, "Message group, which a FIFO queue keeps in order");
    app->add_option("--dedup", send_.deduplication,
                    "Deduplication id of a FIFO queue: sent again within 5 minutes it is dropped");
    app->add_option("--delay", send_.delay_seconds, "Seconds until it can be received")
        ->check(whole_seconds)
        ->type_name("S");
    add_attributes(app, attributes_, "NAME[:TYPE]=VALUE",
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
      throw UsageError(text_->count() == 0
                           ? "queue send: no message: give its text, or - for standard input"
                           : "queue send: a message cannot be empty");
    for (const std::string& text : attributes_) send.attributes.push_back(message_attribute(text));
    return send;
  }

  void add_receive() {
    CLI::App* app = add("receive", "Receive messages and print them", receive_);
    app->footer(receive_footer);
    add_queue(app, receive_.queue);
    app->add_option("--max", receive_.messages_max, "Up to so many messages (default 1)")
        ->check(counting_number)
        ->type_name("N");
    app->add_option("--wait", receive_.wait_seconds, "Wait so long for them (default 0)")
        ->check(whole_seconds)
        ->type_name("S");
    app->add_option("--visibility", receive_.visibility_seconds,
                    "Hide them so long from others (default: as the queue has it)")
        ->check(whole_seconds)
        ->type_name("S");
    app->add_flag("--delete", receive_.remove, "Delete what has been printed");
  }

  void add_peek() {
    CLI::App* app = add("peek", "Print messages without receiving them", peek_);
    add_queue(app, peek_.queue);
    app->add_option("--max", peek_.messages_max, "Up to so many messages (default 10)")
        ->check(counting_number)
        ->type_name("N");
  }

  void add_delete() {
    CLI::App* app = add("delete", "Delete messages that were received", delete_);
    add_queue(app, delete_.queue);
    app->add_option("handles", delete_.receipt_handles, "As receive printed them")
        ->required()
        ->type_name("HANDLE");
  }

  void add_purge() {
    CLI::App* app = add("purge", "Delete all messages of a queue", purge_);
    add_queue(app, purge_.queue);
    add_yes(app, purge_.sure);
  }

  void add_stats() {
    add_queue(add("stats", "Show a queue's attributes and counts", stats_), stats_.queue);
  }

  void add_remove() {
    CLI::App* app = add("rm", "Delete a queue and its messages", remove_);
    add_queue(app, remove_.queue);
    add_yes(app, remove_.sure);
  }

  void add_call() {
    CLI::App* app = add("call", "Call any action of the Amazon SQS API", call_);
    app->footer(call_footer);
    app->add_option("action", call_.action, "SendMessage, ListQueueTags...")
        ->required()
        ->type_name("ACTION");
    app->add_option("json", call_.parameters, "Its parameters (default {}); - for standard input")
        ->type_name("JSON");
  }

  CLI::App& app_;
  std::vector<std::pair<CLI::App*, Finish>> finishers_;
  std::string account_;
  std::string region_;
  std::vector<std::string> attributes_;
  CLI::Option* text_ = nullptr;
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

QueueParser::QueueParser(CLI::App& app) : words_(std::make_unique<Words>(app)) {}
QueueParser::~QueueParser() = default;

QueueCommand QueueParser::command() const { return words_->command(); }

}  // namespace canopy::tools
