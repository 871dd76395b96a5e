// queue send: one message, or one for each line of standard input, ten at a time.
#include <boost/asio/post.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "canopy/input.hpp"
#include "canopy/output.hpp"
#include "canopy/queue_commands.hpp"

namespace canopy::tools {

namespace json = boost::json;

namespace {

// Of one request, by AWS's rules.
constexpr std::size_t batch_entries_max = 10;
constexpr std::size_t batch_bytes_max = std::size_t{1} << 20;

// Batches under way, so that lines do not wait for each other's answers.
constexpr std::size_t batches_max = 16;

// What a queue may be told to take at most; it says itself if it takes less.
constexpr std::size_t body_bytes_max = wire::control::queue_call_bytes_max;

json::object attributes_of(const QueueSend& command) {
  json::object attributes;
  for (const QueueSend::Attribute& attribute : command.attributes) {
    json::object value;
    value["DataType"] = attribute.type;
    value[attribute.type.starts_with("Binary") ? "BinaryValue" : "StringValue"] = attribute.value;
    attributes[attribute.name] = std::move(value);
  }
  return attributes;
}

// What each message has besides its body.
json::object common_members(const QueueSend& command) {
  json::object members;
  if (command.group) members["MessageGroupId"] = *command.group;
  if (command.deduplication) members["MessageDeduplicationId"] = *command.deduplication;
  if (command.delay_seconds) members["DelaySeconds"] = *command.delay_seconds;
  if (!command.attributes.empty()) members["MessageAttributes"] = attributes_of(command);
  return members;
}

std::size_t attribute_bytes(const QueueSend& command) {
  std::size_t bytes = 0;
  for (const QueueSend::Attribute& attribute : command.attributes)
    bytes += attribute.name.size() + attribute.type.size() + attribute.value.size();
  return bytes;
}

Failure no_text(const std::string& what) {
  return Failure(what + " is not UTF-8, and queues hold text: encode it, as with base64");
}

void print_sent(const QueueClient& queues, bool as_json, const json::object& sent) {
  const std::string id = text_of(sent, "MessageId");
  const std::string number = text_of(sent, "SequenceNumber");
  const std::string name = name_of(queues.queue());
  if (!as_json) {
    print_line(
        fmt::format("sent to {} as {}{}{}", name, id, number.empty() ? "" : ", number ", number));
    return;
  }
  json::object object;
  object["queue"] = name;
  object["id"] = id;
  if (!number.empty()) object["sequence_number"] = number;
  print_json(object);
}

int send_one(QueueClient& queues, const QueueSend& command) {
  const std::string body = command.text == "-" ? read_input(body_bytes_max) : command.text;
  if (body.empty()) throw Failure("standard input is empty, and a message cannot be");
  if (!is_utf8(body)) throw no_text("the message");
  json::object parameters = queues.parameters();
  parameters["MessageBody"] = body;
  for (const auto& member : common_members(command)) parameters[member.key()] = member.value();
  print_sent(queues, queues.context().json, queues.ask("SendMessage", parameters));
  return 0;
}

// Lines wait for each other only until what has come so far is looked at. A
// queue in strict order gets one batch at a time, so that none overtakes one
// that fails.
class SendingLines {
 public:
  SendingLines(QueueClient& queues, const QueueSend& command)
      : queues_(queues),
        members_(common_members(command)),
        attribute_bytes_(attribute_bytes(command)),
        window_(name_of(command.queue).ends_with(".fifo") ? 1 : batches_max) {}

  int run() {
    try {
      send_all();
    } catch (const Failure& failure) {
      throw Failure(fmt::format("{}: {}", failure.what(), tally()), failure);
    }
    if (!queues_.context().json) print_line(summary());
    return 0;
  }

 private:
  void send_all() {
    LineReader lines(
        queues_.context().client.io(), body_bytes_max,
        [this](std::string_view line) { return take(line); }, [this] { end(); });
    lines_ = &lines;
    wait();
    if (failure_) throw Failure(*failure_);
  }

  bool take(std::string_view line) {
    if (failure_) return false;
    ++lines_read_;
    if (line.empty()) {
      ++empty_;
      return true;
    }
    if (!is_utf8(line)) {
      send();  // those before it
      fail(no_text(fmt::format("line {}", lines_read_)));
      return false;
    }
    const std::size_t bytes = line.size() + attribute_bytes_;
    if (!entries_.empty() && entry_bytes_ + bytes > batch_bytes_max) send();
    add(line, bytes);
    if (entries_.size() == batch_entries_max) send();
    return has_room();
  }

  void add(std::string_view line, std::size_t bytes) {
    json::object entry = members_;
    entry["Id"] = std::to_string(entries_.size());
    entry["MessageBody"] = line;
    entries_.push_back(std::move(entry));
    entry_bytes_ += bytes;
    if (entries_.size() > 1) return;
    // Once the lines that are there by now have been handed over.
    boost::asio::post(queues_.context().client.io(), [this] {
      if (has_room()) send();
    });
  }

  bool has_room() const { return !failure_ && under_way_ < window_; }

  void end() {
    ended_ = true;
    if (has_room()) send();
  }

  void send() {
    if (entries_.empty()) return;
    json::object parameters = queues_.parameters();
    const std::size_t count = entries_.size();
    parameters["Entries"] = std::exchange(entries_, {});
    entry_bytes_ = 0;
    ++under_way_;
    asked_ += count;
    queues_.start("SendMessageBatch", parameters, [this, count](const QueueReply& reply) {
      --under_way_;
      ++answers_;
      answered_ += count;
      on_answer(reply);
      if (has_room()) lines_->resume();
      if (has_room()) send();
    });
  }

  void on_answer(const QueueReply& reply) {
    if (reply.failure) return fail(*reply.failure);
    const json::object answer = reply.object();
    if (const json::value* successful = answer.if_contains("Successful")) {
      sent_ += successful->as_array().size();
      for (const json::value& sent : successful->as_array())
        if (queues_.context().json) print_sent(queues_, true, sent.as_object());
    }
    if (const auto failure = failure_in_batch(queues_, answer)) fail(*failure);
  }

  void fail(const Failure& failure) {
    if (!failure_) failure_ = failure;
  }

  // Answers are waited for as long as --timeout says since the last one, lines
  // for ever.
  void wait() {
    const auto over = [this] {
      return under_way_ == 0 && (failure_ || (ended_ && entries_.empty()));
    };
    while (!over()) {
      const std::uint64_t before = answers_;
      const bool waiting = under_way_ > 0;
      const auto progress = [&] {
        return over() || answers_ != before || waiting != (under_way_ > 0);
      };
      const Client::Deadline deadline = waiting ? queues_.context().deadline() : Client::Deadline();
      if (!queues_.context().client.run(progress, deadline)) throw Failure("no answer in time");
    }
  }

  std::string tally() const {
    std::string text = fmt::format("{} messages were sent", sent_);
    if (asked_ > answered_) text += fmt::format(", {} more may have been", asked_ - answered_);
    return text;
  }

  std::string summary() const {
    std::string text = fmt::format("sent {} {} to {}", sent_, sent_ == 1 ? "message" : "messages",
                                   name_of(queues_.queue()));
    if (empty_ > 0)
      text +=
          fmt::format("; {} empty {} left out", empty_, empty_ == 1 ? "line was" : "lines were");
    return text;
  }

  QueueClient& queues_;
  const json::object members_;
  const std::size_t attribute_bytes_;
  const std::size_t window_;
  LineReader* lines_ = nullptr;
  bool ended_ = false;  // of the input
  json::array entries_;
  std::size_t entry_bytes_ = 0;
  std::size_t under_way_ = 0;
  std::uint64_t answers_ = 0;
  std::uint64_t lines_read_ = 0;
  std::uint64_t empty_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t sent_ = 0;
  std::optional<Failure> failure_;  // the first one
};

}  // namespace

int run(QueueClient& queues, const QueueSend& command) {
  return command.lines ? SendingLines(queues, command).run() : send_one(queues, command);
}

}  // namespace canopy::tools
