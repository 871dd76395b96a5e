// A connected socket that says whatever it is told to. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace canopy::system_test {

class RawSocket {
 public:
  // Of the loopback's port, or of a Unix socket. Not open if nobody listens.
  explicit RawSocket(std::uint16_t port);
  explicit RawSocket(const std::string& path);
  ~RawSocket();
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  bool is_open() const noexcept { return socket_ >= 0; }

  // False when the other side has closed.
  bool send(std::string_view bytes);

  // Says that nothing more will come, and still listens.
  void finish();

  // What comes until `count` bytes are there, the other side closes or time is over.
  std::string receive(std::size_t count, std::chrono::milliseconds time_max);

  // Whether the other side closes within that time.
  bool is_closed_by_other(std::chrono::milliseconds time_max);

 private:
  int socket_ = -1;
};

}  // namespace canopy::system_test
