#include "queue/error.hpp"

#include <array>
#include <stdexcept>

#include "base/assert.hpp"

namespace canopy::queue {

namespace {

// In the order of ErrorCode. The query codes are those of botocore's query-compatible traits.
constexpr auto table = std::to_array<ErrorInfo>({
    {"AccessDeniedException", "AccessDenied", 403, true},
    {"BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct", 400, true},
    {"BatchRequestTooLong", "AWS.SimpleQueueService.BatchRequestTooLong", 400, true},
    {"EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest", 400, true},
    {"InternalFailure", "InternalFailure", 500, false},
    {"InvalidAttributeName", "InvalidAttributeName", 400, true},
    {"InvalidAttributeValue", "InvalidAttributeValue", 400, true},
    {"InvalidBatchEntryId", "AWS.SimpleQueueService.InvalidBatchEntryId", 400, true},
    {"InvalidMessageContents", "InvalidMessageContents", 400, true},
    {"InvalidParameterValueException", "InvalidParameterValue", 400, true},
    {"MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight", 400, true},
    {"MissingRequiredParameterException", "MissingParameter", 400, true},
    {"OverLimit", "OverLimit", 403, true},
    {"PurgeQueueInProgress", "AWS.SimpleQueueService.PurgeQueueInProgress", 403, true},
    {"QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently", 400, true},
    {"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", 400, true},
    {"QueueNameExists", "QueueAlreadyExists", 400, true},
    {"ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404, true},
    {"RequestThrottled", "RequestThrottled", 403, true},
    {"ResourceNotFoundException", "ResourceNotFoundException", 404, true},
    {"ServiceUnavailable", "ServiceUnavailable", 503, false},
    {"TooManyEntriesInBatchRequest", "AWS.SimpleQueueService.TooManyEntriesInBatchRequest", 400,
     true},
    {"UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation", 400, true},
});

}  // namespace

const ErrorInfo& info(ErrorCode code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  CANOPY_ASSERT(index < table.size());
  return table[index];
}

Error missing_parameter(std::string_view name) {
  return {ErrorCode::missing_parameter,
          "The request must contain the parameter " + std::string(name) + "."};
}

void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw std::runtime_error(std::string(info(error.code).json_type) + ": " + error.message);
}

}  // namespace canopy::queue
