#include "canopy/bridge_arguments.hpp"

namespace canopy::tools {

namespace {

constexpr const char* bridge_footer =
    "What anybody publishes to the group becomes one message of the queue: there it waits for\n"
    "who receives it, and is shared among those who do. The daemon asked needs a gateway, and\n"
    "keeps its bridges with its queues: canopyd --gateway 127.0.0.1:9324 --data DIR.\n"
    "\n"
    "GROUP is NAME or NAME@CREATOR. QUEUE is a name, or a URL as AWS's clients have it.\n"
    "\n"
    "Examples:\n"
    "  canopy queue create jobs\n"
    "  canopy bridge add prices jobs\n"
    "  canopy publish prices 'ACME 12.50' --header source=nyse\n"
    "  canopy queue receive jobs --wait 20 --delete\n"
    "  canopy bridge list                          what went through, and what did not\n"
    "  canopy bridge remove prices jobs\n"
    "\n"
    "A message has the attributes canopy.group, canopy.publisher, canopy.incarnation and\n"
    "canopy.sequence, and the publisher's headers as far as Amazon's rules allow. A body that\n"
    "is no text comes in base64, with canopy.encoding=base64.\n";

constexpr const char* add_footer =
    "Says \"bridged\" when the bridge is on the disk and the daemon is in the group's tree:\n"
    "whatever anybody publishes from then on arrives. Added again, a bridge stays as it is.\n"
    "On a FIFO queue the message group is the publisher, so that each one's order is kept.";

constexpr const char* remove_footer =
    "The queue and its messages stay. Deleting the queue removes its bridges, too.";

constexpr const char* list_footer =
    "SENT        multicasts that became messages\n"
    "DUPLICATES  came again and were not sent: by a second way, or by a retry\n"
    "LATE        too old to tell whether they had been sent: they were not\n"
    "UNSEEN      numbers of publishers that were passed over: multicasts that never came, were\n"
    "            lost or refused, or went to other groups\n"
    "LOST        came faster than the queue took them\n"
    "REFUSED     larger than the queue's MaximumMessageSize, or empty\n"
    "All since the bridge was added, whenever the daemon was restarted. --json has also how\n"
    "many came in base64 (encoded), and headers that cannot be attributes (headers_left_out).";

}  // namespace

class BridgeParser::Words {
 public:
  explicit Words(cli::Command bridge) : bridge_(bridge) {
    bridge.require_command();
    bridge.footer(bridge_footer);
    add_names(add("add", "Let a queue subscribe to a group", add_footer, add_), add_);
    add("list", "List the bridges, and what came by each", list_footer, list_).also_called("ls");
    cli::Command remove =
        add("remove", "End a queue's subscription to a group", remove_footer, remove_);
    remove.also_called("rm");
    add_names(remove, remove_);
  }

  BridgeCommand command() const { return command_; }

 private:
  template <class What>
  cli::Command add(const char* name, const char* help, const char* footer, const What& what) {
    cli::Command command = bridge_.command(name, help);
    command.take_options_of_parent();
    command.footer(footer);
    command.action([this, &what] { command_.what = what; });
    return command;
  }
  template <class What>
  static void add_names(cli::Command command, What& what) {
    command.option("group", what.group, "NAME or NAME@CREATOR").required().value_name("GROUP");
    command.option("queue", what.queue, "Name or URL").required().value_name("QUEUE");
  }

  cli::Command bridge_;
  BridgeAdd add_;
  BridgeList list_;
  BridgeRemove remove_;
  BridgeCommand command_;
};

BridgeParser::BridgeParser(cli::Command bridge) : words_(std::make_unique<Words>(bridge)) {}
BridgeParser::~BridgeParser() = default;

BridgeCommand BridgeParser::command() const { return words_->command(); }

}  // namespace canopy::tools
