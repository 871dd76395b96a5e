#include "gateway/failure.hpp"

#include <utility>

#include <fmt/format.h>

namespace canopy::gateway {

namespace {

constexpr std::string_view of_queues = "com.amazonaws.sqs#";
constexpr std::string_view of_all = "com.amazon.coral.service#";

Failure common(std::string_view type, std::string_view code, std::uint16_t status,
               std::string message) {
  return {of_all, {type, code, status, true}, std::move(message)};
}

}  // namespace

Failure failure_of(const queue::Error& error) { return failure(error.code, error.message); }

Failure failure(queue::ErrorCode code, std::string message) {
  return {of_queues, queue::info(code), std::move(message)};
}

Failure serialization_failure(std::string message) {
  return common("SerializationException", "SerializationException", 400, std::move(message));
}

Failure unknown_operation() {
  return common("UnknownOperationException", "UnknownOperationException", 404, {});
}

Failure other_service() {
  return common("UnknownOperationException", "UnknownOperationException", 404,
                "This endpoint speaks Amazon SQS only.");
}

Failure invalid_action(std::string_view action) {
  return common("InvalidAction", "InvalidAction", 400,
                fmt::format("The action {} is not valid for this endpoint.", action));
}

Failure no_queue() {
  return failure(queue::ErrorCode::queue_does_not_exist, "The specified queue does not exist.");
}

Failure not_a_receive() {
  return common("InvalidRequest", "InvalidRequest", 400,
                "This endpoint only accepts ReceiveMessage calls");
}

Failure invalid_address(std::string_view queue_url) {
  return {of_queues,
          {"InvalidAddress", "InvalidAddress", 404, true},
          fmt::format("The address {} is not valid for this endpoint.", queue_url)};
}

Failure request_too_large() {
  return common("RequestEntityTooLargeException", "RequestEntityTooLarge", 413,
                "The request is longer than this endpoint accepts.");
}

Failure missing_authentication_token() {
  return common("MissingAuthenticationTokenException", "MissingAuthenticationToken", 403,
                "Request is missing Authentication Token");
}

Failure incomplete_signature(std::string message) {
  return common("IncompleteSignatureException", "IncompleteSignature", 400, std::move(message));
}

Failure invalid_client_token() {
  return common("UnrecognizedClientException", "InvalidClientTokenId", 403,
                "The security token included in the request is invalid.");
}

Failure signature_does_not_match(std::string message) {
  return common("InvalidSignatureException", "SignatureDoesNotMatch", 403, std::move(message));
}

Failure request_expired() {
  return common("RequestExpired", "RequestExpired", 400, "Request has expired.");
}

Failure missing_parameter(std::string_view name) {
  return failure_of(queue::missing_parameter(name));
}

Failure invalid_parameter(std::string_view value, std::string_view name, std::string_view reason) {
  return failure(
      queue::ErrorCode::invalid_parameter_value,
      fmt::format("Value {} for parameter {} is invalid. Reason: {}", value, name, reason));
}

}  // namespace canopy::gateway
