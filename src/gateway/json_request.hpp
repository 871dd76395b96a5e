// AWS JSON 1.0 requests: the body of a POST whose action is in X-Amz-Target.
#pragma once

#include <string_view>

#include <boost/system/result.hpp>

#include "gateway/action_reader.hpp"
#include "gateway/failure.hpp"
#include "queue/actions.hpp"

namespace canopy::gateway {

using ActionOrFailure = boost::system::result<queue::Action, Failure>;

[[noreturn]] void throw_exception_from_error(const Failure& failure,
                                             const boost::source_location& where);

// `action` is one of the queue service's, without "AmazonSQS.". Members that the
// action does not have are ignored, as AWS does, and null is no value.
ActionOrFailure read_json_request(std::string_view action, std::string_view body,
                                  const ReadContext& context);

}  // namespace canopy::gateway
