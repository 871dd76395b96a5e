// How an application embeds nodes: the whole of it on this page, as a test.
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <canopy/node.hpp>

namespace {

using boost::asio::use_future;

// Two nodes of one cluster in one process: one subscribes, the other publishes.
TEST(Embedding, OnOnePage) {
  // Completions run here; the nodes have threads of their own for the overlay.
  boost::asio::io_context io;
  auto work = boost::asio::make_work_guard(io);
  std::thread runner([&io] { io.run(); });
  {
    canopy::Node first(io.get_executor(), {.name = "first"});
    first.async_start(use_future).get();

    canopy::Node second(io.get_executor(),
                        {.name = "second", .join = {first.self().addresses.front()}});
    second.async_start(use_future).get();

    canopy::Subscription prices = first.async_join({"prices", ""}, {}, use_future).get();

    canopy::PublishOptions options;
    options.headers = {{"currency", "EUR"}};
    const canopy::PublishResult result =
        second.async_publish({"prices", ""}, canopy::Payload("42"), options, use_future).get();
    EXPECT_TRUE(result.root.has_value());

    for (const canopy::Event& event : prices.async_receive(100, use_future).get()) {
      const auto& message = std::get<canopy::Message>(event);
      EXPECT_EQ(message.payload.view(), "42");
      EXPECT_EQ(message.headers.at(0).second, "EUR");
      EXPECT_EQ(message.id, result.id);
      EXPECT_EQ(message.id.publisher, canopy::Key::of("second"));
    }

    second.async_stop(use_future).get();  // says goodbye; destroying alone does not
  }
  work.reset();
  runner.join();
}

}  // namespace
