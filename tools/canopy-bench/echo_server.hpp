// A bare HTTP server on Boost.Beast which answers each request with its own
// body: the yardstick for servers that do something. On a free port of the
// loopback and threads of its own.
#pragma once

#include <cstdint>
#include <memory>

namespace canopy::tools {

class EchoServer {
 public:
  // Throws boost::system::system_error.
  explicit EchoServer(unsigned threads);
  ~EchoServer();

  std::uint16_t port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace canopy::tools
