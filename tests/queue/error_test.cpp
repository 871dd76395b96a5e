#include "queue/error.hpp"

#include <gtest/gtest.h>

namespace canopy::queue {
namespace {

TEST(Error, HasTheNamesThatClientsOfEitherProtocolKnow) {
  const ErrorInfo& missing = info(ErrorCode::queue_does_not_exist);
  EXPECT_EQ(missing.json_type, "QueueDoesNotExist");
  EXPECT_EQ(missing.query_code, "AWS.SimpleQueueService.NonExistentQueue");
  EXPECT_EQ(missing.http_status, 400);
  EXPECT_TRUE(missing.sender_fault);
  EXPECT_EQ(info(ErrorCode::missing_parameter).json_type, "MissingRequiredParameterException");
  EXPECT_EQ(info(ErrorCode::missing_parameter).query_code, "MissingParameter");
  EXPECT_EQ(info(ErrorCode::unsupported_operation).json_type, "UnsupportedOperation");
}

TEST(Error, BlamesTheServerForItsOwnFaults) {
  EXPECT_FALSE(info(ErrorCode::internal_failure).sender_fault);
  EXPECT_EQ(info(ErrorCode::internal_failure).http_status, 500);
  EXPECT_FALSE(info(ErrorCode::service_unavailable).sender_fault);
  EXPECT_EQ(info(ErrorCode::service_unavailable).http_status, 503);
}

TEST(Error, KeepsTheStatusesOfTheQueryProtocol) {
  EXPECT_EQ(info(ErrorCode::receipt_handle_is_invalid).http_status, 404);
  EXPECT_EQ(info(ErrorCode::resource_not_found).http_status, 404);
  EXPECT_EQ(info(ErrorCode::purge_queue_in_progress).http_status, 403);
  EXPECT_EQ(info(ErrorCode::over_limit).http_status, 403);
}

}  // namespace
}  // namespace canopy::queue
