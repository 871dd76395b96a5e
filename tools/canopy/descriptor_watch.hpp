// Waits on a descriptor that is shared with other processes (standard input
// and output), as one event of a loop.
//
// Asio would make such a descriptor non-blocking, for everybody who has it
// open, and does not say when one cannot be waited on. So the descriptor is
// watched by an epoll of its own, and the loop waits on that. One thread, the
// loop's.
#pragma once

#include <cstdint>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace canopy::tools {

class DescriptorWatch {
 public:
  // EPOLL events; errors and hang-ups are watched for always.
  DescriptorWatch(boost::asio::io_context& io, int descriptor, std::uint32_t events);

  // Whether it can be waited on: files cannot, they are always ready.
  bool works() const noexcept { return works_; }

  // Calls back once it is ready.
  void wait(std::function<void()> ready);

 private:
  boost::asio::posix::stream_descriptor epoll_;
  bool works_;
};

}  // namespace canopy::tools
