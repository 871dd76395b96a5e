#include "canopy/descriptor_watch.hpp"

#include <sys/epoll.h>
#include <utility>

namespace canopy::tools {

DescriptorWatch::DescriptorWatch(boost::asio::io_context& io, int descriptor, std::uint32_t events)
    : epoll_(io, ::epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event event{};
  event.events = events;
  works_ = ::epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void DescriptorWatch::wait(std::function<void()> ready) {
  epoll_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [ready = std::move(ready)](boost::system::error_code error) {
                      if (!error) ready();
                    });
}

}  // namespace canopy::tools
