// Why an action of the queue service failed: AWS's codes, which gateways write
// in the shape of the request's protocol.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/assert/source_location.hpp>

namespace canopy::queue {

enum class ErrorCode : std::uint8_t {
  access_denied,
  batch_entry_ids_not_distinct,
  batch_request_too_long,
  empty_batch_request,
  internal_failure,
  invalid_attribute_name,
  invalid_attribute_value,
  invalid_batch_entry_id,
  invalid_message_contents,
  invalid_parameter_value,
  message_not_inflight,
  missing_parameter,
  over_limit,
  purge_queue_in_progress,
  queue_deleted_recently,
  queue_does_not_exist,
  queue_name_exists,
  receipt_handle_is_invalid,
  request_throttled,
  resource_not_found,
  service_unavailable,
  too_many_entries_in_batch_request,
  unsupported_operation,
};

struct ErrorInfo {
  std::string_view json_type;   // "QueueDoesNotExist", as after "com.amazonaws.sqs#"
  std::string_view query_code;  // "AWS.SimpleQueueService.NonExistentQueue"
  std::uint16_t http_status;
  bool sender_fault;
};
const ErrorInfo& info(ErrorCode code) noexcept;

struct Error {
  ErrorCode code = ErrorCode::internal_failure;
  std::string message;  // for people

  friend bool operator==(const Error&, const Error&) = default;
};

// A parameter that a request has to have.
Error missing_parameter(std::string_view name);

[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

}  // namespace canopy::queue
