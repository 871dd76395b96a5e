#include "system/raw_socket.hpp"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <poll.h>
#include <unistd.h>

namespace canopy::system_test {
namespace {

int connected(int socket, const sockaddr* address, socklen_t size) {
  if (socket >= 0 && ::connect(socket, address, size) == 0) return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

const sockaddr* generic(const void* address) { return static_cast<const sockaddr*>(address); }

}  // namespace

RawSocket::RawSocket(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socket_ = connected(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), generic(&address),
                      sizeof address);
}

RawSocket::RawSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  socket_ = connected(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), generic(&address),
                      sizeof address);
}

RawSocket::~RawSocket() {
  if (socket_ >= 0) ::close(socket_);
}

bool RawSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{socket_, POLLOUT, 0};
    if (::poll(&ready, 1, 2000) <= 0) return false;
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawSocket::finish() { ::shutdown(socket_, SHUT_WR); }

std::string RawSocket::receive(std::size_t count, std::chrono::milliseconds time_max) {
  const auto deadline = std::chrono::steady_clock::now() + time_max;
  std::string bytes;
  while (bytes.size() < count) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{socket_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
    char buffer[4096];
    const ssize_t got = ::recv(socket_, buffer, std::min(sizeof buffer, count - bytes.size()), 0);
    if (got <= 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  return bytes;
}

bool RawSocket::is_closed_by_other(std::chrono::milliseconds time_max) {
  const auto deadline = std::chrono::steady_clock::now() + time_max;
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd ready{socket_, POLLIN, 0};
    if (::poll(&ready, 1, 50) <= 0) continue;
    char buffer[4096];
    if (::recv(socket_, buffer, sizeof buffer, 0) <= 0) return true;
  }
  return false;
}

}  // namespace canopy::system_test
