#include "node/operation.hpp"

#include <future>
#include <string>
#include <thread>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

namespace canopy::node {
namespace {

using boost::system::error_code;
using TextOperation = Operation<std::string>;

class OperationTest : public testing::Test {
 protected:
  auto handler() {
    return [this](error_code error, std::string text) {
      ++completions_;
      error_ = error;
      text_ = std::move(text);
      thread_ = std::this_thread::get_id();
    };
  }

  template <class Handler>
  void start(Handler handler) {
    operation_ = TextOperation::start(io_.get_executor(), std::move(handler));
  }

  boost::asio::io_context io_;
  std::shared_ptr<TextOperation> operation_;
  int completions_ = 0;
  error_code error_;
  std::string text_;
  std::thread::id thread_;
};

TEST_F(OperationTest, CompletesOnceOnTheExecutor) {
  start(handler());
  operation_->complete({}, "first");
  operation_->complete({}, "second");
  EXPECT_EQ(completions_, 0);
  io_.run();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(text_, "first");
}

TEST_F(OperationTest, CountsAsWorkUntilItHasCompleted) {
  start(handler());
  std::thread other([this] { operation_->complete({}, "done"); });
  io_.run();  // does not return before
  other.join();
  EXPECT_EQ(completions_, 1);
}

TEST_F(OperationTest, RunsOnTheHandlersOwnExecutorAndCountsAsItsWork) {
  boost::asio::io_context own;
  start(boost::asio::bind_executor(own.get_executor(), handler()));
  std::thread other([&own] { own.run(); });
  const std::thread::id own_thread = other.get_id();
  operation_->complete({}, "done");
  io_.run();
  other.join();
  EXPECT_EQ(completions_, 1);
  EXPECT_EQ(thread_, own_thread);
}

TEST_F(OperationTest, ThatEverybodyForgetsCompletes) {
  start(handler());
  operation_.reset();
  io_.run();
  EXPECT_EQ(error_, errc::shutting_down);
}

TEST_F(OperationTest, CanBeCancelledThroughItsSlot) {
  boost::asio::cancellation_signal cancel;
  start(boost::asio::bind_cancellation_slot(cancel.slot(), handler()));
  cancel.emit(boost::asio::cancellation_type::total);
  EXPECT_EQ(completions_, 0);
  EXPECT_FALSE(operation_->claim());
  io_.run();
  EXPECT_EQ(error_, errc::cancelled);
}

TEST_F(OperationTest, CancellingAfterTheEndDoesNothing) {
  boost::asio::cancellation_signal cancel;
  start(boost::asio::bind_cancellation_slot(cancel.slot(), handler()));
  operation_->complete({}, "done");
  cancel.emit(boost::asio::cancellation_type::total);
  io_.run();
  cancel.emit(boost::asio::cancellation_type::total);
  EXPECT_EQ(completions_, 1);
  EXPECT_FALSE(error_);
}

TEST_F(OperationTest, AHandlerThatIsNeverRunIsFreed) {
  auto witness = std::make_shared<int>(0);
  {
    boost::asio::io_context dropped;
    auto operation =
        TextOperation::start(dropped.get_executor(), [witness](error_code, const std::string&) {});
    operation->complete({}, "nobody hears it");
  }
  EXPECT_EQ(witness.use_count(), 1);
}

}  // namespace
}  // namespace canopy::node
