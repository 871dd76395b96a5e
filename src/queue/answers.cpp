#include "queue/answers.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "queue/message_record.hpp"
#include "queue/transaction.hpp"

namespace canopy::queue {

namespace {

bool asked_for(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(
      names, [name](const std::string& asked) { return asked == name || asked == "All"; });
}

}  // namespace

bool is_wanted(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::any_of(names, [&name](const std::string& asked) {
    if (asked == "All" || asked == "*" || asked == name) return true;
    return asked.ends_with(".*") && name.starts_with(asked.substr(0, asked.size() - 2));
  });
}

std::string sequence_number(std::uint64_t sequence) {
  constexpr std::uint64_t first = 10'000'000'000'000'000'000U;
  return std::to_string(first + sequence);
}

Message answer_of(const PickedMessage& picked, bool fifo,
                  const std::vector<std::string>& system_attribute_names,
                  const std::vector<std::string>& message_attribute_names, std::string handle,
                  Md5& md5) {
  auto record = decode_message(picked.record);
  if (!record) damaged("message");
  Message message;
  message.message_id = record->id.to_string();
  message.receipt_handle = std::move(handle);
  message.body = std::move(record->body);
  message.body_md5 = to_hex(bytes_of(record->body_md5));
  for (auto& [name, attribute] : record->attributes) {
    if (is_wanted(message_attribute_names, name)) {
      message.message_attributes.emplace(name, std::move(attribute));
    }
  }
  if (!message.message_attributes.empty()) {
    message.attributes_md5 = to_hex(bytes_of(md5.of(message.message_attributes)));
  }
  if (system_attribute_names.empty()) return message;

  const auto show = [&](const char* name, const std::optional<std::string>& value) {
    if (value && asked_for(system_attribute_names, name)) message.attributes.emplace(name, *value);
  };
  show("SenderId", record->sender);
  show("SentTimestamp", std::to_string(record->sent));
  show("ApproximateReceiveCount", std::to_string(record->receives + picked.count));
  show("ApproximateFirstReceiveTimestamp", std::to_string(picked.first_received));
  if (fifo) show("SequenceNumber", sequence_number(picked.at.sequence));
  show("MessageDeduplicationId", record->deduplication_id);
  show("MessageGroupId", record->group_id);
  show("AWSTraceHeader", record->trace_header);
  if (!record->dead_letter_source.empty()) {
    show("DeadLetterQueueSourceArn", record->dead_letter_source);
  }
  return message;
}

}  // namespace canopy::queue
