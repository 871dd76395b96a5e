// As much of an HTTP client as a load generator needs: an address, sockets to it,
// and where an answer ends.
#pragma once

#include <cstddef>
#include <netinet/in.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace canopy::tools {

struct Target {
  std::string url;   // http://HOST:PORT, as it was given
  std::string host;  // HOST:PORT, for the Host header
  sockaddr_storage address{};
  socklen_t address_size = 0;
};

// Throws std::runtime_error for another form of URL and for hosts not found.
Target resolve(const std::string& url);

// A file descriptor, owned.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

// A TCP connection, waited for. Throws std::runtime_error.
Descriptor connect_to(const Target& target);

// What came is no HTTP.
class BadHttp : public std::runtime_error {
 public:
  BadHttp() : runtime_error("an answer is no HTTP") {}
};

struct HttpAnswer {
  int status = 0;
  std::string_view body;
  std::size_t size = 0;  // of all of it, in bytes
  bool closes = false;   // the server closes the connection behind it
};

// The answer at the front of `bytes`; nothing while it is incomplete. The body
// is a part of `bytes`, or of `unchunked` if it came in chunks. Throws
// BadHttp.
std::optional<HttpAnswer> scan_answer(std::string_view bytes, std::string& unchunked);

}  // namespace canopy::tools
