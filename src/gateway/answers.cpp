#include "gateway/answers.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "gateway/json_writer.hpp"
#include "gateway/plain_json_writer.hpp"
#include "gateway/result_writer.hpp"
#include "gateway/xml_writer.hpp"

namespace canopy::gateway {

namespace {

constexpr std::string_view json_type = "application/x-amz-json-1.0";
constexpr std::string_view xml_type = "text/xml";
constexpr std::string_view xml_prolog = "<?xml version=\"1.0\"?>";

template <class Writer>
void write_members(Writer& writer, std::string_view action, const queue::Result& result,
                   const Place& place) {
  const bool sources = action == "ListDeadLetterSourceQueues";
  ResultWriter<Writer> write(writer, place, {sources ? "queueUrls" : "QueueUrls", "QueueUrl"});
  const auto* batch = std::get_if<queue::BatchResult>(&result);
  if (batch && action == "ChangeMessageVisibilityBatch")
    write.batch(*batch, "ChangeMessageVisibilityBatchResultEntry");
  else
    std::visit(write, result);
}

std::size_t size_hint(const queue::Result& result) {
  std::size_t size = 512;
  if (const auto* received = std::get_if<queue::ReceiveMessageResult>(&result))
    for (const auto& message : received->messages) size += message.body.size() + 1'024;
  return size;
}

// The message of a failure, in the words of the older protocol.
std::string_view query_message(const Failure& failure) {
  if (failure.message == "The specified queue does not exist.")
    return "The specified queue does not exist for this wsdl version.";
  return failure.message;
}

std::string failure_in_json(const Failure& failure) {
  std::string body;
  append_json_object(body, [&](JsonWriter& writer) {
    writer.text("__type", fmt::format("{}{}", failure.shape_namespace, failure.info.json_type));
    if (!failure.message.empty()) writer.text("message", failure.message);
  });
  return body;
}

// As AWS, or inside of what XML has for a root.
std::string failure_in_plain_json(const Failure& failure, bool with_root,
                                  std::string_view request_id) {
  std::string error;
  append_json_object(error, [&](JsonWriter& writer) {
    writer.text("Code", failure.info.query_code);
    writer.text("Message", query_message(failure));
    writer.text("Type", failure.info.sender_fault ? "Sender" : "Receiver");
  });
  const std::string body = fmt::format(R"({{"Error":{},"RequestId":"{}"}})", error, request_id);
  return with_root ? fmt::format(R"({{"ErrorResponse":{}}})", body) : body;
}

std::string result_in_plain_json(std::string_view action, const queue::Result& result,
                                 const Place& place, PlainJsonWriter::Style style,
                                 std::string_view request_id) {
  std::string members;
  {
    PlainJsonWriter writer(members, style);
    write_members(writer, action, result, place);
  }
  const bool has_result = !std::holds_alternative<queue::Done>(result);
  const std::string whole =
      has_result ? fmt::format(R"("{}Result":{},)", action, members == "{}" ? "null" : members)
                 : std::string();
  return fmt::format(R"({{"{}Response":{{{}"ResponseMetadata":{{"RequestId":"{}"}}}}}})", action,
                     whole, request_id);
}

std::string failure_in_xml(const Failure& failure, std::string_view request_id) {
  std::string body(xml_prolog);
  if (failure.info.query_code == "UnknownOperationException" && failure.message.empty())
    return body + fmt::format("<UnknownOperationException xmlns=\"{}\"/>", sqs_namespace);
  XmlWriter writer(body);
  body += fmt::format("<ErrorResponse xmlns=\"{}\"><Error>", sqs_namespace);
  writer.text("Type", failure.info.sender_fault ? "Sender" : "Receiver");
  writer.text("Code", failure.info.query_code);
  writer.text("Message", query_message(failure));
  body += "<Detail/></Error>";
  writer.text("RequestId", request_id);
  writer.close("ErrorResponse");
  return body;
}

}  // namespace

std::string wrap_in_xml(std::string_view action, std::string_view xml_namespace,
                        std::string_view members, bool has_result, std::string_view request_id) {
  std::string result;
  if (has_result && members.empty()) result = fmt::format("<{}Result/>", action);
  if (!members.empty()) result = fmt::format("<{0}Result>{1}</{0}Result>", action, members);
  return fmt::format(
      "{0}<{1}Response xmlns=\"{2}\">{3}<ResponseMetadata><RequestId>{4}</RequestId>"
      "</ResponseMetadata></{1}Response>",
      xml_prolog, action, xml_namespace, result, request_id);
}

Answer write_result(Protocol protocol, std::string_view action, const queue::Result& result,
                    const Place& place, std::string request_id) {
  Answer answer;
  answer.body.reserve(size_hint(result));
  if (protocol == Protocol::json) {
    answer.content_type = json_type;
    append_json_object(answer.body,
                       [&](JsonWriter& writer) { write_members(writer, action, result, place); });
  } else if (protocol != Protocol::query) {
    using Style = PlainJsonWriter::Style;
    answer.content_type = plain_json_type;
    answer.body = result_in_plain_json(
        action, result, place, protocol == Protocol::query_json ? Style::aws : Style::elements,
        request_id);
  } else {
    const bool has_result = !std::holds_alternative<queue::Done>(result);
    answer.content_type = xml_type;
    XmlWriter writer(answer.body);
    write_members(writer, action, result, place);
    answer.body = wrap_in_xml(action, sqs_namespace, answer.body, has_result, request_id);
  }
  answer.request_id = std::move(request_id);
  return answer;
}

Answer write_failure(Protocol protocol, const Failure& failure, std::string request_id) {
  Answer answer;
  answer.status = failure.info.http_status;
  if (protocol == Protocol::json) {
    answer.content_type = json_type;
    answer.body = failure_in_json(failure);
    answer.query_error = fmt::format("{};{}", failure.info.query_code,
                                     failure.info.sender_fault ? "Sender" : "Receiver");
  } else if (protocol != Protocol::query) {
    answer.content_type = plain_json_type;
    answer.body = failure_in_plain_json(failure, protocol == Protocol::peek_json, request_id);
  } else {
    answer.content_type = xml_type;
    answer.body = failure_in_xml(failure, request_id);
  }
  answer.request_id = std::move(request_id);
  return answer;
}

}  // namespace canopy::gateway
