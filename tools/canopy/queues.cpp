// queue ls, create, stats, purge, rm and call.
#include <algorithm>
#include <deque>
#include <iostream>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "canopy/input.hpp"
#include "canopy/output.hpp"
#include "canopy/queue_commands.hpp"

namespace canopy::tools {

namespace json = boost::json;

namespace {

constexpr std::uint64_t queues_of_page = 1'000;

// Queues that are asked about at the same time.
constexpr std::size_t asked_at_once = 32;

constexpr std::string_view available = "ApproximateNumberOfMessages";
constexpr std::string_view in_flight = "ApproximateNumberOfMessagesNotVisible";
constexpr std::string_view delayed = "ApproximateNumberOfMessagesDelayed";

struct Counts {
  std::string available;
  std::string in_flight;
  std::string delayed;

  std::uint64_t all() const {
    return std::stoull(available) + std::stoull(in_flight) + std::stoull(delayed);
  }
};

json::object attributes_of(const json::object& answer) {
  const json::value* attributes = answer.if_contains("Attributes");
  return attributes && attributes->is_object() ? attributes->get_object() : json::object();
}

json::object count_parameters(const QueueClient& queues) {
  json::object parameters = queues.parameters();
  parameters["AttributeNames"] = json::array{available, in_flight, delayed};
  return parameters;
}

Counts counts_of(const json::object& answer) {
  const json::object attributes = attributes_of(answer);
  return {text_of(attributes, available), text_of(attributes, in_flight),
          text_of(attributes, delayed)};
}

class Listing {
 public:
  Listing(QueueClient& queues, const QueueList& list) : queues_(queues), list_(list) {}

  int run() {
    find();
    count();
    std::erase_if(found_, [](const Found& one) { return one.gone; });
    queues_.context().json ? print_as_json() : print_as_table();
    return 0;
  }

 private:
  struct Found {
    std::string url;
    Counts counts;
    bool gone = false;
  };

  void find() {
    json::object parameters;
    parameters["QueueNamePrefix"] = list_.prefix;
    parameters["MaxResults"] = queues_of_page;
    do {
      const json::object answer = queues_.ask("ListQueues", parameters);
      if (const json::value* urls = answer.if_contains("QueueUrls"))
        for (const json::value& url : urls->as_array())
          found_.push_back({std::string(url.as_string()), {}});
      parameters["NextToken"] = text_of(answer, "NextToken");
    } while (!parameters["NextToken"].as_string().empty());
  }

  void count() {
    std::size_t next = 0;
    std::size_t under_way = 0;
    const auto ask_more = [&] {
      for (; next < found_.size() && under_way < asked_at_once; ++next) {
        ++under_way;
        ask_about(found_[next], [&under_way] { --under_way; });
      }
    };
    while (next < found_.size() || under_way > 0) {
      ask_more();
      const std::size_t before = under_way;
      if (!queues_.context().client.run([&] { return under_way < before; },
                                        queues_.context().deadline()))
        throw Failure("no answer in time: try a longer --timeout");
    }
  }

  void ask_about(Found& one, std::function<void()> done) {
    QueueClient queue = queues_.of(one.url);
    queue.start("GetQueueAttributes", count_parameters(queue),
                [&one, done = std::move(done)](const QueueReply& reply) {
                  done();
                  one.gone = reply.failure && reply.failure->queue_code() == "QueueDoesNotExist";
                  if (!one.gone) one.counts = counts_of(reply.object());
                });
  }

  void print_as_json() const {
    json::array list;
    for (const Found& one : found_) {
      json::object object;
      object["name"] = name_of(one.url);
      object["url"] = one.url;
      object["available"] = std::stoull(one.counts.available);
      object["in_flight"] = std::stoull(one.counts.in_flight);
      object["delayed"] = std::stoull(one.counts.delayed);
      list.push_back(std::move(object));
    }
    json::object object;
    object["queues"] = std::move(list);
    print_json(object);
  }

  void print_as_table() const {
    std::vector<std::vector<std::string>> rows{{"NAME", "AVAILABLE", "IN FLIGHT", "DELAYED"}};
    for (const Found& one : found_)
      rows.push_back(
          {name_of(one.url), one.counts.available, one.counts.in_flight, one.counts.delayed});
    print(table(rows));
  }

  QueueClient& queues_;
  const QueueList& list_;
  std::deque<Found> found_;
};

// Whether the user, if there is one, agrees to what happens to the queue.
bool agreed(QueueClient& queues, bool sure, std::string_view what) {
  if (sure || ::isatty(STDIN_FILENO) == 0) return true;
  const Counts counts = counts_of(queues.ask("GetQueueAttributes", count_parameters(queues)));
  std::cerr << fmt::format("{} ({} messages)? [y/N] ", escaped(what), counts.all());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int tell(QueueClient& queues, const char* done) {
  if (queues.context().json) {
    json::object object;
    object[done] = name_of(queues.queue());
    print_json(object);
  } else {
    print_line(fmt::format("{} {}", done, name_of(queues.queue())));
  }
  return 0;
}

}  // namespace

int run(QueueClient& queues, const QueueList& command) { return Listing(queues, command).run(); }

int run(QueueClient& queues, const QueueCreate& command) {
  constexpr std::string_view fifo_ending = ".fifo";
  std::string name = command.name;
  if (command.fifo && !name.ends_with(fifo_ending)) name += fifo_ending;
  json::object attributes;
  if (name.ends_with(fifo_ending)) attributes["FifoQueue"] = "true";
  for (const auto& [key, value] : command.attributes) attributes[key] = value;
  json::object parameters;
  parameters["QueueName"] = name;
  parameters["Attributes"] = std::move(attributes);
  const std::string url = text_of(queues.ask("CreateQueue", parameters), "QueueUrl");
  if (queues.context().json) {
    json::object object;
    object["created"] = name;
    object["url"] = url;
    print_json(object);
  } else {
    print_line(fmt::format("created {}", url));
  }
  return 0;
}

int run(QueueClient& queues, const QueueStats&) {
  json::object parameters = queues.parameters();
  parameters["AttributeNames"] = json::array{"All"};
  const json::object attributes = attributes_of(queues.ask("GetQueueAttributes", parameters));
  if (queues.context().json) {
    json::object object;
    object["name"] = name_of(queues.queue());
    object["attributes"] = attributes;
    print_json(object);
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& attribute : attributes)
    rows.push_back({attribute.key(), escaped(text_of(attributes, attribute.key()))});
  std::sort(rows.begin(), rows.end());
  print(table(rows));
  return 0;
}

int run(QueueClient& queues, const QueuePurge& command) {
  const std::string name = name_of(command.queue);
  if (!agreed(queues, command.sure, fmt::format("Delete all messages of {}", name)))
    throw Failure("nothing was deleted");
  queues.ask("PurgeQueue", queues.parameters());
  return tell(queues, "purged");
}

int run(QueueClient& queues, const QueueRemove& command) {
  const std::string name = name_of(command.queue);
  if (!agreed(queues, command.sure, fmt::format("Delete the queue {} and all in it", name)))
    throw Failure("nothing was deleted");
  queues.ask("DeleteQueue", queues.parameters());
  return tell(queues, "deleted");
}

int run(QueueClient& queues, const QueueCallAction& command) {
  // The longest wait of a receive may be among the parameters.
  constexpr Duration wait_max = std::chrono::seconds(20);
  const bool piped = command.parameters == "-";
  const QueueReply reply = queues.ask(
      command.action, piped ? read_input(wire::control::queue_call_bytes_max) : command.parameters,
      wait_max);
  if (reply.failure) throw Failure(*reply.failure);
  print_line(reply.json);
  return 0;
}

namespace {

std::string queue_of(const QueueList&) { return {}; }
std::string queue_of(const QueueCreate& command) { return command.name; }
std::string queue_of(const QueueCallAction&) { return {}; }
template <class OnQueue>
std::string queue_of(const OnQueue& command) {
  return command.queue;
}

void look_at_host(QueueClient& queues) {
  if (host_of(queues.queue()).empty()) return;
  json::object parameters;
  parameters["QueueName"] = name_of(queues.queue());
  const QueueReply reply = queues.ask("GetQueueUrl", json::serialize(parameters));
  if (reply.failure) return;  // the command will say it, or it is another account's
  tell_of_another_host(queues.queue(), text_of(reply.object(), "QueueUrl"));
}

}  // namespace

int run(Context& context, const QueueCommand& command) {
  return std::visit(
      [&](const auto& what) {
        QueueClient queues(context, command, queue_of(what));
        look_at_host(queues);
        return run(queues, what);
      },
      command.what);
}

std::optional<Failure> failure_in_batch(const QueueClient& queues, const json::object& answer) {
  const json::value* failed = answer.if_contains("Failed");
  if (!failed || failed->as_array().empty()) return std::nullopt;
  const json::object& first = failed->as_array().front().as_object();
  const std::string code = text_of(first, "Code");
  return Failure(fmt::format("{}: {} ({})", queues.queue(), text_of(first, "Message"), code), code);
}

}  // namespace canopy::tools
