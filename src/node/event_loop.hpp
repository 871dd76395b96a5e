// One thread with its io_context: an event loop of the node.
//
// A node has one for the overlay, and one for the disk where it keeps data.
// Start and stop belong to one thread, the owner's.
#pragma once

#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace canopy::node {

class EventLoop {
 public:
  // `name` (15 bytes) shows in ps and debuggers.
  explicit EventLoop(const char* name) : name_(name) {}
  ~EventLoop() { stop(); }
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }

  void start();

  // Ends the loop after the handler that runs, and waits for that. What is
  // still queued is dropped with the context. Not from the loop's own thread.
  void stop();

  // Runs what is queued to its end first; nothing may keep the loop alive.
  void drain();

 private:
  const char* name_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};
  std::thread thread_;
};

}  // namespace canopy::node
