// Why a request has no result, in the terms of both protocols: a failure of the
// queue service, or one of those that AWS's services have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "queue/error.hpp"

namespace canopy::gateway {

struct Failure {
  std::string_view shape_namespace;  // of json_type, with its '#'
  queue::ErrorInfo info;
  std::string message;  // may be empty
};

Failure failure_of(const queue::Error& error);
Failure failure(queue::ErrorCode code, std::string message);

// The request cannot be understood.
Failure serialization_failure(std::string message);
Failure unknown_operation();
Failure other_service();  // of AWS, or none
Failure invalid_action(std::string_view action);
Failure no_queue();
Failure not_a_receive();
Failure invalid_address(std::string_view queue_url);
Failure request_too_large();

// The caller is not who it says.
Failure missing_authentication_token();
Failure incomplete_signature(std::string message);
Failure invalid_client_token();
Failure signature_does_not_match(std::string message);
Failure request_expired();

Failure missing_parameter(std::string_view name);
// "Value X for parameter Y is invalid. Reason: ..."
Failure invalid_parameter(std::string_view value, std::string_view name, std::string_view reason);

}  // namespace canopy::gateway
